package cl

import (
	"cmp"
	"math"
	"slices"
)

// The warps of a thread block, or of a group in one, train a tile: eight jobs, a warp each. A job is a row with its samples, or
// a piece of a row that has more than so many; then the tile has all pieces of the row, side by side, and none of rows with
// fewer or more pieces.
const (
	tileRows      = 8 // as in dense.cuh
	samplesOfWarp = 16
	noRow         = math.MaxUint32 // none of job.cuh
)

// A rowJob is a piece of the samples of a row, or of number row of a list; of a noRow it is none. Kernels
// read it as two uint32.
type rowJob struct {
	row           uint32
	piece, pieces uint16
}

// piecesOf returns how many warps share a row of so many samples.
func piecesOf(samples, ofWarp uint32) uint16 {
	pieces := uint16(1)
	for pieces < tileRows && samples > uint32(pieces)*ofWarp {
		pieces *= 2
	}
	return pieces
}

// mostJobs returns how many jobs rows with so many samples in all have at most. A row of several pieces has half of what a
// warp should have for each at least.
func mostJobs(rows, samples, ofWarp int) int {
	return (rows+2*samples/ofWarp)/tileRows*tileRows + 5*tileRows
}

// appendTiles appends the jobs of some rows to those of whole tiles: rows of most samples come first.
func appendTiles(jobs []rowJob, rows []uint32, ofWarp uint32, samples func(row uint32) uint32) []rowJob {
	slices.SortStableFunc(rows, func(a, b uint32) int { return cmp.Compare(samples(b), samples(a)) })
	pieces := uint16(tileRows)
	for _, row := range rows {
		if own := piecesOf(samples(row), ofWarp); own < pieces {
			jobs, pieces = fillTile(jobs, pieces), own
		}
		for piece := range pieces {
			jobs = append(jobs, rowJob{row: row, piece: piece, pieces: pieces})
		}
	}
	return fillTile(jobs, pieces)
}

// fillTile ends a tile whose rows have so many pieces.
func fillTile(jobs []rowJob, pieces uint16) []rowJob {
	for len(jobs)%tileRows > 0 {
		jobs = append(jobs, rowJob{row: noRow, pieces: pieces})
	}
	return jobs
}
