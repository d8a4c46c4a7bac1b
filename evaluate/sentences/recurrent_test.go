package sentences

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainRecurrentLoss is the definition of the LSTM, in float64, without dropout.
func plainRecurrentLoss(n *network, sentences []sentence) (loss float64) {
	var values [][]float32
	var columns []int
	for _, p := range n.parameters {
		values, columns = append(values, p.dense.Float32s()), append(columns, p.dense.Shape()[1])
	}
	value := func(parameter, row, column int) float64 {
		return float64(values[parameter][row*columns[parameter]+column])
	}
	sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, s := range sentences {
		h, c := make([]float64, units), make([]float64, units)
		for _, word := range s.Words[max(0, len(s.Words)-n.recurrent.steps):] {
			var sums [gates][units]float64
			for k := range sums {
				for j := range units {
					sums[k][j] = value(2*k, n.dim, j)
					for d := range n.dim {
						if word >= 0 {
							sums[k][j] += float64(n.vectors[int(word)*n.dim+d]) * value(2*k, d, j)
						}
					}
					for d := range units {
						sums[k][j] += h[d] * value(2*k+1, d, j)
					}
				}
			}
			for j := range units {
				c[j] = sigma(sums[1][j])*c[j] + sigma(sums[0][j])*math.Tanh(sums[3][j])
				h[j] = sigma(sums[2][j]) * math.Tanh(c[j])
			}
		}
		logits, sum := make([]float64, n.classes), 0.0
		for k := range logits {
			logits[k] = value(2*gates, units, k)
			for j := range units {
				logits[k] += h[j] * value(2*gates, j, k)
			}
			sum += math.Exp(logits[k])
		}
		loss += math.Log(sum) - logits[s.Class]
	}
	return loss
}

// TestRecurrent is TestNetwork for the LSTM.
func TestRecurrent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, size := range []struct{ dim, classes, batch, sentences, steps int }{{4, 2, 3, 3, 6}, {3, 3, 4, 2, 9}, {1, 2, 1, 1, 1}} {
		const v = 9
		n, err := newRecurrent(&networkOptions{Vectors: randomVectors(random, v*size.dim), Dim: size.dim, Classes: size.classes, Threads: 2, Seed: 7}, size.batch, size.steps)
		if err != nil {
			t.Fatal(err)
		}
		checkNetwork(t, random, n, randomSentences(random, size.sentences, 8, v, size.classes), plainRecurrentLoss, 5)
	}
}

// TestRecurrentLearns: which of two words came last, however long ago.
func TestRecurrentLearns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	lastWords := func(count int) []sentence {
		sentences := make([]sentence, count)
		for i := range sentences {
			words := make([]int32, 4+random.IntN(4))
			for k := range words {
				words[k] = int32(2 + random.IntN(18))
			}
			class := random.IntN(2)
			words[0], words[1+random.IntN(len(words)-1)] = int32(1-class), int32(class)
			sentences[i] = sentence{Words: words, Class: class}
		}
		return sentences
	}
	c := networkOptions{Vectors: randomVectors(random, 20*10), Dim: 10, Classes: 2, Seed: 1, Recurrent: true, Threads: 3}
	training, dev, test := lastWords(400), lastWords(60), lastWords(100)
	if right, err := rightAnswers(t.Context(), c, training, dev, test); err != nil || right < 85 {
		t.Errorf("%d of 100 right (%v)", right, err)
	}
}

// TestPlaces: a network that knows the places of two words learns whether they are neighbours; one
// that does not has only chance.
func TestPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 3))
	related := func(count int) []sentence {
		sentences := make([]sentence, count)
		for i := range sentences {
			words := make([]int32, 14)
			for k := range words {
				words[k] = int32(random.IntN(20))
			}
			class := random.IntN(2)
			first := random.IntN(8)
			sentences[i] = sentence{Words: words, Class: class, Ends: [2]int{first, first + 1 + 3*class}}
		}
		return sentences
	}
	c := networkOptions{Vectors: randomVectors(random, 20*10), Dim: 10, Classes: 2, Seed: 1}
	training, dev, test := related(500), related(80), related(100)
	for _, c.Places = range []bool{false, true} {
		right, err := rightAnswers(t.Context(), c, training, dev, test)
		if err != nil || c.Places != (right > 90) || right < 30 {
			t.Errorf("places %v: %d of 100 right (%v)", c.Places, right, err)
		}
	}
	test[0].Ends[1] = 14
	c.Places = true
	if _, err := rightAnswers(t.Context(), c, training, dev, test); err == nil {
		t.Error("an end outside of its sentence is no error")
	}
}
