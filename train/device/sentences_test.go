package device_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Several GPUs train every sentence once in an epoch, to nearly the loss of one, and go on from the state of any other number.
func TestSeveralGPUsOfSentences(t *testing.T) {
	for _, x := range []struct {
		algorithm sequential.Algorithm
		rule      sequential.Rule
	}{
		{sequential.FullW2V, sequential.Adasum}, {sequential.Word2Vec, sequential.Touched}, {sequential.PWord2Vec, sequential.Mean}, {sequential.PARW2V, sequential.Sum},
	} {
		seed := freshSeed(t)
		c, noise := text(t, seed, 2000)
		options := sequential.Options{
			Algorithm: x.algorithm, Dim: 6, Window: 3, Negatives: 2, Epochs: 4, Seed: seed,
			Sync: sequential.Sync{Rule: x.rule, Words: 200, HotWords: 50, Hot: 5},
		}
		// trained trains the first epochs on so many GPUs, and the others on so many others.
		trained := func(gpus, then int) (loss, pairs float64, words []float32) {
			var state []trainer.Tensor
			for half, n := range []int{gpus, then} {
				fake := devicetest.New()
				fake.Parts = n
				k, err := device.NewSequential(fake, c, noise, options, device.Float32)
				if err != nil {
					t.Fatal(err)
				}
				for i, tensor := range state {
					copy(k.State()[i].Data, tensor.Data)
				}
				k.Push()
				units := k.Units() / 2
				for _, r := range train(t, k, half*units, (half+1)*units) {
					loss, pairs = loss+r.Loss, pairs+r.Pairs
				}
				if err := k.Pull(true); err != nil {
					t.Fatal(err)
				}
				state = nil
				for _, tensor := range k.State() {
					state = append(state, trainer.Tensor{Name: tensor.Name, Data: slices.Clone(tensor.Data)})
				}
				if err := errors.Join(k.Close(), fake.Close()); err != nil {
					t.Error(err)
				}
			}
			return loss, pairs, state[0].Data
		}
		one, pairs, _ := trained(1, 1)
		groups := [][2]int{{8, 4}, {1, 2}, {2, 2}, {4, 1}}
		if testing.Short() {
			groups = groups[:1]
		}
		for _, gpus := range groups {
			loss, n, words := trained(gpus[0], gpus[1])
			if n != pairs {
				t.Errorf("%s on %d GPUs and then %d: %v pairs, one has %v", x.algorithm, gpus[0], gpus[1], n, pairs)
			}
			if !(math.Abs(loss-one) < .1*one) {
				t.Errorf("%s on %d GPUs and then %d: loss %v, that of one %v", x.algorithm, gpus[0], gpus[1], loss, one)
			}
			if _, _, again := trained(gpus[0], gpus[1]); !slices.Equal(words, again) {
				t.Errorf("%s on %d GPUs and then %d: two runs differ", x.algorithm, gpus[0], gpus[1])
			}
		}
	}
}

// Several GPUs have a part of the text each, and of what was combined last.
func TestMemoryOfSentences(t *testing.T) {
	c, _ := text(t, 1, 200_000)
	for _, precision := range []device.Precision{device.Float32, device.Half, device.HalfTables} {
		var before int64
		for _, gpus := range []int{1, 2, 4, 8} {
			bytes, err := device.MemorySequential(c, sequential.Options{Algorithm: sequential.FullW2V, Dim: 1, Epochs: 1}, precision, plenty, gpus)
			if err != nil {
				t.Fatal(err)
			}
			if before > 0 && bytes >= before {
				t.Errorf("%s: %d GPUs need %d bytes each, half as many %d", precision, gpus, bytes, before)
			}
			before = bytes
		}
	}
}

// Short sentences that lie together take more memory than the mean of a text does. What is planned for a text that does not fit is
// what the kernels take: it stays within what is free, and within the plan.
func TestMemoryOfShortSentences(t *testing.T) {
	seed := freshSeed(t)
	var lines []string
	for range 5_000 {
		lines = append(lines, "a b")
	}
	for range 100 {
		lines = append(lines, strings.Repeat("a b c d e ", 200))
	}
	c, noise := corpustest.Read(t, strings.Join(lines, "\n"))
	options := sequential.Options{Algorithm: sequential.FullW2V, Dim: 7, Window: 5, Negatives: 1, Epochs: 1, Seed: seed, Threads: 1}
	memory := func(free int64) int64 {
		bytes, err := device.MemorySequential(c, options, device.Float32, free, 1)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	starts := c.Sentences
	all, least := memory(plenty), memory(0)
	others := all - int64(4*len(c.Tokens)+12*(len(starts)-1)+8)
	for free := least; free < all; free += (all - least) / 7 {
		fake := devicetest.New()
		fake.Free = free
		k, err := device.NewSequential(fake, c, noise, options, device.Float32)
		if err != nil {
			t.Fatal(err)
		}
		tokens, units, sentences := fake.Sentence.TextTokens/2, fake.Sentence.Units, 0
		for u := range len(units) - 1 {
			for end := u + 1; end < len(units) && starts[units[end]]-starts[units[u]] <= tokens; end++ {
				sentences = max(sentences, units[end]-units[u])
			}
		}
		takes := others + int64(2*(4*tokens+12*sentences+8))
		if planned := memory(free); takes > planned || takes > free {
			t.Errorf("%d bytes free, %d planned: %d tokens and %d sentences in each buffer take %d", free, planned, tokens, sentences, takes)
		}
		if err := errors.Join(k.Close(), fake.Close()); err != nil {
			t.Error(err)
		}
	}
}
