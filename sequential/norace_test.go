//go:build !race

package sequential

// raceEnabled says that the race detector is on. It would report what Hogwild
// does on purpose, so tests train with one thread then.
const raceEnabled = false
