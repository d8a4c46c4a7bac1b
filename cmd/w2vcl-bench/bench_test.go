package main

import (
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "w2vcl-bench", main) }

func TestScript(t *testing.T) { clitest.Scripts(t) }

func TestCommandFiles(t *testing.T) { clitest.CheckFiles(t, newRoot(cli.Streams{}), commandFiles) }

func TestDocumentsNameWhatThereIs(t *testing.T) { clitest.CheckDocuments(t, newRoot(cli.Streams{})) }
