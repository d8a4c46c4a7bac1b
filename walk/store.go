package walk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A store gives memory for edges: that of the process or, where this is short, temporary files that are mapped. Any number of
// goroutines may use it.
type store struct {
	folder string // of the files; "": there are none
	always bool   // use files though there is memory

	lock   sync.Mutex
	most   int64 // bytes of memory that it takes: half of those that were left at first
	taken  int64
	files  []*atomicfile.Scratch
	mapped [][]byte    // the files
	rest   []byte      // of the last one
	dones  []func()    // of memory that was promised
	any    atomic.Bool // whether there are files
}

// fileBytes is the most that a file has for requests to come. Before, a file has as much as was taken: writing zeros for a small
// graph would take longer than reading it.
const fileBytes = 64 << 20

// take returns so many bytes, for numbers of up to 8 bytes, all 0.
func (s *store) take(size int64) ([]byte, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.taken == 0 {
		s.most = memory.Left() / 2
	}
	if s.taken += size; s.folder == "" || s.taken <= s.most && !s.always {
		done, err := memory.Room(size)
		if err != nil {
			return nil, err
		}
		s.dones = append(s.dones, done)
		return memory.BytesOf(make([]uint64, (size+7)/8))[:size], nil
	}
	size = (size + 7) &^ 7
	if size > int64(len(s.rest)) {
		if err := s.grow(max(size, min(s.taken, fileBytes))); err != nil {
			return nil, err
		}
	}
	piece := s.rest[:size]
	s.rest = s.rest[size:]
	return piece, nil
}

// grow makes another file.
func (s *store) grow(size int64) error {
	if free, known := machine.FreeSpace(s.folder); known && size > free {
		return fmt.Errorf("%w: the edges take %s more than memory allows, and %s has %s free", memory.ErrRoom, terminal.Bytes(size), s.folder, terminal.Bytes(free))
	}
	f, err := atomicfile.NewScratch(s.folder)
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	if s.rest, err = f.Memory(size); errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w for the edges", memory.ErrRoom)
	}
	s.mapped = append(s.mapped, s.rest)
	s.any.Store(true)
	return err
}

// inFiles reports whether some of the memory is in files.
func (s *store) inFiles() bool { return s != nil && s.any.Load() }

// giveBack gives the memory of the files back to the system. They read as before.
func (s *store) giveBack() {
	if !s.inFiles() {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, data := range s.mapped {
		memory.Release(data)
	}
}

// settle says that all memory has been written to.
func (s *store) settle() {
	for _, done := range s.dones {
		done()
	}
	s.dones = nil
}

// close ends the use of all memory.
func (s *store) close() (err error) {
	if s == nil {
		return nil
	}
	s.settle()
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	s.files, s.mapped, s.rest = nil, nil, nil
	return err
}

// allocate returns count numbers of a store, all 0.
func allocate[T uint32 | uint64 | float32](s *store, count int) ([]T, error) {
	var x T
	data, err := s.take(int64(count) * int64(unsafe.Sizeof(x)))
	if err != nil || count == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), count), nil
}

// eachNode calls visit for the nodes 0 ... nodes-1, each on some goroutine, the worker, and gives the memory of the files of s back
// now and then. Of several errors it returns the first.
func eachNode(ctx context.Context, threads, nodes int, s *store, visit func(worker int, node uint32) error) error {
	const blockNodes = 1 << 10
	return parallel.Try(ctx, threads, (nodes+blockNodes-1)/blockNodes, func(worker, k int) error {
		for i := k * blockNodes; i < min((k+1)*blockNodes, nodes); i++ {
			if err := visit(worker, uint32(i)); err != nil {
				return err
			}
			if i%8 == 7 {
				s.giveBack()
			}
		}
		return nil
	})
}
