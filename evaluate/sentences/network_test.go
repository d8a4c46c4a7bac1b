package sentences

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomSentences makes sentences of up to length words of v, some unknown.
func randomSentences(random *rand.Rand, count, length, v, classes int) []sentence {
	sentences := make([]sentence, count)
	for i := range sentences {
		sentences[i].Class = random.IntN(classes)
		for range random.IntN(length + 1) {
			sentences[i].Words = append(sentences[i].Words, int32(random.IntN(v+1)-1))
		}
	}
	return sentences
}

func randomVectors(random *rand.Rand, values int) []float32 {
	vectors := make([]float32, values)
	for i := range vectors {
		vectors[i] = float32(random.NormFloat64())
	}
	return vectors
}

// plainLoss is the definition of the network, in float64, without dropout.
func plainLoss(n *network, sentences []sentence) float64 {
	var loss float64
	layer := n.parameters[len(widths)].dense.Float32s()
	for _, s := range sentences {
		logits := make([]float64, n.classes)
		for k := range logits {
			logits[k] = float64(layer[len(widths)*filters*n.classes+k])
		}
		for w, width := range widths {
			values := n.parameters[w].dense.Float32s()
			size := width*n.dim + 1
			for f := range filters {
				largest := math.Inf(-1)
				for first := 0; first == 0 || first+width <= len(s.Words); first++ {
					score := float64(values[f*size+size-1])
					for k := range width {
						if first+k >= len(s.Words) || s.Words[first+k] < 0 {
							continue
						}
						for d := range n.dim {
							score += float64(values[f*size+k*n.dim+d]) * float64(n.vectors[int(s.Words[first+k])*n.dim+d])
						}
					}
					largest = max(largest, score)
				}
				for k := range logits {
					logits[k] += max(largest, 0) * float64(layer[(w*filters+f)*n.classes+k])
				}
			}
		}
		sum := 0.0
		for _, x := range logits {
			sum += math.Exp(x)
		}
		loss += math.Log(sum) - logits[s.Class]
	}
	return loss
}

// rightAnswers is classify, but returns how many sentences of test get the right class.
func rightAnswers(ctx context.Context, c networkOptions, training, dev, test []sentence) (right int, err error) {
	found, err := classify(ctx, c, training, dev, test)
	return count(found, test), err
}

// TestNetwork compares the loss with its definition and the gradients with
// differences of the definition, for batches that are full and not.
func TestNetwork(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, size := range []struct{ dim, classes, batch, sentences int }{{4, 2, 5, 5}, {3, 3, 6, 2}, {1, 4, 1, 1}} {
		const v = 9
		n, err := newConvolutional(&networkOptions{Vectors: randomVectors(random, v*size.dim), Dim: size.dim, Classes: size.classes, Threads: 2, Seed: 7}, size.batch)
		if err != nil {
			t.Fatal(err)
		}
		checkNetwork(t, random, n, randomSentences(random, size.sentences, 8, v, size.classes), plainLoss, 40)
	}
}

// checkNetwork compares the loss with its definition plain, the gradients with differences of it, so many
// of each parameter, and the prediction, which does without the graph. It closes the network.
func checkNetwork(t *testing.T, random *rand.Rand, n *network, sentences []sentence, plain func(*network, []sentence) float64, differences int) {
	t.Helper()
	size := fmt.Sprintf("dim %d, %d classes, batches of %d, %d sentences", n.dim, n.classes, n.batch, len(sentences))
	if err := n.gradients(sentences, false); err != nil {
		t.Fatal(err)
	}
	loss, err := n.lossValue()
	if err != nil {
		t.Fatal(err)
	}
	if want := plain(n, sentences); math.Abs(loss-want) > 1e-4*want {
		t.Errorf("%s: loss %v, want %v", size, loss, want)
	}
	for i, p := range n.parameters {
		values := p.dense.Float32s()
		gradient := append([]float32(nil), p.gradient.Value().Data().([]float32)...)
		for range differences {
			k := random.IntN(len(values))
			const h = 1e-3
			old := values[k]
			values[k] = old + h
			above := plain(n, sentences)
			values[k] = old - h
			below := plain(n, sentences)
			values[k] = old
			step := float64(old+h) - float64(old-h)
			if want := (above - below) / step; math.Abs(float64(gradient[k])-want) > 2e-3*max(1, math.Abs(want)) {
				t.Errorf("%s: gradient of parameter %d, value %d, is %v, want %v", size, i, k, gradient[k], want)
			}
		}
	}
	logits, err := n.logits(sentences)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, s := range sentences {
		row, total := logits[i*n.classes:][:n.classes], 0.0
		for _, x := range row {
			total += math.Exp(float64(x))
		}
		sum += math.Log(total) - float64(row[s.Class])
	}
	if math.Abs(sum-loss) > 1e-4*loss {
		t.Errorf("%s: prediction has loss %v, the graph %v", size, sum, loss)
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
}

// ordered makes a task that only the order of two words tells: class 1 has
// word 0 just before word 1 somewhere, class 0 the other way round.
func ordered(random *rand.Rand, count int) []sentence {
	sentences := make([]sentence, count)
	for i := range sentences {
		words := make([]int32, 4+random.IntN(10))
		for k := range words {
			words[k] = int32(2 + random.IntN(18))
		}
		at, class := random.IntN(len(words)-1), random.IntN(2)
		words[at+1-class], words[at+class] = 0, 1
		sentences[i] = sentence{Words: words, Class: class}
	}
	return sentences
}

// TestLearnsOrder: the network tells sentences apart that have the same words,
// and it does so the same on any number of threads.
func TestLearnsOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	c := networkOptions{Vectors: randomVectors(random, 20*10), Dim: 10, Classes: 2, Seed: 1}
	training, dev, test := ordered(random, 800), ordered(random, 100), ordered(random, 200)
	var results []int
	for _, c.Threads = range []int{1, 3} {
		right, err := rightAnswers(t.Context(), c, training, dev, test)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, right)
	}
	if results[0] < 180 {
		t.Errorf("%d of 200 right", results[0])
	}
	if results[0] != results[1] {
		t.Errorf("%d right on one thread, %d on three", results[0], results[1])
	}
	for i := range training { // without anything to learn there is only chance
		training[i].Class = random.IntN(2)
	}
	right, err := rightAnswers(t.Context(), c, training, dev, test)
	if err != nil || right < 60 || right > 140 {
		t.Errorf("%d of 200 right after training on nothing (%v)", right, err)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	good := []sentence{{Words: []int32{0, 1}, Class: 1}}
	c := networkOptions{Vectors: make([]float32, 6), Dim: 3, Classes: 2}
	for name, test := range map[string]func() (networkOptions, []sentence){
		"no sentences":  func() (networkOptions, []sentence) { return c, nil },
		"unknown class": func() (networkOptions, []sentence) { return c, []sentence{{Class: 2}} },
		"unknown word":  func() (networkOptions, []sentence) { return c, []sentence{{Words: []int32{2}}} },
		"one class": func() (networkOptions, []sentence) {
			return networkOptions{Vectors: c.Vectors, Dim: 3, Classes: 1}, good
		},
		"odd vectors": func() (networkOptions, []sentence) {
			return networkOptions{Vectors: c.Vectors, Dim: 4, Classes: 2}, good
		},
	} {
		config, sentences := test()
		if _, err := rightAnswers(t.Context(), config, sentences, good, good); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rightAnswers(ctx, c, good, good, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
