package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// byMessages is one device of so many fake ones.
func byMessages(t *testing.T, gpus int) (device.Device, []*devicetest.Device) {
	t.Helper()
	var fakes []*devicetest.Device
	var all []device.Device
	for range gpus {
		d := devicetest.New()
		d.Parts = 1
		fakes, all = append(fakes, d), append(all, d)
	}
	d, err := device.NewByMessages(all)
	if err != nil {
		t.Fatal(err)
	}
	return d, fakes
}

// trained returns the tables after training all units, and the reports.
func trained(t *testing.T, k device.Trainer, d device.Device) (words, contexts []float32, reports []trainer.Report) {
	t.Helper()
	reports = train(t, k, 0, k.Units())
	if err := k.Pull(true); err != nil {
		t.Fatal(err)
	}
	words, contexts = k.Tables()
	words, contexts = slices.Clone(words), slices.Clone(contexts)
	if err := errors.Join(k.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	return words, contexts, reports
}

// GPUs that send each other messages train the tables of those that use each other's memory: what rank 0 tells them is what
// one device is told.
func TestByMessages(t *testing.T) {
	seed := freshSeed(t)
	c, noise := text(t, seed, 1000)
	m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 2, Contexts: 20, Passes: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	sentences := sequential.Options{Algorithm: sequential.FullW2V, Dim: 6, Window: 3, Negatives: 2, Epochs: 2, Seed: seed, Sync: sequential.Sync{Words: 200, HotWords: 50, Hot: 5}}
	dimensions := graph.Options{Dim: 50, Negatives: 3, Seed: seed, Threads: 2, Optimizer: optim.Options{Method: optim.Adam}}
	for _, gpus := range []int{2, 4} {
		of := func(d device.Device, cl bool) (words, contexts []float32, reports []trainer.Report) {
			var k device.Trainer
			if cl {
				k, err = device.NewCL(d, m, noise, 20, dimensions, device.Float32)
			} else {
				k, err = device.NewSequential(d, c, noise, sentences, device.Float32)
			}
			if err != nil {
				t.Fatal(err)
			}
			return trained(t, k, d)
		}
		for _, cl := range []bool{false, true} {
			peers := devicetest.New()
			peers.Parts = gpus
			words, contexts, reports := of(peers, cl)
			d, _ := byMessages(t, gpus)
			gotWords, gotContexts, got := of(d, cl)
			if !slices.Equal(gotWords, words) || !slices.Equal(gotContexts, contexts) || !slices.Equal(got, reports) {
				t.Errorf("%d GPUs, cl %v: other tables or reports", gpus, cl)
			}
		}
	}
}

// The error of one GPU ends all.
func TestByMessagesFails(t *testing.T) {
	seed := freshSeed(t)
	c, noise := text(t, seed, 1000)
	for _, broken := range []int{0, 1} {
		d, fakes := byMessages(t, 2)
		k, err := device.NewSequential(d, c, noise, sequential.Options{Algorithm: sequential.FullW2V, Dim: 6, Window: 3, Negatives: 2, Epochs: 2, Seed: seed}, device.Float32)
		if err != nil {
			t.Fatal(err)
		}
		fakes[broken].Fail = errors.New("it is broken")
		if _, err := k.AdvanceSeries(t.Context(), 0, []float64{.01}); err == nil {
			t.Errorf("GPU %d is broken, and nobody says so", broken)
		}
		_ = k.Close()
	}
}

// GPUs that wait for each other combine all rows seldom: so many times in a run, if nobody says how often.
func TestSyncByMessages(t *testing.T) {
	d, _ := byMessages(t, 2)
	peers := devicetest.New()
	peers.Parts = 2
	for _, x := range []struct{ tokens, rows, epochs, given, want, beside int }{
		{16_697_785, 70_000, 20, 0, 16_697_785, 2_609_020},                // once an epoch
		{16_697_785, 70_000, 5, 0, 5_565_929, 652_255},                    // three times
		{1_068_658_240, 1 << 20, 1, 0, 16_697_785, 8_348_892},             // 64 times, the last at the end
		{1_068_658_240, 1 << 20, 20, 0, 16_697_785, 1 << 24},              // about as often
		{1000, 50, 1, 0, 63, 7},                                           // a short text
		{10, 5, 1, 0, 1, 1},                                               // a shorter one
		{22_200_000_000, 111_000_000, 1, 0, 1_776_000_000, 1_776_000_000}, // to combine many rows takes long
		{30_000_000, 2_000_000, 1, 0, 30_000_000, 30_000_000},             // at the end of an epoch anyway
		{1_068_658_240, 70_000, 20, 1_000_000, 1_000_000, 1_000_000},      // what is given holds
	} {
		c := sequential.Options{Epochs: x.epochs, Sync: sequential.Sync{Words: x.given}}
		waits, err := device.SyncOf(d, x.tokens, x.rows, c)
		beside, err2 := device.SyncOf(peers, x.tokens, x.rows, c)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if waits.Words != x.want || beside.Words != x.beside {
			t.Errorf("%d tokens, %d epochs: every %d words, %d beside training; want %d, %d", x.tokens, x.epochs, waits.Words, beside.Words, x.want, x.beside)
		}
	}
	// A budget ends a run long before its epochs.
	budget := sequential.Options{Epochs: 1 << 22, RunTokens: 5 << 20}
	if s, err := device.SyncOf(peers, 1<<20, 50, budget); err != nil || s.Words != 5<<20/128 {
		t.Errorf("a budget of five epochs: every %d words, error %v", s.Words, err)
	}
	if s, err := device.SyncOf(d, 1<<20, 50, budget); err != nil || s.Words != 349_526 { // three times an epoch
		t.Errorf("a budget of five epochs: every %d words, error %v", s.Words, err)
	}
}
