package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/cmd/internal/clitest"
	"github.com/w2vcl/w2vcl/train/settings"
)

func TestDocumentsNameWhatThereIs(t *testing.T) {
	clitest.CheckDocuments(t, newRoot(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// TestGuideHasEveryMode: the table of modes in the guide is complete.
func TestGuideHasEveryMode(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range settings.ModeNames() {
		if !strings.Contains(string(guide), "\n| `"+name+"` | ") {
			t.Errorf("the table of modes in docs/guide.md lacks %s", name)
		}
	}
}
