//go:build gpu

package cl

import (
	"cmp"
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

	contexts, words, parts cbowTable // C; W, or words' own rows; what else W is composed of
	composition            PartRows  // composes W and trains the parts
	tensors                map[string]cbowTensor

	jobs                               cu.Function // stretch_jobs
	means, step, ofWords, places, rows cbowKernel

	group *cbowPart // of several devices; nil: it is the only one
	own   columns   // of W and its parts

	copying cu.Stream
	areas   [2]area
	started int // iterations
	buffers []cbowBuffer
}

// A cbowKernel is a kernel with the shape of its launch.
type cbowKernel struct {
	cu.Function
	tilesLaunch
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
		device: d, options: c, tensors: map[string]cbowTensor{}, group: group, own: own,
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

// load loads the kernels for N up to 128 times the size. The kernel of rows is for the columns that the device has of W.
func (k *CBOW) load(size int) error {
	c, a := k.options, &cuda.Allocator{Device: k.device}
	if reserved := 1 << 10; k.spanShared(true) > k.device.SharedOfBlock-reserved {
		return fmt.Errorf("window is %d; its places do not fit into the shared memory of %s", c.Window, k.device.Name)
	}
	k.jobs = a.Function("cl/stretch", "stretch_jobs", 0)
	ofPlaces := func(to *cbowKernel, name string, shared int) {
		to.warps, to.shared = warpsOfPlaces, shared
		to.Function = a.Function("cl/stretch", cuda.Sized(name, size), shared)
		if a.Err == nil {
			to.resident, a.Err = to.MaxActiveBlocksPerMultiProcessor(32*warpsOfPlaces, int64(shared))
			to.blocks = k.device.Multiprocessors * max(to.resident, 1)
		}
	}
	ofTiles := func(to *cbowKernel, sources []stepSource, size int, name string) {
		if a.Err == nil {
			to.Function, to.tilesLaunch, a.Err = Options{Dim: c.Dim, SharedNegatives: c.SharedNegatives}.loadDense(k.device, size, sources, "", name)
		}
	}
	own, err := cuda.KernelSize(k.own.count)
	a.Err = cmp.Or(a.Err, err)
	ofPlaces(&k.means, "stretch_means", k.spanShared(false))
	ofTiles(&k.step, stepSources, size, k.optimizer.Sized("step", size))
	ofTiles(&k.ofWords, rowsSources, size, cuda.Sized("stretch_words", size))
	ofPlaces(&k.places, "stretch_places", k.spanShared(true))
	ofTiles(&k.rows, rowsSources, own, k.optimizer.Sized("stretch_rows", own))
	return a.Err
}

// stretchOfArgs is Stretch of stretch.cuh.
type stretchOfArgs struct {
	words, from, to, rows, slots, places, negativePlaces, negativeWords, order cu.DevicePtr
	count, rowCount, tiles, window                                             uint32
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
	k.contexts = k.newTable(a, contexts, c.Rows, columns{0, c.Dim})
	k.words.columns = k.own
	if x := c.Composition; x == nil || x.Own != nil {
		k.words = k.newTable(a, "words", c.Rows, k.own)
	}
	k.args = stretchArgs{
		contexts: k.tableArgs(k.contexts), words: k.tableArgs(k.words), composed: k.words.values,
		means: a.Bytes("means of windows", c.Places*row), sums: a.Bytes("sums of gradients", c.Places*row),
		scores: a.Floats("scores of words", chunk*c.Rows*c.chunks()), errors: a.Floats("errors of places", chunk*c.Places*c.chunks()),
		inside: a.Floats("windows of places", c.Places), updates: k.newUpdates(a, "contexts.updates", c.Rows),
		shared: uint32(c.SharedNegatives), chunks: uint32(c.chunks()), weight: float32(c.Negatives) / float32(c.SharedNegatives),
		bias:  -float32(math.Log(float64(c.Negatives))), // as graph.CBOW has it
		rule:  rule{float32(c.WeightDecay), float32(c.Epsilon), float32(math.Log(c.Beta1)), float32(math.Log(c.Beta2))},
		first: uint32(k.own.first / 4), ofWords: k.ofWords.dense, ofRows: k.rows.dense,
	}
	if k.words.values != 0 {
		k.args.ownRows = 1
	}
	if c.Composition != nil {
		k.allocateParts(a)
	}
	k.allocateBuffers(a)
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
	k.parts = k.newTable(a, "parts", x.PartCount(), k.own)
	k.composition = *NewPartRows(a, x, k.optimizer, k.tableArgs(k.parts))
	k.args.trained, k.args.weights = a.Floats("words of an iteration", c.Rows), k.composition.Weights()
	p := &k.composition.args
	p.updates, p.rule = k.newUpdates(a, "parts.updates", x.PartCount()), k.args.rule
	p.wide, p.first = uint32(cuda.Quads(c.Dim)), k.args.first
}

// argsOf returns the arguments of the kernels of an iteration.
func (k *CBOW) argsOf(b *cbowBuffer, in *area) stretchArgs {
	s, a := &b.stretch, k.args
	a.stretch = stretchOfArgs{
		words: in.words, from: in.from, to: in.to, rows: in.rows, slots: in.slots, places: in.places,
		negativePlaces: in.negatives, negativeWords: in.negatives + 4*cu.DevicePtr(len(s.NegativePlaces)),
		order: in.order,
		count: uint32(len(s.Words)), rowCount: uint32(len(s.Rows)), tiles: uint32(len(s.order) / tileRows), window: uint32(k.options.Window),
	}
	a.jobs, a.tiles, a.next = in.jobs, in.tiles, in.next
	a.steps, a.loss, a.iteration = in.steps, b.device, uint32(b.iteration+1) // no word was trained in 0
	return a
}

// makeJobs starts the kernel that makes the jobs of an iteration.
func (k *CBOW) makeJobs(a *stretchArgs, on cu.Stream) error {
	return cuda.LaunchOn(on, k.jobs, cuda.Grid{Blocks: ceil(int(a.stretch.tiles)*tileRows, 256), Threads: 256}, a)
}

// A cbowLaunch is a kernel of an iteration.
type cbowLaunch struct {
	name  string
	start func() error
}

// launches returns the other kernels in their order. That which composes rows, if they are composed, is the first.
func (k *CBOW) launches(a stretchArgs) (all []cbowLaunch) {
	early, composed, parts := k.device.Overlaps(), k.options.Composition != nil, k.composition
	k.group.exchange(k.started, &a, &parts.args)
	parts.args.list, parts.args.words = a.stretch.rows, a.stretch.rowCount
	ofParts := a.steps + cu.DevicePtr(cuda.Bytes[cuda.StepNumbers](1))
	add := func(name string, start func() error) { all = append(all, cbowLaunch{name, start}) }
	addPlaces := func(name string, f cbowKernel, may bool) {
		a, places := a, int(a.stretch.count)
		a.places = uint32(placesOfBlock(places, f.blocks))
		grid := cuda.Grid{Blocks: ceil(places, int(a.places)), Threads: 32 * f.warps, Shared: f.shared}
		add(name, func() error { return cuda.LaunchEarly(k.device, f.Function, grid, &a, may) })
	}
	tiles := func(f cbowKernel, rows, most int) cuda.Grid {
		return cuda.Grid{Blocks: min(most, ceil(rows, f.warps)), Threads: 32 * f.warps, Shared: f.shared}
	}
	addTiles := func(name string, f cbowKernel, grid cuda.Grid) {
		add(name, func() error { return cuda.LaunchEarly(k.device, f.Function, grid, &a, early) })
	}
	jobs := int(a.stretch.tiles) * tileRows
	if composed {
		add("compose", func() error { return parts.Compose(a.composed, k.words.values, 0, ofParts) })
	}
	addPlaces("means", k.means, early && composed && k.group == nil) // others wait for the stretch, or for other devices
	add("step 1", func() error {
		return cuda.LaunchEarly(k.device, k.step.Function, tiles(k.step, jobs, k.step.blocks), k.stepArgs(&a), early)
	})
	addTiles("words", k.ofWords, tiles(k.ofWords, int(a.stretch.rowCount), k.device.Multiprocessors)) // leaves room for places, beside it
	addPlaces("places", k.places, early)
	addTiles("rows", k.rows, tiles(k.rows, jobs, k.rows.blocks))
	if composed {
		add("train", func() error { return parts.Train(a.gradient, a.trained, ofParts, early) })
	}
	return all
}

func ceil(x, of int) int { return (x + of - 1) / of }

// stepArgs are those of step 1: C against the means of windows.
func (k *CBOW) stepArgs(a *stretchArgs) *stepArgs {
	c := k.options
	return &stepArgs{
		table: stepTable{
			left: uint64(k.contexts.values), positives: uint64(a.means), negatives: uint64(a.means),
			first: uint64(k.contexts.First), second: uint64(k.contexts.Second), secondOfRow: uint64(k.contexts.SecondOfRow),
			rows: uint32(c.Rows), stride: uint32(4 * cuda.Quads(c.Dim)), columns: uint32(c.Dim),
			weight: a.weight, decay: a.rule.decay, epsilon: a.rule.epsilon, Decays: k.optimizer.Decays(), bias: a.bias,
		},
		dense: k.step.dense, step: uint64(a.steps), samples: uint64(a.stretch.places), jobs: uint64(a.jobs), tiles: uint64(a.tiles), next: uint64(a.next),
		losses: uint64(a.loss), shared: uint64(a.stretch.negativePlaces),
	}
}
