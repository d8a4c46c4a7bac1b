package wordmap

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// A Place is a point of the plane.
type Place struct{ X, Y float64 }

func (p Place) finite() bool {
	return !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X+p.Y, 0)
}

// pca projects n points of the given dimension, one after the other, on the two directions in which they vary most.
func pca(points []float32, dim int) []Place {
	n := len(points) / dim
	places := make([]Place, n)
	if n == 0 {
		return places
	}
	values := make([]float64, len(points))
	for i, x := range points {
		values[i] = float64(x)
	}
	rows := mat.NewDense(n, dim, values)
	var components stat.PC
	if !components.PrincipalComponents(rows, nil) {
		return places
	}
	var directions, projected mat.Dense
	components.VectorsTo(&directions)
	projected.Mul(rows, &directions)
	_, found := projected.Dims() // a single point or dimension has one direction
	for i := range places {
		places[i].X = projected.At(i, 0)
		if found > 1 {
			places[i].Y = projected.At(i, 1)
		}
	}
	return places
}
