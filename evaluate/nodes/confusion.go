package nodes

import "slices"

// A confusion counts for each class the examples where it was found rightly, found
// wrongly, or missed.
type confusion struct{ right, wrong, missed []int }

func newConfusion(classes int) *confusion {
	return &confusion{make([]int, classes), make([]int, classes), make([]int, classes)}
}

// count adds one example: its classes and the classes that were found.
func (c *confusion) count(classes, found []int) {
	for _, class := range found {
		if slices.Contains(classes, class) {
			c.right[class]++
		} else {
			c.wrong[class]++
		}
	}
	for _, class := range classes {
		if !slices.Contains(found, class) {
			c.missed[class]++
		}
	}
}

// f1 is 2·right/(2·right + wrong + missed), 0 if nothing was found rightly.
func f1(right, wrong, missed int) float64 {
	if right == 0 {
		return 0
	}
	return 2 * float64(right) / float64(2*right+wrong+missed)
}

// micro returns the F1 of all classes together.
func (c *confusion) micro() float64 {
	var right, wrong, missed int
	for k := range c.right {
		right, wrong, missed = right+c.right[k], wrong+c.wrong[k], missed+c.missed[k]
	}
	return f1(right, wrong, missed)
}

// macro returns the mean of all classes' F1.
func (c *confusion) macro() float64 { return c.mean(func(int) bool { return true }) }

// macroSeen is macro of the classes that examples have or that were found.
func (c *confusion) macroSeen() float64 {
	return c.mean(func(k int) bool { return c.right[k]+c.wrong[k]+c.missed[k] > 0 })
}

func (c *confusion) mean(counts func(class int) bool) float64 {
	sum, n := 0.0, 0
	for k := range c.right {
		if counts(k) {
			sum += f1(c.right[k], c.wrong[k], c.missed[k])
			n++
		}
	}
	return sum / float64(max(n, 1))
}
