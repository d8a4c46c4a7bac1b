package train

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/memorydisk"
)

// TestMain makes sure that no goroutine outlives the tests.
func TestMain(m *testing.M) {
	memorydisk.Use()
	goleak.VerifyTestMain(m)
}
