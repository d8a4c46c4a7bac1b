package device_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes sure that no goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
