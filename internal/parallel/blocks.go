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

// A Block is a part of the stream: Data, then what Rest reads. Jobs leave Rest nil unless there is
// too much to make of it at once. An error ends the stream behind them, [io.EOF] too.
type Block struct {
	Data []byte
	Rest io.Reader
	Err  error
}

// NewBlocks returns the stream of the blocks that jobs make. next returns one job after
// the other; it is called by one goroutine, up to threads jobs ahead of the reader. It
// ends the blocks with a reader of what follows them, or with an error, [io.EOF] at the
// end. The caller closes the stream. Each Rest that is an [io.Closer] is closed.
func NewBlocks(threads int, next func() (job func() Block, rest io.Reader, err error)) *Blocks {
	b := &Blocks{queue: make(chan chan Block, max(threads, 1)), done: make(chan struct{})}
	b.working.Go(func() {
		for {
			job, rest, err := next()
			made := make(chan Block, 1)
			select {
			case <-b.done:
				closeRest(rest)
				return
			case b.queue <- made:
			}
			if job == nil {
				if err == nil {
					err = io.EOF // behind the rest
				}
				made <- Block{Rest: rest, Err: err}
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
		switch {
		case b.block.Rest != nil:
			n, err := b.block.Rest.Read(p)
			if err != io.EOF {
				return n, err
			}
			closeRest(b.block.Rest)
			if b.block.Rest = nil; n > 0 {
				return n, nil
			}
		case b.block.Err != nil:
			return 0, b.block.Err
		default:
			select {
			case <-b.done:
				return 0, io.ErrClosedPipe
			case made := <-b.queue:
				b.block = <-made
			}
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
	for {
		select {
		case made := <-b.queue: // nobody has read it
			closeRest((<-made).Rest)
		default:
			closeRest(b.block.Rest)
			b.block.Rest = nil
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
