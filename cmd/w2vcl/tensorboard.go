package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"
)

type scalar struct {
	tag   string
	value float64
}

// An eventWriter writes scalars to one event file, which TensorBoard reads: a series of TFRecord records, each a protocol
// buffer message Event. Only the few fields that scalars need are encoded.
type eventWriter struct{ w io.Writer }

// newEventWriter writes the first record of an event file and returns the writer of the
// others.
func newEventWriter(w io.Writer, at time.Time) (*eventWriter, error) {
	events := &eventWriter{w}
	// Event.file_version
	return events, events.write(appendBytes(appendTime(nil, at), 3, []byte("brain.Event:2")))
}

// add adds the values of one step of training, as one record.
func (e *eventWriter) add(at time.Time, step int64, scalars []scalar) error {
	var summary []byte
	for _, s := range scalars {
		value := appendBytes(nil, 1, []byte(s.tag)) // Summary.Value.tag
		value = append(value, 2<<3|5)               // Summary.Value.simple_value, 32 bits
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(s.value)))
		summary = appendBytes(summary, 1, value) // Summary.value
	}
	event := appendTime(nil, at)
	event = append(event, 2<<3) // Event.step, a varint
	event = binary.AppendUvarint(event, uint64(step))
	return e.write(appendBytes(event, 5, summary)) // Event.summary
}

// appendTime appends Event.wall_time, a double.
func appendTime(b []byte, at time.Time) []byte {
	b = append(b, 1<<3|1)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(at.UnixNano())/1e9))
}

// appendBytes appends a field of bytes, text or a message.
func appendBytes(b []byte, field byte, value []byte) []byte {
	b = append(b, field<<3|2)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

// write writes a record in its frame: length, checksum of the length, record,
// checksum of the record.
func (e *eventWriter) write(record []byte) error {
	frame := binary.LittleEndian.AppendUint64(nil, uint64(len(record)))
	frame = binary.LittleEndian.AppendUint32(frame, masked(frame))
	frame = append(frame, record...)
	frame = binary.LittleEndian.AppendUint32(frame, masked(record))
	if _, err := e.w.Write(frame); err != nil {
		return fmt.Errorf("cannot write the event file: %w", err)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns TFRecord's checksum: a CRC-32C, rotated and with a constant added,
// because the CRC of data that holds plain CRCs is unreliable.
func masked(data []byte) uint32 {
	crc := crc32.Checksum(data, castagnoli)
	return (crc>>15 | crc<<17) + 0xa282ead8
}
