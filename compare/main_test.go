package compare

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// TestMain makes sure that no goroutine outlives the tests. Heaps are
// small here, and to collect garbage every 4 MB takes a third of the processors.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	testfiles.InMemory()
	goleak.VerifyTestMain(m)
}
