package parallel

import (
	"io"
	"sync"
)

// Blocks is a stream whose blocks are made by several goroutines, in order.
type Blocks struct {
	queue   chan chan block
	done    chan struct{}
	stop    sync.Once
	working sync.WaitGroup

	data []byte    // of the block that is being read
	rest io.Reader // what follows the blocks; nil: not yet
	err  error
}

// A block is the result of a job: the last one has an error, or a reader of the rest.
type block struct {
	data []byte
	rest io.Reader
	err  error
}

// NewBlocks returns the stream of the blocks that jobs make. next returns one job after
// the other; it is called by one goroutine, up to threads jobs ahead of the reader. It
// ends the blocks with a reader of what follows them, or with an error, [io.EOF] at the
// end. The caller closes the stream.
func NewBlocks(threads int, next func() (job func() ([]byte, error), rest io.Reader, err error)) *Blocks {
	b := &Blocks{queue: make(chan chan block, max(threads, 1)), done: make(chan struct{})}
	b.working.Go(func() {
		for {
			job, rest, err := next()
			made := make(chan block, 1)
			select {
			case <-b.done:
				closeRest(rest)
				return
			case b.queue <- made:
			}
			if job == nil {
				made <- block{nil, rest, err}
				return
			}
			b.working.Go(func() {
				data, err := job()
				made <- block{data: data, err: err}
			})
		}
	})
	return b
}

// Read implements io.Reader.
func (b *Blocks) Read(p []byte) (int, error) {
	for len(b.data) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		if b.rest != nil {
			return b.rest.Read(p)
		}
		select {
		case <-b.done:
			return 0, io.ErrClosedPipe
		case made := <-b.queue:
			block := <-made
			b.data, b.rest, b.err = block.data, block.rest, block.err
		}
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

// Close ends the work, and waits for the call of next and the jobs under way.
func (b *Blocks) Close() error {
	b.stop.Do(func() { close(b.done) })
	b.working.Wait()
	for {
		select {
		case made := <-b.queue: // nobody has read it
			closeRest((<-made).rest)
		default:
			closeRest(b.rest)
			b.rest = nil
			return nil
		}
	}
}

// closeRest closes what follows the blocks, if it can be. Nothing was written, so its
// error does not matter.
func closeRest(rest io.Reader) {
	if closer, ok := rest.(io.Closer); ok {
		_ = closer.Close()
	}
}
