// Package tensorboard writes scalars as the event files that TensorBoard reads:
// records in TFRecord's framing, each a protocol buffer message Event. The few
// fields that scalars need are encoded here by hand. Start at [NewWriter].
package tensorboard

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"
)

// A Scalar is a named value.
type Scalar struct {
	Tag   string
	Value float64
}

// A Writer writes one event file.
type Writer struct{ w io.Writer }

// NewWriter writes the beginning of an event file.
func NewWriter(w io.Writer, at time.Time) (*Writer, error) {
	events := &Writer{w}
	// Event.file_version
	return events, events.write(appendBytes(appendTime(nil, at), 3, []byte("brain.Event:2")))
}

// Write adds the values at one step of training.
func (e *Writer) Write(at time.Time, step int64, scalars []Scalar) error {
	var summary []byte
	for _, s := range scalars {
		value := appendBytes(nil, 1, []byte(s.Tag)) // Summary.Value.tag
		value = append(value, 2<<3|5)               // Summary.Value.simple_value, 32 bits
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(s.Value)))
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

// write frames a record: its length, a checksum of that, the record and its
// checksum.
func (e *Writer) write(record []byte) error {
	frame := binary.LittleEndian.AppendUint64(nil, uint64(len(record)))
	frame = binary.LittleEndian.AppendUint32(frame, masked(frame))
	frame = append(frame, record...)
	frame = binary.LittleEndian.AppendUint32(frame, masked(record))
	if _, err := e.w.Write(frame); err != nil {
		return fmt.Errorf("cannot write events: %w", err)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is TFRecord's checksum: a rotated and shifted CRC-32C, so that a
// checksum of data that holds checksums is sound.
func masked(data []byte) uint32 {
	crc := crc32.Checksum(data, castagnoli)
	return (crc>>15 | crc<<17) + 0xa282ead8
}
