package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
)

type deviceOptions struct {
	benchFlags
	benchSamples
	device      string
	words, dims intList
	negative    int
	frequencies nameList[bench.Frequencies]
	optimizers  nameList[optim.Method]
	encoders    nameList[bench.EncoderKind]
	precisions  nameList[device.Precision]
	seed        uint64
}

func newDevice(s cli.Streams) *cobra.Command {
	o := deviceOptions{
		words: intList{18116}, dims: intList{500},
		frequencies: newNameList(bench.AllFrequencies()),
		optimizers:  newNameList(optimizersOnGPUs()),
		encoders:    newNameList(bench.EncoderKinds()),
		precisions:  newNameList([]device.Precision{device.Float32, device.Half}),
	}
	cmd := &cobra.Command{
		Use:   "device [flags]",
		Short: "Measure one training step of mode cl on a GPU beside the speed of its memory",
		Long:  benchDeviceHelp(o.optimizers.choices),
		Example: `  w2vcl-bench device
  w2vcl-bench device --words 18498 --subword cnn,cnn-alone,ngram
  w2vcl-bench device --words 18116,67869 --dim 128,500 --optimizer adam,sgd --json
  w2vcl-bench device --precision float32,half --tempering 0.75 --positives 8 --shared-negatives 64`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.device, "device", "cuda", "`NAME` of the GPU: cuda, cuda:N, or cuda:N,M for 2, 4 or 8 that train together")
	flags.Var(&o.words, "words", "words V of the vocabulary: `LIST`")
	flags.Var(&o.dims, "dim", "dimensions N of a vector: `LIST`")
	flags.IntVar(&o.negative, "negative", 5, "negatives `K` for each positive pair")
	o.benchSamples.addTo(cmd)
	flags.Var(&o.frequencies, "frequencies", "how often words occur: "+o.frequencies.usage())
	flags.Var(&o.optimizers, "optimizer", o.optimizers.usage())
	flags.Var(&o.encoders, "subword", "also measure encoders: "+o.encoders.usage())
	flags.Var(&o.precisions, "precision", "how tables are stored: "+o.precisions.usage())
	flags.Uint64Var(&o.seed, "seed", 1, "`N` from which all randomness comes")
	o.benchFlags.addTo(cmd, 1, "a step")
	cli.UseAliases(flags, map[string]string{"size": "dim", "neg": "negative"})
	return cmd
}

// benchDeviceHelp explains the measurement.
func benchDeviceHelp(methods []optim.Method) string {
	return `Measure one training step of mode cl on a GPU, and beside it how fast the GPU copies
a gigabyte. A step takes half the time of an iteration, on average over many.

The time of a step includes everything that training does in every step: reading samples
from M, drawing negatives, gathering rows, loss, gradient, update of every row, and
returning the loss. Reading text, building M and checkpoints are not part of it.

GB/s counts the bytes that every step must read and write: each row that has a sample
and the state of its optimizer. These are passes over V x N x 4 bytes:
  ` + passes(methods, bench.UpdateBytes) + `
The count is the same with --precision half, which moves fewer bytes. Gathered rows
come from the GPU's cache as long as a table fits it. Copying counts bytes read and
bytes written. The text is made up, see 'w2vcl-bench step --help'.

With --subword, also measure the step that trains an encoder: forward, loss,
backward and update of all its parameters, for made-up words of 16 characters, the
marks of their two ends among them. Its time is an iteration minus the other step,
which trains a table. cnn and ngram also have a vector of each word's own, the
default of 'w2vcl train'; cnn-alone has none.`
}

// optimizersOnGPUs lists the optimizers that the kernels have.
func optimizersOnGPUs() []optim.Method {
	var names []optim.Method
	for _, m := range optim.Methods() {
		if m.Kernels {
			names = append(names, m.Name)
		}
	}
	return names
}

// deviceSettings are the settings in the JSON; the rest is in every result.
type deviceSettings struct {
	Device  string  `json:"device"`
	Seconds float64 `json:"seconds"`
	Repeat  int     `json:"repeat"`
	Seed    uint64  `json:"seed"`
}

func (o *deviceOptions) check() error {
	ordinals, err := device.Ordinals(o.device)
	if err != nil {
		return terminal.Usagef("--device: %v", err)
	}
	if o.negative < 1 || o.negative > 1000 {
		return terminal.Usagef("--negative %d: must be from 1 to 1000", o.negative)
	}
	withEncoders := slices.ContainsFunc(o.encoders.names, func(k bench.EncoderKind) bool { return k != bench.NoEncoder })
	for _, name := range o.optimizers.names {
		if m, err := optim.Find(name); withEncoders && (err != nil || !m.Shared) {
			return terminal.Usagef("--optimizer %s: encoders are not trained with it; leave it or --subword out", name)
		}
	}
	if len(ordinals) > 1 && withEncoders {
		return terminal.Usagef("--device %s: several GPUs cannot train an encoder; choose one, or leave --subword out", o.device)
	}
	for _, words := range o.words {
		if words < 2 {
			return terminal.Usagef("--words %d: must be at least 2", words)
		}
	}
	for _, dim := range o.dims {
		if dim > device.MaxDim {
			return terminal.Usagef("--dim %d: on GPUs vectors have at most %d dimensions", dim, device.MaxDim)
		}
	}
	return errors.Join(o.benchSamples.check(), o.benchFlags.check())
}

func (o *deviceOptions) run(ctx context.Context, s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	d, err := device.Open(o.device)
	if errors.Is(err, device.ErrNotBuilt) {
		return terminal.Usagef("--device %s: %v", o.device, err)
	}
	if err != nil {
		return fmt.Errorf("--device %s: %w", o.device, err)
	}
	report := o.begin(s, "device", deviceSettings{d.Name(), o.seconds, o.repeat, o.seed})
	results, err := o.measure(ctx, s.Progress(o.quiet), d)
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return o.finish(ctx, s, report, results, len(results), err, func() error { return printDevice(s, results) })
}

// measure measures all cases. With an error it returns the results until then.
func (o *deviceOptions) measure(ctx context.Context, p *progress.Progress, d device.Device) ([]bench.DeviceResult, error) {
	var results []bench.DeviceResult
	for _, words := range o.words {
		for _, f := range o.frequencies.names {
			text, err := bench.NewText(ctx, words, f, o.samples(), o.seed, 0)
			if err != nil {
				return results, err
			}
			for _, c := range o.cases(d, words, f) {
				r, err := o.measureCase(ctx, c, d, text)
				if err != nil {
					return results, fmt.Errorf("%s: %w", c, err)
				}
				p.Notef("%s: %s, %s GB/s, %s of copying", c, milliseconds(r.Step.Median), gigabytes(r.BytesPerSecond), cli.Percent(r.OfCopy))
				if e := r.Encoder; e != nil {
					p.Notef("  the step with --subword %s: %s; an iteration takes %.2f times as long as with two tables", e.Kind, milliseconds(e.Step.Median), e.Ratio)
				}
				results = append(results, r)
			}
			if err := text.Matrix.Close(); err != nil {
				return results, err
			}
		}
	}
	return results, nil
}

func (o *deviceOptions) cases(d device.Device, words int, f bench.Frequencies) []bench.DeviceCase {
	var cases []bench.DeviceCase
	for _, dim := range o.dims {
		for _, optimizer := range o.optimizers.names {
			for _, precision := range o.precisions.names {
				for _, encoder := range o.encoders.names {
					cases = append(cases, bench.DeviceCase{
						Device: d.Name(), GPUs: d.GPUs(), Vocabulary: words, Dim: dim, Negatives: o.negative, Frequencies: f, Samples: o.samples(),
						Optimizer: optimizer, Precision: precision, Threads: runtime.GOMAXPROCS(0), Subword: encoder,
					})
				}
			}
		}
	}
	return cases
}

func (o *deviceOptions) measureCase(ctx context.Context, c bench.DeviceCase, d device.Device, text *bench.Text) (bench.DeviceResult, error) {
	free, _, err := d.Memory()
	if err != nil {
		return bench.DeviceResult{}, err
	}
	if need := c.Memory(); need > free {
		return bench.DeviceResult{}, fmt.Errorf("it needs %s of device memory, and %s are free", terminal.Bytes(need), terminal.Bytes(free))
	}
	return bench.MeasureDevice(ctx, c, d, text, o.seed, o.effort())
}

func printDevice(s cli.Streams, results []bench.DeviceResult) error {
	var out cli.Table
	withEncoders := slices.ContainsFunc(results, func(r bench.DeviceResult) bool { return r.Encoder != nil })
	heading := "%8s\t%6s\t%4s\t%8s\t%s\t%s\t%s\t%12s\t%6s\t%8s\t%9s\t%7s\t%9s"
	names := []any{"V", "N", "K", "samples", "text", "optimizer", "precision", "step", "spread", "GB/s", "copy GB/s", "of copy", "G pairs/s"}
	if withEncoders {
		heading, names = heading+"\t%s\t%12s\t%9s", append(names, "subword", "its step", "iteration")
	}
	out.Rowf(heading, names...)
	for _, r := range results {
		line := "%8s\t%6d\t%4d\t%8v\t%s\t%s\t%s\t%12s\t%6s\t%8s\t%9s\t%7s\t%9.2f"
		values := []any{terminal.Number(r.Vocabulary), r.Dim, r.Negatives, cmp.Or(r.Positives, 1), r.Frequencies, r.Optimizer, r.Precision,
			milliseconds(r.Step.Median), cli.Percent(r.Step.Spread()), gigabytes(r.BytesPerSecond), gigabytes(r.Copy.Median), cli.Percent(r.OfCopy), r.PairsPerSecond / 1e9}
		switch e := r.Encoder; {
		case e != nil:
			line, values = line+"\t%s\t%12s\t%8.2fx", append(values, e.Kind, milliseconds(e.Step.Median), e.Ratio)
		case withEncoders:
			line, values = line+"\t%s\t%12s\t%9s", append(values, bench.NoEncoder, "", "")
		}
		out.Rowf(line, values...)
	}
	return out.Print(s.Out)
}
