//go:build gpu

package sentence

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A Part trains on one device, on a part of the text. Other processes train on the others, on this host or on others: what a
// Group does by peer memory, Parts do by messages. Tables are combined between trainings, not beside them.
//
// All Parts make the same calls in the same order, but for Tables and Close. The rows of a table become the same as in a Group,
// for the same kernel combines them: each Part gets the rows of its words from all (all-to-all), combines them, and gives them to all
// (all-gather).
type Part struct {
	*member
	whole     Options // of all Parts
	ranks     int
	exchange  Exchange
	exchanges cu.Function
	words     int // that are exchanged at a time
	send      []cu.DevicePtr
	recv      []cu.DevicePtr
	apart     bool // since the last combination of all rows some were trained
}

// An Exchange moves what is in the memory of devices between all Parts, on the streams of the devices: see nccl.Comm. Buffers have
// a part for each, which are bytes[i] long in buffer i.
type Exchange interface {
	AllToAll(send, recv []cu.DevicePtr, bytes []int64) error
	AllGather(buffers []cu.DevicePtr, bytes []int64) error
	Close() error
	Abort()
}

// exchangeArgs is ExchangeArgs of combine.cu.
type exchangeArgs struct {
	tables, packed                            [2]cu.DevicePtr
	first, words, rows, vocabulary, successor uint32
	width, half, of, back                     uint32
}

// exchangeBytes is the memory of rows that are exchanged at a time: of two tables, to send and to receive.
const exchangeBytes = 256 << 20

// NewPart takes the memory of a device for training part number rank of a text. The tables are zero.
func NewPart(d *cuda.Device, c Options, rank, ranks int) (*Part, error) {
	if err := c.checkParts(ranks); err != nil {
		return nil, err
	}
	shards, err := c.Shards(ranks)
	if err != nil {
		return nil, err
	}
	p := &Part{whole: c, ranks: ranks, words: exchangeBytes / (4 * 4 * padded(c.Dim))}
	p.words = max(min(p.words, c.Vocabulary+ranks-1)/ranks, 1) * ranks // a multiple of ranks
	if p.member, err = newMember(d, shards[rank], rank, ranks, false); err != nil {
		return nil, err
	}
	p.whole.forget()
	p.args.tables[0][rank], p.args.tables[1][rank] = p.Kernels.args.words, p.Kernels.args.contexts
	return p, d.Do(func() (err error) {
		if p.exchanges, err = d.Function("sentence/combine", "exchange_rows"); err != nil {
			return err
		}
		a := &cuda.Allocator{Device: d}
		for _, bytes := range p.bytes(p.words) {
			p.send = append(p.send, a.Bytes("rows to send", ranks*int(bytes)))
			p.recv = append(p.recv, a.Bytes("rows to receive", ranks*int(bytes)))
		}
		return a.Err
	})
}

// bytes returns the length of the parts of W and of C when the rows of so many words are exchanged.
func (p *Part) bytes(words int) []int64 {
	values := (words + p.ranks - 1) / p.ranks * padded(p.whole.Dim)
	return []int64{int64(values * valueBytes(p.whole.HalfWords)), int64(values * valueBytes(p.whole.HalfPrecision))}
}

// Join gives the Part the way to the others: join makes it, on the device's thread. Rows of zeros go first, for NCCL makes
// connections when they are needed, and that takes a part of a second.
func (p *Part) Join(join func() (Exchange, error)) error {
	return p.device.Do(func() (err error) {
		x, err := join()
		if err != nil {
			return err
		}
		p.exchange = x
		if err := x.AllToAll(p.send, p.recv, p.bytes(p.words)); err != nil {
			return err
		}
		if err := x.AllGather(p.recv, p.bytes(p.words)); err != nil {
			return err
		}
		return p.device.Stream().Synchronize()
	})
}

// Train is that of Kernels: of this part of the text.
func (p *Part) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	end := first + len(rates)
	err = p.device.Do(func() error {
		if err := p.begin(first, rates); err != nil {
			return err
		}
		for u := first; u < end; {
			last := u
			for last < end-1 && p.whole.CombinedAfter(last) == 0 {
				last++
			}
			for u <= last {
				if u, err = p.launch(u, last+1); err != nil {
					return err
				}
			}
			words := p.whole.CombinedAfter(last)
			p.apart = words < p.whole.Vocabulary
			if err := p.combine(words); err != nil {
				return err
			}
		}
		losses, pairs, err = p.end(len(rates))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s on %s, part %d of the text: %w", p.whole.Mode, p.device.Name, p.args.rank, err)
	}
	return losses, pairs, nil
}

// combine combines the rows of so many words of all Parts, some at a time.
func (p *Part) combine(words int) error {
	for first := 0; first < words; first += p.words {
		if err := p.combineSome(first, min(p.words, words-first)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Part) combineSome(first, words int) error {
	bytes, rows := p.bytes(words), (words+p.ranks-1)/p.ranks
	x := exchangeArgs{
		tables: [2]cu.DevicePtr{p.Kernels.args.words, p.Kernels.args.contexts}, packed: [2]cu.DevicePtr(p.send),
		first: uint32(first), words: uint32(words), rows: uint32(rows), vocabulary: p.args.vocabulary, successor: p.args.successor,
		width: p.args.width, half: p.args.half, of: uint32(p.ranks),
	}
	if err := cuda.Launch(p.device, p.exchanges, p.wide(), &x); err != nil {
		return err
	}
	if err := p.exchange.AllToAll(p.send, p.recv, bytes); err != nil {
		return err
	}
	args := p.args
	args.packed = 1
	for table := range args.tables {
		if args.bases[table] != 0 {
			args.bases[table] += cu.DevicePtr(cuda.Bytes[float32](first / p.ranks * padded(p.whole.Dim)))
		}
		for r := range p.ranks {
			args.tables[table][r] = p.recv[table] + cu.DevicePtr(int64(r)*bytes[table])
		}
	}
	if err := p.startCombining(args, words); err != nil {
		return err
	}
	if err := p.exchange.AllGather(p.recv, bytes); err != nil {
		return err
	}
	x.packed, x.back = [2]cu.DevicePtr(p.recv), 1
	return cuda.Launch(p.device, p.exchanges, p.wide(), &x)
}

// SetTables is that of Kernels: all Parts get the same tables.
func (p *Part) SetTables(words, contexts []float32) error {
	if err := p.Kernels.SetTables(words, contexts); err != nil {
		return err
	}
	p.apart = false
	return p.device.Do(p.takeBases)
}

// Settle combines what is not combined yet. All Parts then have the same tables.
func (p *Part) Settle() error {
	if !p.apart {
		return nil
	}
	p.apart = false
	return p.device.Do(func() error {
		if err := p.combine(p.whole.Vocabulary); err != nil {
			return err
		}
		return p.device.Stream().Synchronize()
	})
}

// Abort ends what waits for other Parts, from any goroutine. No call works after it but Close.
func (p *Part) Abort() {
	if p.exchange != nil {
		p.exchange.Abort()
	}
}

// Close frees what closing the device does not free.
func (p *Part) Close() (err error) {
	if p.exchange != nil {
		err = p.device.Do(p.exchange.Close)
	}
	if closing := p.member.Close(); err == nil {
		err = closing
	}
	return err
}
