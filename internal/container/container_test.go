package container

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"
)

type toy struct {
	Magic    [8]byte
	Version  uint32
	_        uint32
	FileSize uint64
	Body     uint32
	Checksum uint32
}

var toys = Format{
	Magic: [8]byte{0x89, 't', 'o', 'y', 0, 0, 0, '\n'}, Version: 3, Header: 32,
	ErrOther: errors.New("other"), ErrVersion: errors.New("version"), ErrTruncated: errors.New("truncated"), ErrCorrupt: errors.New("corrupt"),
}

func fileOf(t *testing.T, body []byte) []byte {
	t.Helper()
	file := Encode(&toy{Magic: toys.Magic, Version: toys.Version, FileSize: toys.Size(uint64(len(body))), Body: uint32(len(body))})
	tail, err := Tail(bytes.NewReader(slices.Concat(file, body)), len(file), len(body), 2)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(file, body, tail)
}

func read(file []byte) (toy, error) {
	var h toy
	if err := toys.Decode(file, uint64(len(file)), &h, &h.FileSize); err != nil {
		return h, err
	}
	if toys.Size(uint64(h.Body)) != uint64(len(file)) {
		return h, toys.ErrCorrupt
	}
	content := make([]byte, h.Body)
	err := toys.Check(bytes.NewReader(file), uint64(h.Body), 2, func(first int, part []byte) error {
		if uintptr(unsafe.Pointer(&part[0]))%8 != 0 || first%3 != 0 || first%8 != 0 {
			return errors.New("a piece is not aligned")
		}
		copy(content[first:], part)
		return nil
	})
	if err == nil && !bytes.Equal(content, file[toys.Header:][:h.Body]) {
		err = errors.New("the pieces are not the body")
	}
	return h, err
}

// A file of any size is read; with a changed byte, or another length, it is refused.
func TestFormat(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, size := range []int{0, 1, Checked - 1, Checked, Checked + 1, together, together + Checked + 5} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		file := fileOf(t, body)
		sum := new(Sum)
		for rest := body; len(rest) > 0; {
			n := min(1+r.IntN(Checked), len(rest))
			_, _ = sum.Write(rest[:n])
			rest = rest[n:]
		}
		if !bytes.HasSuffix(file, sum.Tail()) || len(sum.Tail()) != len(file)-toys.Header-size {
			t.Errorf("seed %d, %d bytes: the checksums of a writer differ", seed, size)
		}
		path := filepath.Join(t.TempDir(), "toy")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		data, content, unmap, err := toys.Map(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := toys.Check(content, uint64(size), 3, nil); err != nil {
			t.Errorf("seed %d, %d bytes: %v", seed, size, err)
		}
		if err := content.Close(); err != nil {
			t.Error(err)
		}
		if h, err := read(data); err != nil || int(h.Body) != size || !toys.Is(data) {
			t.Errorf("seed %d, %d bytes: %v", seed, size, err)
		}
		if err := unmap(); err != nil {
			t.Error(err)
		}
		for range 40 {
			at, length := r.IntN(len(file)), r.IntN(len(file))
			damaged := slices.Clone(file)
			damaged[at] ^= 1 << r.IntN(8)
			if _, err := read(damaged); err == nil {
				t.Errorf("seed %d, %d bytes: byte %d is damaged, and the file is read", seed, size, at)
			}
			if _, err := read(file[:length]); !errors.Is(err, toys.ErrTruncated) && !errors.Is(err, toys.ErrOther) {
				t.Errorf("seed %d: the first %d of %d bytes: %v", seed, length, len(file), err)
			}
			toys.Reseal(damaged, func() uint64 { return uint64(size) })
			if _, err := read(damaged); at >= toys.Header && err != nil {
				t.Errorf("seed %d, %d bytes: byte %d is changed, with new checksums: %v", seed, size, at, err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{folder: toys.ErrOther, empty: toys.ErrOther, filepath.Join(folder, "none"): os.ErrNotExist} {
		if _, _, _, err := toys.Map(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	for version, want := range map[uint32]error{1: toys.ErrVersion, 2: toys.ErrVersion, 3: nil, 4: toys.ErrVersion} {
		file := fileOf(t, []byte("body"))
		copy(file, Encode(&toy{Magic: toys.Magic, Version: version, FileSize: uint64(len(file)), Body: 4}))
		if _, err := read(file); !errors.Is(err, want) {
			t.Errorf("version %d: %v, want %v", version, err, want)
		}
	}
	if _, err := read([]byte("some text")); !errors.Is(err, toys.ErrOther) {
		t.Errorf("a text: %v", err)
	}
}

// What is wrong with the body counts only where the checksums are right, and a file that
// became shorter is refused.
func TestCheckErrors(t *testing.T) {
	body := make([]byte, together+5*piece)
	file := fileOf(t, body)
	odd := errors.New("an odd piece")
	check := func(file []byte) error {
		return toys.Check(bytes.NewReader(file), uint64(len(body)), 2, func(first int, _ []byte) error {
			if first >= together {
				return odd
			}
			return nil
		})
	}
	if err := check(file); !errors.Is(err, odd) {
		t.Error(err)
	}
	file[len(file)-100-4*7] ^= 1
	if err := check(file); !errors.Is(err, toys.ErrCorrupt) {
		t.Error(err)
	}
	if err := check(file[:len(file)-1]); !errors.Is(err, toys.ErrTruncated) {
		t.Error(err)
	}
}
