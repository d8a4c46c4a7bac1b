package wordcontext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/container"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/testfiles"
)

var fileOptions = Options{Window: 2, Contexts: 50, Passes: 2, Sample: 0.05, DynamicWindow: true, Seed: 99}

var temperedOptions = Options{Window: 2, Contexts: 20, Passes: 2, Tempering: 0.75, Positives: 1.5, MaxPositives: 4, InOrder: true, Seed: 98}

// fileOf returns the bytes that Save writes.
func fileOf(t testing.TB, m *Matrix) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.matrix")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// openBytes opens a file of the given content.
func openBytes(t testing.TB, data []byte) (*Matrix, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.matrix")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil && !strings.Contains(err.Error(), path) {
		t.Errorf("the error does not name the file: %v", err)
	}
	return m, err
}

func TestSaveAndOpen(t *testing.T) {
	for name, m := range map[string]*Matrix{
		"text":           build(t, testCorpus(21, 80, 3000, 30), fileOptions),
		"one word":       build(t, sentencesCorpus(1, []uint32{0, 0}), fileOptions),
		"no context":     build(t, sentencesCorpus(1, []uint32{0}), fileOptions),
		"odd length":     build(t, sentencesCorpus(3, []uint32{0, 1}, []uint32{2}), Options{Window: 1, Contexts: 1, Passes: 1}),
		"wide ids":       build(t, testCorpus(22, 1<<16+1, 1<<17, 30), Options{Window: 2, Contexts: 9, Passes: 1}),
		"largest narrow": build(t, testCorpus(23, 1<<16, 1<<17, 30), Options{Window: 2, Contexts: 9, Passes: 1}),
		"tempered":       build(t, testCorpus(31, 81, 3000, 30), temperedOptions),
		"tempered, wide": build(t, testCorpus(22, 1<<16+1, 1<<17, 30), temperedOptions),
	} {
		t.Run(name, func(t *testing.T) {
			data := fileOf(t, m)
			got, err := openBytes(t, data)
			if err != nil {
				t.Fatal(err)
			}
			if got.Options().Progress != nil || fmt.Sprint(got.Options()) != fmt.Sprint(m.Options()) ||
				got.Fingerprint() != m.Fingerprint() || got.Rows() != m.Rows() || got.Stored() != m.Stored() {
				t.Errorf("got %+v, want %+v", got.Options(), m.Options())
			}
			if !slices.Equal(got.ContextCounts(), m.ContextCounts()) {
				t.Error("other counts or sums")
			}
			if !slices.Equal(got.Slots(), m.Slots()) || !slices.Equal(got.phases, m.phases) {
				t.Error("other slots or phases")
			}
			for i := range m.Rows() {
				if got.totals[i] != m.totals[i] || got.RowLength(i) != m.RowLength(i) || !slices.Equal(got.Row(i), m.Row(i)) {
					t.Fatalf("row %d differs", i)
				}
			}
			if !bytes.Equal(fileOf(t, got), data) {
				t.Error("saved again, the file is another")
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
			if err := got.Close(); err != nil {
				t.Error("second Close:", err)
			}
		})
	}
}

// Damaged bytes are also found in a file with several checksums, at their bounds.
func TestOpenFindsFlippedBytesInLargeFile(t *testing.T) {
	data := fileOf(t, build(t, testCorpus(25, 2000, 400000, 100), Options{Window: 2, Contexts: 5000, Passes: 1}))
	body := len(data) - headerSize
	if body < 2*container.Checked+container.Checked/2 {
		t.Fatalf("%d bytes are too few for this test", len(data))
	}
	for _, at := range []int{headerSize, headerSize + 8*2000, headerSize + 16*2000, headerSize + container.Checked - 1,
		headerSize + container.Checked, headerSize + 2*container.Checked, len(data) - 20, len(data) - 5, len(data) - 4, len(data) - 1} {
		damaged := slices.Clone(data)
		damaged[at] ^= 0x10
		if _, err := openBytes(t, damaged); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	damaged := slices.Clone(data)
	damaged[headerSize+container.Checked] ^= 1
	if _, err := openBytes(t, damaged); err == nil || !strings.Contains(err.Error(), "bytes 1048704 to 2097279") {
		t.Errorf("the error does not say where: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	data := fileOf(t, build(t, testCorpus(27, 12, 200, 10), fileOptions))
	tempered := fileOf(t, build(t, testCorpus(27, 12, 200, 10), temperedOptions))
	const lengths = headerSize + 16*12 // where they are
	// change returns the file with another header, whose checksum is right.
	change := func(change func(h *header)) []byte {
		h, err := decodeHeader(data[:headerSize], uint64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		change(h)
		return append(container.Encode(h), data[headerSize:]...)
	}
	for _, tc := range []struct {
		name string
		file []byte
		is   error
		want string
	}{
		{"text", []byte("the quick brown fox\n"), ErrNotMatrix, `it starts with "the quic"; name a file that`},
		{"vectors", []byte("18116 100\nthe 0.1"), ErrNotMatrix, "not a matrix file"},
		{"empty", nil, ErrNotMatrix, "it is empty"},
		{"version", change(func(h *header) { h.Version = 4 }), ErrVersion, "version 4, and this w2vcl reads version 1; build the matrix again"},
		{"no groups", change(func(h *header) { h.GroupContexts = 0 }), ErrCorrupt, "contradicts itself"},
		{"large groups", change(func(h *header) { h.GroupContexts = 1 << 30 }), ErrCorrupt, "contradicts itself"},
		{"rows 0", change(func(h *header) { h.Rows = 0 }), ErrCorrupt, "contradicts itself"},
		{"rows", change(func(h *header) { h.Rows++ }), ErrCorrupt, "contradicts itself"},
		{"rows huge", change(func(h *header) { h.Rows = 1 << 62 }), ErrCorrupt, "contradicts itself"},
		{"stored huge", change(func(h *header) { h.Stored = 1 << 63 }), ErrCorrupt, "contradicts itself"},
		{"width", change(func(h *header) { h.Width = 4 }), ErrCorrupt, "contradicts itself"},
		{"order", change(func(h *header) { h.InOrder = 2 }), ErrCorrupt, "contradicts itself"},
		{"window", change(func(h *header) { h.Window = 0 }), ErrCorrupt, "window is 0"},
		{"contexts", change(func(h *header) { h.Contexts = 1 << 40 }), ErrCorrupt, "contexts"},
		{"other l", change(func(h *header) { h.Contexts-- }), ErrCorrupt, "row 0 cannot have 50 entries"},
		{"size", change(func(h *header) { h.FileSize++ }), ErrTruncated, "not"},
		{"tempering", change(func(h *header) { h.Tempering = math.NaN() }), ErrCorrupt, "tempering is NaN"},
		{"positives", change(func(h *header) { h.Positives = -1 }), ErrCorrupt, "positives is -1"},
		{"maximum of positives", change(func(h *header) { h.MaxPositives = 1 << 63 }), ErrCorrupt, "the maximum of positives"},
		{"foreign word", fileWithContext(t, data, 12), ErrCorrupt, "word id 12, but it has 12 words"},
		{"length", fileWith(t, data, lengths, 51), ErrCorrupt, "row 0 cannot have 51 entries"},
		{"shorter length", fileWith(t, tempered, lengths, 1), ErrCorrupt, "do not add up"},
		{"no length", fileWith(t, tempered, lengths, 0), ErrCorrupt, "row 0 cannot have 0 entries"},
		{"huge length", fileWith(t, tempered, lengths, maxContexts+1), ErrCorrupt, "row 0 cannot have 1073741825 entries"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := openBytes(t, tc.file)
			if m != nil || !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if m, err := openBytes(t, fileWithContext(t, data, 11)); err != nil || m.Row(0)[0] != 11 {
		t.Errorf("a changed context with right checksums: %v", err)
	}
}

// fileWithContext returns the file, of one checksum, with another first context
// and the right checksums.
func fileWithContext(t *testing.T, data []byte, context uint16) []byte {
	t.Helper()
	h, err := decodeHeader(data[:headerSize], uint64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	at := headerSize + 20*int(h.Rows)
	second := binary.LittleEndian.Uint16(data[at+2:])
	return fileWith(t, data, at, uint32(second)<<16|uint32(context))
}

// fileWith returns the file, of one checksum, with another number at a place and the
// right checksums.
func fileWith(t *testing.T, data []byte, at int, number uint32) []byte {
	t.Helper()
	h, err := decodeHeader(data[:headerSize], uint64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	file := slices.Clone(data)
	binary.LittleEndian.PutUint32(file[at:], number)
	format.Reseal(file, h.bodySize)
	return file
}

func TestOpenWithoutFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	m := build(t, testCorpus(28, 12, 200, 10), fileOptions)
	if err := m.Save(filepath.Join(dir, "none", "m")); err == nil {
		t.Error("saved to a folder that is not there")
	}
}

// An open matrix is not disturbed by a Save to its file.
func TestSaveOverOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	m := build(t, testCorpus(29, 12, 200, 10), fileOptions)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := build(t, testCorpus(30, 12, 300, 10), fileOptions).Save(path); err != nil {
		t.Fatal(err)
	}
	for i := range m.Rows() {
		if !slices.Equal(opened.Row(i), m.Row(i)) {
			t.Errorf("row %d changed", i)
		}
	}
}

// TestOpenDamaged: a file with flipped bits is refused.
func TestOpenDamaged(t *testing.T) {
	testfiles.Copies(t, fileOf(t, build(t, testCorpus(24, 12, 200, 10), temperedOptions)), func(file []byte) ([]byte, error) {
		aligned := memory.BytesOf(make([]uint64, len(file)/8+1))[:len(file)]
		copy(aligned, file)
		m, err := (&decoder{bytes.NewReader(aligned)}).decode(aligned)
		if err != nil {
			return nil, err
		}
		return fileOf(t, m), nil
	})
}

// repairChecksums writes the size and all checksums that the content of a file should
// have: random bytes never have the right ones.
func repairChecksums(file []byte) {
	if len(file) < headerSize {
		return
	}
	binary.LittleEndian.PutUint64(file[8+4+4+9*8:], uint64(len(file))) // FileSize
	format.Reseal(file, func() uint64 {
		h := new(header)
		_ = binary.Read(bytes.NewReader(file[:headerSize]), binary.LittleEndian, h)
		return h.bodySize()
	})
}

// FuzzDecode: no content makes decode panic, and every matrix that it returns can
// be read.
func FuzzDecode(f *testing.F) {
	data := fileOf(f, build(f, testCorpus(31, 5, 60, 10), fileOptions))
	f.Add(data)
	f.Add(fileOf(f, build(f, testCorpus(31, 5, 60, 10), temperedOptions)))
	var groups bytes.Buffer
	if err := build(f, testCorpus(31, 5, 60, 10), fileOptions).write(&groups, 40); err != nil {
		f.Fatal(err)
	}
	f.Add(groups.Bytes())
	f.Add(data[:headerSize])
	f.Add(data[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		aligned := memory.BytesOf(make([]uint64, len(data)/8+1))[:len(data)]
		copy(aligned, data)
		repairChecksums(aligned)
		m, err := (&decoder{bytes.NewReader(aligned)}).decode(aligned)
		if err != nil {
			return
		}
		for i := range m.Rows() {
			m.Row(i)
			if l := m.RowLength(i); l > 0 {
				m.At(i, l-1)
			}
		}
		if samples := m.Slots()[m.Rows()]; samples < 1<<20 {
			m.Samples(1, 5, 1, 0, m.Rows(), make([]uint32, samples))
		}
	})
}
