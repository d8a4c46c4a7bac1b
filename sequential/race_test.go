//go:build race

package sequential

const raceEnabled = true
