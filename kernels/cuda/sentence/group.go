//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A Group trains on several devices, each on a part of the text, and combines their tables: see sync.go and combine.cu.
//
// Most combinations happen while the devices train: a few thread blocks of each go through the tables for that. Only what is
// to be combined at the end of a call of Train waits for the devices. In half precision, and where a device has not all of
// its text in memory, all combinations wait.
type Group struct {
	options Options
	members []*member
	apart   bool // since the last combination of all rows some were trained
}

// A member is a device of a Group.
type member struct {
	*Kernels
	begins, combines cu.Function
	args             combineArgs
	passes           room      // (combinations of a stretch + 1) of {sentences, words}
	beside           cu.Stream // of combinations while the device trains
	aside            int       // thread blocks of these
	resident         int       // thread blocks that combine at a time otherwise
	shared           int       // bytes of a thread block
	ready            cu.Event  // the counter of sentences is 0
	trained          cu.Event  // units, and the combinations beside them
	combined         cu.Event  // a part of the rows
}

// combineArgs is CombineArgs of combine.cu.
type combineArgs struct {
	tables                                  [2][MaxDevices]cu.DevicePtr
	bases                                   [2]cu.DevicePtr
	next, passes                            cu.DevicePtr
	count, rank, vocabulary, successor      uint32
	width, rule, half, devices, packed, all uint32
}

// blocksAside are the thread blocks of a device that combine while it trains. Each has one warp and takes the place of a sentence: two
// warps would need registers in two parts of a multiprocessor, and wait until training ends.
const blocksAside = 48

const combineThreads = 32 // of a thread block that combines

// NewGroup takes the memory of 2, 4 or 8 devices for training. The tables are zero. The devices must be connected: cuda.Connect.
func NewGroup(devices []*cuda.Device, c Options) (*Group, error) {
	if err := c.checkParts(len(devices)); err != nil {
		return nil, err
	}
	shards, err := c.Shards(len(devices))
	if err != nil {
		return nil, err
	}
	g := &Group{options: c, members: make([]*member, len(devices))}
	err = g.each(func(i int) (err error) {
		g.members[i], err = newMember(devices[i], shards[i], i, len(devices), true)
		return err
	})
	g.options.forget()
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	for _, m := range g.members {
		for i, other := range g.members {
			m.args.tables[0][i], m.args.tables[1][i] = other.Kernels.args.words, other.Kernels.args.contexts
		}
	}
	return g, nil
}

// checkParts refuses what the kernels that combine tables are not made for.
func (c *Options) checkParts(devices int) error {
	switch {
	case !slices.Contains([]int{2, 4, MaxDevices}, devices):
		return fmt.Errorf("%d devices; there may be 2, 4 or %d", devices, MaxDevices)
	case c.Sync.Words < 1:
		return fmt.Errorf("tables are to be combined after %d words", c.Sync.Words)
	}
	return nil
}

// newMember prepares a device to train a part of the text and, if beside, to combine rows meanwhile.
func newMember(d *cuda.Device, c Options, rank, devices int, beside bool) (*member, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	kernel, err := c.kernel()
	if err != nil {
		return nil, err
	}
	c.inRows = true
	m := &member{}
	err = d.Do(func() error { return m.prepare(d, &c, kernel, devices, beside) })
	if err != nil {
		return nil, fmt.Errorf("prepare %s on %s: %w", c.Mode, d.Name, err)
	}
	if m.Kernels, err = newKernels(d, c, kernel); err != nil {
		return nil, err
	}
	m.args = combineArgs{
		count: 1, rank: uint32(rank), vocabulary: uint32(c.Vocabulary), successor: m.numbers.successor, width: uint32(padded(c.Dim)),
		rule: uint32(c.Sync.Number), devices: uint32(devices),
	}
	for table, half := range []bool{c.HalfWords, c.HalfPrecision} {
		if half {
			m.args.half |= 1 << table
		}
	}
	return m, d.Do(func() (err error) {
		a := &cuda.Allocator{Device: d}
		if c.Sync.HasBases() {
			own := padded(c.Dim) * ((c.Vocabulary + devices - 1) / devices)
			m.args.bases = [2]cu.DevicePtr{a.Floats("rows as they were combined last", own), a.Floats("rows as they were combined last", own)}
		}
		return a.Err
	})
}

// prepare loads what combines rows, and leaves room beside those that train.
func (m *member) prepare(d *cuda.Device, c *Options, k kernel, devices int, beside bool) (err error) {
	if m.combines, err = d.Function("sentence/combine", fmt.Sprintf("combine_%d", devices)); err != nil {
		return err
	}
	if m.begins, err = d.Function("sentence/combine", "combine_begin"); err != nil {
		return err
	}
	m.shared = (devices + 1) * chunks(c.Dim) * 4 * chunkValues
	if err := cuda.AllowShared(m.combines, m.shared); err != nil {
		return err
	}
	resident, err := m.combines.MaxActiveBlocksPerMultiProcessor(combineThreads, int64(m.shared))
	if err != nil {
		return err
	}
	m.resident = max(resident, 1) * d.Multiprocessors
	trains, err := d.Function("sentence/"+k.source, k.name)
	if err != nil {
		return err
	}
	if err := cuda.AllowShared(trains, k.shared); err != nil {
		return err
	}
	if resident, err = trains.MaxActiveBlocksPerMultiProcessor(k.threads, int64(k.shared)); err != nil {
		return err
	}
	times := 1
	if beside && !c.HalfPrecision && c.TextTokens == 0 {
		m.aside = blocksAside
		if devices == 2 { // tables soon get what the other device learns, so twice as many are sound; measured on two only
			times = 2
		}
	}
	c.chooseInFlight(k, d.Multiprocessors, times)
	if m.aside > 0 {
		c.InFlight = max(1, min(c.InFlight, resident*d.Multiprocessors-m.aside))
	}
	if m.beside, err = cu.MakeStreamWithPriority(-1, cu.NonBlocking); err != nil {
		return err
	}
	for _, e := range []*cu.Event{&m.ready, &m.trained, &m.combined} {
		if *e, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for all members at the same time.
func (g *Group) each(f func(i int) error) error {
	return errors.Join(cuda.Together(len(g.members), f)...)
}

// on calls f for all members, each on the thread of its device.
func (g *Group) on(f func(m *member) error) error {
	return g.each(func(i int) error {
		m := g.members[i]
		if err := m.device.Do(func() error { return f(m) }); err != nil {
			return fmt.Errorf("%s on %s, part %d of the text: %w", m.options.Mode, m.device.Name, i, err)
		}
		return nil
	})
}

// Train is that of Kernels. Losses and pairs are the sums over the devices.
func (g *Group) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	end := first + len(rates)
	if err := g.on(func(m *member) error { return m.begin(first, rates) }); err != nil {
		return nil, nil, err
	}
	for u := first; u < end; {
		if u, err = g.stretch(u, end); err != nil {
			return nil, nil, err
		}
		words := g.options.CombinedAfter(u - 1)
		g.apart = words < g.options.Vocabulary
		if err := g.combine(words); err != nil {
			return nil, nil, err
		}
	}
	losses, pairs = make([]float64, len(rates)), make([]float64, len(rates))
	var adding sync.Mutex
	err = g.on(func(m *member) error {
		l, p, err := m.end(len(rates))
		adding.Lock()
		defer adding.Unlock()
		for i := range l {
			losses[i], pairs[i] = losses[i]+l[i], pairs[i]+p[i]
		}
		return err
	})
	return losses, pairs, err
}

// stretch starts to train units from one on, up to end if tables are combined meanwhile, or else up to their next
// combination. It returns the first unit that is left.
func (g *Group) stretch(first, end int) (int, error) {
	beside := g.members[0].aside > 0
	if !beside {
		last := first
		for last < end-1 && g.options.CombinedAfter(last) == 0 {
			last++
		}
		end = last + 1
	}
	return end, g.on(func(m *member) (err error) {
		passes := m.passesOf(&g.options, first, end)
		if beside {
			if err := m.announce(passes); err != nil {
				return err
			}
		}
		for u := first; u < end; {
			if u, err = m.launch(u, end); err != nil {
				return err
			}
		}
		if beside && len(passes) > 0 {
			args := m.args
			if g.options.CombinedAfter(end-1) == g.options.Vocabulary {
				args.all = uint32(m.sentence(end) - m.sentence(first))
			}
			if err := m.combineBeside(args, len(passes)); err != nil {
				return err
			}
		}
		return m.trained.Record(m.device.Stream())
	})
}

// passesOf returns the combinations of units first ... end-1 but the last: after so many sentences of this
// device, of so many words.
func (m *member) passesOf(c *Options, first, end int) (passes [][2]uint32) {
	for u := first; u < end-1; u++ {
		if words := c.CombinedAfter(u); words > 0 {
			passes = append(passes, [2]uint32{uint32(m.sentence(u+1) - m.sentence(first)), uint32(words)})
		}
	}
	return passes
}

// announce hands the device the combinations of a stretch, before it. Behind them is room for one that follows the stretch.
func (m *member) announce(passes [][2]uint32) error {
	if err := m.passes.reach(m.device, "combinations", 8*(len(passes)+1)); err != nil {
		return err
	}
	if err := cuda.Send(m.passes.memory, passes); err != nil {
		return err
	}
	if err := cu.MemsetD32Async(m.Kernels.args.next, 0, 1, m.device.Stream()); err != nil {
		return err
	}
	return m.ready.Record(m.device.Stream())
}

// combineBeside starts combinations beside the training that is under way. If all rows are combined after it, by the whole device, they end
// when no sentence is left.
func (m *member) combineBeside(args combineArgs, passes int) error {
	if err := m.beside.Wait(m.ready, 0); err != nil {
		return err
	}
	args.next, args.passes, args.count = m.Kernels.args.next, m.passes.memory, uint32(passes)
	if err := cuda.LaunchOn(m.beside, m.combines, cuda.Grid{Blocks: m.aside, Threads: combineThreads, Shared: m.shared}, &args); err != nil {
		return err
	}
	if err := m.combined.Record(m.beside); err != nil {
		return err
	}
	return m.device.Stream().Wait(m.combined, 0)
}

// combine combines the rows of so many words when all devices have trained, and lets them wait for that.
func (g *Group) combine(words int) error {
	if words == 0 {
		return nil
	}
	err := g.on(func(m *member) error {
		for _, other := range g.members {
			if err := m.device.Stream().Wait(other.trained, 0); err != nil {
				return err
			}
		}
		if err := m.startCombining(m.args, words); err != nil {
			return err
		}
		return m.combined.Record(m.device.Stream())
	})
	if err != nil {
		return err
	}
	return g.on(func(m *member) error {
		for _, other := range g.members {
			if err := m.device.Stream().Wait(other.combined, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetTables is that of Kernels: all devices get the tables.
func (g *Group) SetTables(words, contexts []float32) error {
	err := g.each(func(i int) error { return g.members[i].SetTables(words, contexts) })
	if err != nil {
		return err
	}
	g.apart = false
	return g.on((*member).takeBases)
}

// takeBases takes the rows of this device's words as they were combined last, if the rule needs them.
func (m *member) takeBases() error {
	if !m.options.Sync.HasBases() {
		return nil
	}
	if err := cuda.Launch(m.device, m.begins, m.wide(), &m.args); err != nil {
		return err
	}
	return m.device.Stream().Synchronize()
}

// wide is the grid of kernels that copy.
func (m *member) wide() cuda.Grid {
	return cuda.Grid{Blocks: 8 * m.device.Multiprocessors, Threads: 256}
}

// startCombining starts a kernel that combines the rows of so many words once.
func (m *member) startCombining(args combineArgs, words int) error {
	if err := m.passes.reach(m.device, "combinations", 8); err != nil {
		return err
	}
	last := m.passes.memory + cu.DevicePtr(m.passes.bytes-8)
	if err := cu.MemsetD32Async(last+4, uint(words), 1, m.device.Stream()); err != nil {
		return err
	}
	args.passes = last
	return cuda.Launch(m.device, m.combines, cuda.Grid{Blocks: m.resident, Threads: combineThreads, Shared: m.shared}, &args)
}

// Tables is that of Kernels. What is not combined yet is combined before.
func (g *Group) Tables(words, contexts []float32) error {
	if g.apart {
		if err := g.combine(g.options.Vocabulary); err != nil {
			return err
		}
		if err := g.on(func(m *member) error { return m.device.Stream().Synchronize() }); err != nil {
			return err
		}
		g.apart = false
	}
	return g.members[0].Tables(words, contexts)
}

// Close frees what closing the devices does not free.
func (g *Group) Close() error {
	return g.each(func(i int) error { return g.members[i].Close() })
}

// Close frees what closing the device does not free.
func (m *member) Close() error {
	if m == nil || m.Kernels == nil {
		return nil
	}
	return errors.Join(m.device.Do(func() error {
		return errors.Join(m.device.Stream().Synchronize(), m.beside.Destroy(),
			cu.DestroyEvent(&m.ready), cu.DestroyEvent(&m.trained), cu.DestroyEvent(&m.combined))
	}), m.Kernels.Close())
}
