package cl

import (
	"cmp"
	"math"
	"slices"
)

// The warps of a thread block, or of a group in one, train a tile of eight jobs, one for each warp. A job is a row with its
// samples. A row with more samples than a warp should have is divided into pieces, with a job for each. A tile holds all
// pieces of a row, side by side, and only rows with the same number of pieces.
const (
	tileRows      = 8 // as in dense.cuh
	samplesOfWarp = 16
	noRow         = math.MaxUint32 // none of job.cuh
)

// A rowJob is a piece of the samples of a row, or of entry row of a list. A job with noRow is empty. Kernels
// read it as two uint32.
type rowJob struct {
	row           uint32
	piece, pieces uint16
}

// piecesOf returns how many warps share a row with this many samples.
func piecesOf(samples, ofWarp uint32) uint16 {
	pieces := uint16(1)
	for pieces < tileRows && samples > uint32(pieces)*ofWarp {
		pieces *= 2
	}
	return pieces
}

// mostJobs returns an upper bound of the jobs for rows with this many samples in all. Where a row has several pieces, each
// piece has at least half the samples that a warp should have.
func mostJobs(rows, samples, ofWarp int) int {
	return (rows+2*samples/ofWarp)/tileRows*tileRows + 5*tileRows
}

// appendTiles appends the jobs of rows to whole tiles. Rows with the most samples come first.
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

// fillTile fills the last tile, whose rows have this many pieces, with empty jobs.
func fillTile(jobs []rowJob, pieces uint16) []rowJob {
	for len(jobs)%tileRows > 0 {
		jobs = append(jobs, rowJob{row: noRow, pieces: pieces})
	}
	return jobs
}
