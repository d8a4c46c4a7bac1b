package parallel

import (
	"io"
	"sync"
)

// Blocks is a stream whose blocks are made by several goroutines, in order.
type Blocks struct {
	queue   chan chan Block
	done    chan struct{}
	stop    sync.Once
	working sync.WaitGroup

	block Block // that is being read
}

// A Block is a part of the stream. An error ends the stream behind it, [io.EOF] too.
type Block struct {
	Data []byte
	Err  error
}

// NewBlocks returns the stream of the blocks that jobs make. next returns one job after
// the other; it is called by one goroutine, up to threads jobs ahead of the reader. It
// ends the blocks with an error, [io.EOF] at the end. The caller closes the stream.
func NewBlocks(threads int, next func() (job func() Block, err error)) *Blocks {
	b := &Blocks{queue: make(chan chan Block, max(threads, 1)), done: make(chan struct{})}
	b.working.Go(func() {
		for {
			job, err := next()
			made := make(chan Block, 1)
			select {
			case <-b.done:
				return
			case b.queue <- made:
			}
			if err != nil {
				made <- Block{Err: err}
				return
			}
			b.working.Go(func() { made <- job() })
		}
	})
	return b
}

// Read implements io.Reader.
func (b *Blocks) Read(p []byte) (int, error) {
	for len(b.block.Data) == 0 {
		if b.block.Err != nil {
			return 0, b.block.Err
		}
		select {
		case <-b.done:
			return 0, io.ErrClosedPipe
		case made := <-b.queue:
			b.block = <-made
		}
	}
	n := copy(p, b.block.Data)
	b.block.Data = b.block.Data[n:]
	return n, nil
}

// Close ends the work, and waits for the call of next and the jobs under way.
func (b *Blocks) Close() error {
	b.stop.Do(func() { close(b.done) })
	b.working.Wait()
	return nil
}
