//go:build gpu

package cl

import (
	"cmp"
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// CBOW trains large-batch CBOW on a device, as graph.CBOW does: see stretch.cu.
type CBOW struct {
	device    *cuda.Device
	options   CBOWOptions
	optimizer cuda.Optimizer
	args      stretchArgs

	contexts, words, parts cbowTable // C; W, or words' own rows; what else W is composed of
	positions              cbowTable // weights of positions, or none
	composition            PartRows  // composes W and trains the parts
	tensors                map[string]cbowTensor

	means, step, errors, back, rows cbowKernel

	arrivals arrivals
	results  cu.Stream // on which losses are copied
	buffers  []cbowBuffer
}

type cbowKernel struct {
	cu.Function
	tilesLaunch
}

// NewCBOW takes the device's memory for training. All tables are zero.
func NewCBOW(d *cuda.Device, c CBOWOptions) (k *CBOW, err error) {
	err = d.Do(func() (err error) { k, err = prepareCBOW(&cuda.Allocator{Device: d}, c); return err })
	if err != nil {
		return nil, fmt.Errorf("prepare CBOW on %s: %w", d.Name, err)
	}
	return k, nil
}

// prepareCBOW is NewCBOW. Without a device the allocator counts what it would take.
func prepareCBOW(a *cuda.Allocator, c CBOWOptions) (*CBOW, error) {
	method, err := c.check()
	if err != nil {
		return nil, err
	}
	k := &CBOW{
		device: a.Device, options: c, tensors: map[string]cbowTensor{},
		optimizer: cuda.Optimizer{Method: method, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	}
	k.load(a)
	k.allocate(a)
	return k, a.Err
}

// Memory returns the bytes that NewCBOW takes of the device's memory and of the host's.
func (c CBOWOptions) Memory() (device, host int64, err error) {
	a := &cuda.Allocator{}
	_, err = prepareCBOW(a, c)
	return a.Taken, a.Pinned, err
}

func (c CBOWOptions) check() (cuda.Method, error) {
	method, err := cuda.FindMethod(c.Method)
	if err == nil {
		_, err = cuda.KernelSize(c.Dim)
	}
	switch x := c.Composition; {
	case err != nil:
	case c.Rows < 1 || c.Dim < 1 || c.Negatives < 1 || c.SharedNegatives < 1 || c.Places < 1 || c.Window < 1 || c.Buffers < 1:
		err = fmt.Errorf("%d rows, dimension %d, %d negatives, %d shared, %d places, window %d, %d buffers: all must be at least 1",
			c.Rows, c.Dim, c.Negatives, c.SharedNegatives, c.Places, c.Window, c.Buffers)
	case int64(max(c.Rows, c.Places))*int64(cuda.Quads(c.Dim)) > math.MaxUint32:
		err = fmt.Errorf("tables of %d rows and %d places of dimension %d are larger than the kernels can address", c.Rows, c.Places, c.Dim)
	case x != nil && (x.Words() != c.Rows || x.PartCount() < 1):
		err = fmt.Errorf("a composition of %d words and %d parts; there are %d words", x.Words(), x.PartCount(), c.Rows)
	}
	return method, err
}

// The places of a thread block of means and of back, how many of them are in shared memory, and in how many parts: run, together and parts
// of stretch.cu.
const placesOfRun, placesTogether, partsOfTogether = 128, 64, 2

const blockWarps = 8 // of stretch.cuh

// bytesOf is the shared memory of a thread block of means and of back with so many quads of each row: as in Windows of stretch.cu.
func (c CBOWOptions) bytesOf(quads int) int {
	offsets, around := 2*c.Window+1, placesTogether+2*c.Window
	bytes := 16*quads*(offsets+around) + 8*around
	if c.PositionRate > 0 {
		bytes += 16 * quads * (placesTogether + partsOfTogether*offsets)
	}
	return bytes
}

// chooseSlice chooses how many quads of each row a thread block of means and of back has.
func (k *CBOW) chooseSlice() (bytes int, err error) {
	const own = 1 << 10 // that the driver takes
	for k.args.slice = 4; ; k.args.slice-- {
		bytes = k.options.bytesOf(1 << k.args.slice)
		if bytes <= k.device.SharedOfBlock-own {
			return bytes, nil
		}
		if k.args.slice == 0 {
			return 0, fmt.Errorf("windows of %d words on either side do not fit into the shared memory of %s", k.options.Window, k.device.Name)
		}
	}
}

func (k *CBOW) load(a *cuda.Allocator) {
	c := k.options
	var shared int
	a.Do(func() (err error) { shared, err = k.chooseSlice(); return err })
	ofTiles := func(to *cbowKernel, sources []string, name string) {
		a.Do(func() (err error) {
			to.Function, to.tilesLaunch, err = loadDense(k.device, c.SharedNegatives, sources, "", name)
			return err
		})
	}
	size, err := cuda.KernelSize(c.Dim)
	a.Err = cmp.Or(a.Err, err)
	k.means.Function, k.back.Function = a.Function("cl/stretch", "stretch_means", shared), a.Function("cl/stretch", "stretch_back", shared)
	k.means.shared, k.back.shared = shared, shared
	k.rows.Function = a.Function("cl/stretch", k.optimizer.Sized("stretch_rows", size), 0)
	ofTiles(&k.step, stepSources, k.optimizer.Sized("step", size))
	ofTiles(&k.errors, errorsSources, cuda.Sized("stretch_errors", size))
}

// stretchOfArgs is Stretch of stretch.cuh.
type stretchOfArgs struct {
	words, from, to, rows, slots, places, negativePlaces, negativeWords, order cu.DevicePtr
	steps, jobs, tileCount, next                                               cu.DevicePtr
	count, rowCount, tiles, window                                             uint32
}

// stretchArgs is StretchArgs of stretch.cuh.
type stretchArgs struct {
	stretch                                                   stretchOfArgs
	contexts, words, positions                                cuda.Table
	composed, means, sums, ofPositions, inside, updates, loss cu.DevicePtr
	ofParts                                                   Gradients
	weight, bias                                              float32
	rule                                                      cuda.Rule
	slice, _                                                  uint32
	ofErrors                                                  denseShape
}

func (k *CBOW) allocate(a *cuda.Allocator) {
	c, row := k.options, 16*cuda.Quads(k.options.Dim)
	k.contexts = k.newTable(a, "contexts", c.Rows)
	if x := c.Composition; x == nil || x.Own != nil {
		k.words = k.newTable(a, "words", c.Rows)
	}
	k.args = stretchArgs{
		contexts: k.tableArgs(k.contexts), words: k.tableArgs(k.words), composed: k.words.values,
		means: a.Bytes("means of windows", c.Places*row), sums: a.Bytes("sums of gradients", c.Places*row),
		inside: a.Floats("windows of places", c.Places), updates: k.newUpdates(a, "contexts.updates", c.Rows),
		weight: float32(c.Negatives) / float32(c.SharedNegatives), bias: -float32(math.Log(float64(c.Negatives))), // as graph.CBOW has it
		rule: k.optimizer.Rule(), slice: k.args.slice, ofErrors: k.errors.dense,
	}
	if c.PositionRate > 0 {
		k.positions = k.newTable(a, "positions", 2*c.Window)
		k.args.positions = k.tableArgs(k.positions)
		k.args.ofPositions = a.Bytes("gradients of positions", ceil(c.Places, placesOfRun)*2*c.Window*row)
	}
	if c.Composition != nil {
		k.allocateParts(a)
	}
	k.allocateBuffers(a)
}

func (k *CBOW) allocateParts(a *cuda.Allocator) {
	c, x := k.options, k.options.Composition
	k.args.composed = a.Bytes("composed rows", c.Rows*16*cuda.Quads(c.Dim))
	k.parts = k.newTable(a, "parts", x.PartCount())
	k.composition = *NewPartRows(a, x, k.optimizer, k.tableArgs(k.parts))
	stride := 4 * cuda.Quads(c.Dim)
	k.args.ofParts = Gradients{
		Rows:    Narrow{a.Bytes("gradients of words", c.Rows*2*stride), uint64(stride)},
		Weights: k.composition.Weights(), Trained: a.Floats("words of an iteration", c.Rows),
	}
	p := &k.composition.args
	p.updates, p.rule = k.newUpdates(a, "parts.updates", x.PartCount()), k.args.rule
}

type cbowLaunch struct {
	name  string
	start func() error
}

// launches returns the kernels of an iteration in their order; a kernel that composes rows is the first. One that is launched early may
// read, before it waits, only what the kernel before it does not write.
func (k *CBOW) launches(a stretchArgs) (all []cbowLaunch) {
	early, composed, parts := k.device.Overlaps(), k.options.Composition != nil, k.composition
	parts.args.list, parts.args.words = a.stretch.rows, a.stretch.rowCount
	ofParts := a.stretch.steps + cu.DevicePtr(cuda.Bytes[cuda.StepNumbers](1))
	add := func(name string, start func() error) { all = append(all, cbowLaunch{name, start}) }
	addWindows := func(name string, f cbowKernel, may bool) {
		slices := ceil(cuda.Quads(k.options.Dim), 1<<a.slice)
		grid := cuda.Grid{Blocks: ceil(int(a.stretch.count), placesOfRun) * slices, Threads: 32 * blockWarps, Shared: f.shared}
		add(name, func() error { return cuda.LaunchEarly(k.device, f.Function, grid, &a, may) })
	}
	tiles := func(f cbowKernel, rows int) cuda.Grid {
		return cuda.Grid{Blocks: min(f.blocks, ceil(rows, f.warps)), Threads: 32 * f.warps, Shared: f.shared}
	}
	if composed {
		add("compose", func() error { return parts.Compose(a.composed, k.words.values, 0, ofParts) })
	}
	addWindows("means", k.means, early && composed) // another waits for the stretch
	add("step 1", func() error {
		return cuda.LaunchEarly(k.device, k.step.Function, tiles(k.step, int(a.stretch.tiles)*tileRows), k.stepArgs(&a), early)
	})
	add("errors", func() error {
		return cuda.LaunchEarly(k.device, k.errors.Function, tiles(k.errors, int(a.stretch.count)), &a, early)
	})
	addWindows("back", k.back, early)
	add("rows", func() error {
		grid := cuda.Grid{Blocks: k.positions.rows + int(a.stretch.tiles), Threads: 32 * blockWarps}
		return cuda.LaunchEarly(k.device, k.rows.Function, grid, &a, early)
	})
	if composed {
		add("train", func() error { return parts.Train(a.ofParts, ofParts, early) })
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
			weight: a.weight, bias: a.bias, rule: a.rule, decays: k.optimizer.Decays(),
		},
		dense: k.step.dense, step: uint64(a.stretch.steps), samples: uint64(a.stretch.places), jobs: uint64(a.stretch.jobs),
		tiles: uint64(a.stretch.tileCount), next: uint64(a.stretch.next), loss: uint64(a.loss), shared: uint64(a.stretch.negativePlaces),
	}
}
