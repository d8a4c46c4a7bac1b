package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
)

// An EncoderKind names an encoder to measure.
type EncoderKind string

// The encoders, in the shapes that training has by default. CNN and NGram add a
// vector of each word's own; CNNAlone does not.
const (
	NoEncoder EncoderKind = "none"
	CNN       EncoderKind = "cnn"
	CNNAlone  EncoderKind = "cnn-alone"
	NGram     EncoderKind = "ngram"
)

// EncoderKinds lists all, the default first.
func EncoderKinds() []EncoderKind { return []EncoderKind{NoEncoder, CNN, CNNAlone, NGram} }

// An EncoderResult says how long a step takes that trains an encoder: forward,
// loss, backward, and the update of all parameters.
type EncoderResult struct {
	Kind EncoderKind `json:"kind"`
	// Step is the time of step 1, which trains the encoder: an iteration minus a
	// step on tables, because step 2 trains a table.
	Step Measurement `json:"step_seconds"`
	// Ratio is the time of an iteration with the encoder, divided by the time of
	// one with two tables.
	Ratio float64 `json:"iteration_by_word_level"`
	Loss  float64 `json:"loss"`
}

// encoderChars is the length of the made-up words: 16 symbols with their two ends.
const encoderChars = 14

// newEncoder makes an encoder of random words. Early letters of the alphabet are
// more frequent in them than late ones.
func newEncoder(kind EncoderKind, vocabulary, dim int, seed uint64) (subword.Encoder, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	words := make([]string, vocabulary)
	for i := range words {
		var word [encoderChars]byte
		for j := range word {
			word[j] = byte('a' + min(r.IntN(26), r.IntN(26)))
		}
		words[i] = string(word[:])
	}
	const rate = .01
	var e subword.Encoder
	var err error
	switch kind {
	case CNN, CNNAlone:
		e, err = subword.NewCNN(words, subword.CNNOptions{Dim: dim, Rate: rate})
	case NGram:
		e, err = subword.NewNGrams(words, subword.NGramOptions{Dim: dim, Rate: rate})
	default:
		err = fmt.Errorf("encoder %q is unknown; it is one of %v", kind, EncoderKinds())
	}
	if err == nil && kind != CNNAlone {
		e = subword.WithWords(e)
	}
	return e, err
}

// measureEncoder measures the case once more, with its encoder.
func (r *DeviceResult) measureEncoder(ctx context.Context, d device.Device, text *Text, seed uint64, e Effort) error {
	encoder, err := newEncoder(r.Subword, r.Vocabulary, r.Dim, seed)
	if err != nil {
		return err
	}
	config := r.config(seed)
	config.Encoder = encoder
	need, err := device.MemoryCL(r.Vocabulary, r.Vocabulary, config, device.Float32, 1)
	if err != nil {
		return err
	}
	if free, _, err := d.Memory(); err != nil || need > free {
		return errors.Join(err, fmt.Errorf("%s needs %d bytes of device memory, and %d are free", r.Subword, need, free))
	}
	trainer, err := device.NewCL(d, text.Matrix, text.Noise, math.MaxInt32, config, device.Float32)
	if err != nil {
		return err
	}
	l := deviceLoop{ctx: ctx, trainer: trainer}
	var steps, iterations []float64
	for range e.Repeat {
		if _, err = l.run(0); err != nil {
			break
		}
		var mean float64 // of the two steps
		if mean, err = l.run(e.Time); err != nil {
			break
		}
		iterations = append(iterations, 2*mean)
		steps = append(steps, 2*mean-r.Step.Median)
	}
	if err := errors.Join(err, trainer.Close()); err != nil {
		return fmt.Errorf("%s: %w", r.Subword, err)
	}
	r.Encoder = &EncoderResult{
		Kind: r.Subword, Step: Measured(steps), Ratio: rate(Measured(iterations).Median, 2*r.Step.Median), Loss: l.loss,
	}
	return nil
}
