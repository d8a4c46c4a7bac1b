package train

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// TestMain makes sure that no goroutine outlives the tests.
func TestMain(m *testing.M) {
	testfiles.InMemory()
	goleak.VerifyTestMain(m)
}
