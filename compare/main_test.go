package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/internal/memorydisk"
	"github.com/w2vcl/w2vcl/train/progress"
)

// workerVariable has the options of a comparison that this binary is a process of, as JSON.
const workerVariable = "COMPARE_TEST_WORKER"

// TestMain makes sure that no goroutine outlives the tests. It also is a process of a pool. Heaps are
// small here, and to collect garbage every 4 MB takes a third of the processors.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	if job := os.Getenv(poolVariable); job != "" {
		poolProcess(job)
	}
	if text := os.Getenv(workerVariable); text != "" {
		var o experiment.Options
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = Work(context.Background(), o, Means{Progress: progress.New(os.Stderr)}, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	memorydisk.Use()
	goleak.VerifyTestMain(m)
}
