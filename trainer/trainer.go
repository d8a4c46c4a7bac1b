// Package trainer holds what all trainers share: the two values that they hand
// to the run loop, and how a word table starts. It exists so that the trainers'
// rooms need not import room train. Start at [Report] and [Tensor].
package trainer

// A Report says what one unit of training did. Counts are floating-point
// because a unit may stand for a fraction of a word.
type Report struct {
	Loss  float64 // summed over the pairs, natural logarithm
	Pairs float64 // pairs the loss was summed over; a pair is one dot product
	Words float64 // train words the unit stands for; 0 if the trainer cannot tell
}

// A Tensor is a named part of a trainer's state. Data is live: writing to it
// changes the trainer.
type Tensor struct {
	Name string
	Data []float32
}
