//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// CBOW trains large-batch CBOW on a device, as graph.CBOW does: see stretch.cu.
type CBOW struct {
	device    *cuda.Device
	options   CBOWOptions
	optimizer cuda.Optimizer
	args      stretchArgs
	parts     PartRows
	context   cbowTable
	words     cbowTable // W, or words' own rows
	table     cbowTable // of parts
	tensors   map[string]cbowTensor

	start, means, ofWords, places, rows cu.Function // kernels of stretch.cu and stretch_rows.cu
	step                                cu.Function // of step.cu
	shapes                              cbowShapes

	group *cbowPart // of several devices; nil: it is the only one
	own   columns   // of W and its parts

	copying cu.Stream
	areas   [2]area
	started int  // iterations
	stale   bool // the parts in 16 bits are not those of the table
	buffers []cbowBuffer
}

// A cbowTable is a table in the device's memory, with the state of its optimizer.
type cbowTable struct {
	values cu.DevicePtr
	cuda.State
	rows int
	columns
}

// A cbowTensor is a tensor of the state, (rows, width), or the columns of it that the device has.
type cbowTensor struct {
	at          cu.DevicePtr
	rows, width int
	columns     cuda.Columns
	common      bool // every device of a group has all of it
}

// An area is the device's memory for a stretch.
type area struct {
	words, from, to, places, rows, slots, negatives, order, steps, jobs, tiles, next cu.DevicePtr

	copied, done cu.Event
}

// A cbowBuffer is pinned memory of the host.
type cbowBuffer struct {
	stretch   Stretch
	all       []uint32 // of the stretch
	order     []rowJob
	steps     []cuda.StepNumbers // of tables, of parts
	loss      []lossUnits
	device    cu.DevicePtr // its loss
	done      cu.Event
	iteration int
	rest      []cbowLaunch // kernels of the iteration that finish launches
}

// NewCBOW takes the device's memory for training. All tables are zero.
func NewCBOW(d *cuda.Device, c CBOWOptions) (*CBOW, error) {
	return newCBOWPart(d, c, nil, columns{0, c.Dim})
}

func newCBOWPart(d *cuda.Device, c CBOWOptions, group *cbowPart, own columns) (*CBOW, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return nil, err
	}
	method, err := c.check()
	if err != nil {
		return nil, err
	}
	if group != nil && c.Composition == nil {
		c.Composition = &composed.Composition{Dim: c.Dim, Starts: make([]uint32, c.Rows+1), Own: []float32{}}
	}
	k := &CBOW{
		device: d, options: c, tensors: map[string]cbowTensor{}, stale: true, group: group, own: own,
		optimizer: cuda.Optimizer{Method: method, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	}
	err = d.Do(func() error {
		if err := k.load(size); err != nil {
			return err
		}
		return k.allocate()
	})
	if err != nil {
		return nil, fmt.Errorf("prepare CBOW on %s: %w", d.Name, err)
	}
	return k, nil
}

func (c CBOWOptions) check() (cuda.Method, error) {
	method, err := cuda.FindMethod(c.Method)
	switch x := c.Composition; {
	case err != nil:
	case c.Rows < 1 || c.Dim < 1 || c.Negatives < 1 || c.SharedNegatives < 1 || c.Places < 1 || c.Window < 1 || c.Buffers < 1:
		err = fmt.Errorf("%d rows, dimension %d, %d negatives, %d shared, %d places, window %d, %d buffers: all must be at least 1",
			c.Rows, c.Dim, c.Negatives, c.SharedNegatives, c.Places, c.Window, c.Buffers)
	case int64(max(c.Rows, c.Places))*int64(cuda.Quads(c.Dim)) > math.MaxUint32:
		err = fmt.Errorf("tables of %d rows and %d places of dimension %d are larger than the kernels can address", c.Rows, c.Places, c.Dim)
	case chunk/4*int64(max(c.Rows, c.Places))*int64(c.chunks()) > math.MaxUint32/4:
		err = fmt.Errorf("%d rows and %d places with %d shared negatives are more than the kernels can address", c.Rows, c.Places, c.SharedNegatives)
	case x != nil && (x.Words() != c.Rows || x.PartCount() < 1):
		err = fmt.Errorf("a composition of %d words and %d parts; there are %d words", x.Words(), x.PartCount(), c.Rows)
	}
	return method, err
}

const (
	mostPlaces    = 96 // of a thread block
	warpsOfPlaces = 8  // blockWarps of stretch.cuh
)

// load loads the kernels for N up to 128 times the size, those of W and its parts for the columns that the device has.
func (k *CBOW) load(size int) (err error) {
	c, a := k.options, &cuda.Allocator{Device: k.device}
	if reserved := 1 << 10; k.tileShared(true) > k.device.SharedOfBlock-reserved {
		return fmt.Errorf("window is %d; its places do not fit into the shared memory of %s", c.Window, k.device.Name)
	}
	k.start = a.Function("cl/stretch", "stretch_begin", 0)
	k.means = a.Function("cl/stretch", cuda.Sized("stretch_means", size), k.tileShared(false))
	k.places = a.Function("cl/stretch", cuda.Sized("stretch_places", size), k.tileShared(true))
	if a.Err != nil {
		return a.Err
	}
	return k.loadTiles(size)
}

const contexts = "contexts" // the tensor C

// newTable takes the memory of columns of a table, and names its tensors.
func (k *CBOW) newTable(a *cuda.Allocator, name string, rows int, x columns) cbowTable {
	dim, quads := k.options.Dim, x.quads(k.options.Dim)
	t := cbowTable{values: a.Floats(name, rows*4*quads), State: a.State(k.optimizer.Method, rows, 16*quads), rows: rows, columns: x}
	for suffix, p := range map[string]cu.DevicePtr{"": t.values, ".first-moment": t.First, ".second-moment": t.Second} {
		if p != 0 {
			k.tensors[name+suffix] = cbowTensor{p, rows, dim, cuda.Columns{First: x.first, Count: x.count, Stride: 4 * quads}, name == contexts}
		}
	}
	if t.SecondOfRow != 0 {
		k.tensors[name+".second-moment"] = cbowTensor{t.SecondOfRow, rows, 1, cuda.Columns{Count: 1, Stride: 1}, true}
	}
	return t
}

// newUpdates takes the memory of the numbers of updates.
func (k *CBOW) newUpdates(a *cuda.Allocator, name string, rows int) cu.DevicePtr {
	p := a.Floats(name, rows)
	k.tensors[name] = cbowTensor{p, rows, 1, cuda.Columns{Count: 1, Stride: 1}, true}
	return p
}

func (k *CBOW) tableArgs(t cbowTable) cuda.Table {
	return cuda.Table{
		Values: uint64(t.values), First: uint64(t.First), Second: uint64(t.Second), SecondOfRow: uint64(t.SecondOfRow),
		Rows: uint32(t.rows), Quads: uint32(t.quads(k.options.Dim)), Columns: uint32(t.count), Decays: k.optimizer.Decays(),
	}
}

// stretchOfArgs is Stretch of stretch.cuh.
type stretchOfArgs struct {
	words, from, to, rows, slots, places, windows, targets, order cu.DevicePtr
	count, rowCount, tiles, window                                uint32
}

// stretchArgs is StretchArgs of stretch.cuh.
type stretchArgs struct {
	stretch                                                             stretchOfArgs
	contexts, words                                                     cuda.Table
	composed, means, sums, scores, errors, inside, updates, steps, loss cu.DevicePtr
	jobs, tiles, next, gradient, trained, weights                       cu.DevicePtr
	shared, chunks, iteration, ownRows                                  uint32
	weight, bias                                                        float32
	rule                                                                rule
	first, places                                                       uint32
	ofWords, ofRows                                                     denseShape
}

func (k *CBOW) allocate() error {
	c, a := k.options, &cuda.Allocator{Device: k.device}
	row := 16 * cuda.Quads(c.Dim)
	k.context = k.newTable(a, contexts, c.Rows, columns{0, c.Dim})
	k.words.columns = k.own
	if x := c.Composition; x == nil || x.Own != nil {
		k.words = k.newTable(a, "words", c.Rows, k.own)
	}
	k.args = stretchArgs{
		contexts: k.tableArgs(k.context), words: k.tableArgs(k.words), composed: k.words.values,
		means: a.Bytes("means of windows", c.Places*row), sums: a.Bytes("sums of gradients", c.Places*row),
		scores: a.Floats("scores of words", chunk*c.Rows*c.chunks()), errors: a.Floats("errors of places", chunk*c.Places*c.chunks()),
		inside: a.Floats("windows of places", c.Places), updates: k.newUpdates(a, "updates", c.Rows),
		shared: uint32(c.SharedNegatives), chunks: uint32(c.chunks()), weight: float32(c.Negatives) / float32(c.SharedNegatives),
		bias:  -float32(math.Log(float64(c.Negatives))), // as graph.CBOW has it
		rule:  rule{float32(c.WeightDecay), float32(c.Epsilon), float32(math.Log(c.Beta1)), float32(math.Log(c.Beta2))},
		first: uint32(k.own.first / 4), ofWords: k.shapes.words.dense, ofRows: k.shapes.rows.dense,
	}
	if k.words.values != 0 {
		k.args.ownRows = 1
	}
	if c.Composition != nil {
		k.allocateParts(a)
	}
	for i := range k.areas {
		k.areas[i] = k.newArea(a)
	}
	k.buffers = make([]cbowBuffer, c.Buffers)
	for i := range k.buffers {
		k.buffers[i].device = a.Bytes("losses", int(cuda.Bytes[lossUnits](1)))
		if a.Err == nil {
			a.Err = k.buffers[i].allocate(c, k.group.reads())
		}
	}
	if a.Err == nil {
		k.copying, a.Err = k.device.NewCopyStream()
	}
	return a.Err
}

func (k *CBOW) allocateParts(a *cuda.Allocator) {
	c, x := k.options, k.options.Composition
	k.args.composed = a.Bytes("composed rows", c.Rows*16*cuda.Quads(c.Dim))
	if k.group != nil {
		k.group.composed = [2]cu.DevicePtr{k.args.composed, a.Bytes("composed rows", c.Rows*16*cuda.Quads(c.Dim))}
	}
	if x.PartCount() > 0 {
		k.args.gradient = a.Bytes("gradients of words", c.Rows*8*k.own.quads(c.Dim))
	}
	k.table = k.newTable(a, "parts", x.PartCount(), k.own)
	k.parts = *NewPartRows(a, x, k.optimizer, k.tableArgs(k.table))
	k.args.trained, k.args.weights = a.Floats("words of an iteration", c.Rows), k.parts.args.weights
	p := &k.parts.args
	p.updates, p.rule = k.newUpdates(a, "parts.updates", x.PartCount()), k.args.rule
	p.wide, p.first = uint32(cuda.Quads(c.Dim)), k.args.first
}

func (k *CBOW) newArea(a *cuda.Allocator) (r area) {
	c, most := k.options, min(k.options.Rows, k.options.Places)
	for _, p := range []*cu.DevicePtr{&r.words, &r.from, &r.to, &r.places} {
		*p = a.Floats("a stretch", c.Places)
	}
	r.rows, r.slots, r.negatives = a.Floats("a stretch", most), a.Floats("a stretch", most+1), a.Floats("a stretch", 2*c.SharedNegatives)
	r.order = a.Bytes("a stretch", int(cuda.Bytes[rowJob](c.mostRowJobs())))
	r.jobs, r.tiles, r.next = a.Bytes("jobs", int(cuda.Bytes[job](c.mostRowJobs()))), a.Floats("tiles", 1), a.Floats("tiles", 1)
	r.steps = a.Bytes("steps", int(cuda.Bytes[cuda.StepNumbers](2)))
	for _, e := range []*cu.Event{&r.copied, &r.done} {
		if a.Err == nil {
			*e, a.Err = cu.MakeEvent(cu.DisableTiming)
		}
	}
	return r
}

// allocate takes the memory of a buffer, without that of a stretch if another device reads it.
func (b *cbowBuffer) allocate(c CBOWOptions, reads bool) (err error) {
	if reads {
		if err := b.allocateStretch(c); err != nil {
			return err
		}
	}
	if b.steps, err = cuda.Pinned[cuda.StepNumbers](2); err != nil {
		return err
	}
	if b.loss, err = cuda.Pinned[lossUnits](1); err != nil {
		return err
	}
	b.done, err = cu.MakeEvent(cu.DisableTiming)
	return err
}

func (b *cbowBuffer) allocateStretch(c CBOWOptions) (err error) {
	t, most := c.Places, min(c.Rows, c.Places)
	if b.all, err = cuda.Pinned[uint32](4*t + 2*most + 1 + 2*c.SharedNegatives); err != nil {
		return err
	}
	rest := b.all
	s := &b.stretch
	for _, x := range []struct {
		of    *[]uint32
		count int
	}{
		{&s.Words, t}, {&s.From, t}, {&s.To, t}, {&s.Places, t}, {&s.Rows, most}, {&s.Slots, most + 1},
		{&s.Windows, c.SharedNegatives}, {&s.Targets, c.SharedNegatives},
	} {
		*x.of, rest = rest[:0:x.count], rest[x.count:]
	}
	b.order, err = cuda.Pinned[rowJob](c.mostRowJobs())
	s.order = b.order[:0]
	return err
}

// Close frees the memory that Device.Close does not free.
func (k *CBOW) Close() error {
	return k.device.Do(func() error {
		err := errors.Join(k.copying.Synchronize(), k.device.Stream().Synchronize(), k.copying.Destroy()) // they may be using the memory
		for i := range k.areas {
			err = errors.Join(err, cu.DestroyEvent(&k.areas[i].copied), cu.DestroyEvent(&k.areas[i].done))
		}
		for i := range k.buffers {
			b := &k.buffers[i]
			err = errors.Join(err, cuda.Unpin(b.all), cuda.Unpin(b.order), cuda.Unpin(b.steps), cuda.Unpin(b.loss), cu.DestroyEvent(&b.done))
		}
		return err
	})
}
