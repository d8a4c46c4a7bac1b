package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/testfiles"
	"github.com/w2vcl/w2vcl/train/device"
)

// TestMain runs the tests. The test binary stands in for w2vcl in the scripts. No goroutine may outlive the tests.
func TestMain(m *testing.M) {
	testscript.Main(withoutLeaks{m}, map[string]func(){"w2vcl": main})
}

type withoutLeaks struct{ *testing.M }

// Run runs all tests.
func (m withoutLeaks) Run() int {
	testfiles.InMemory()
	code := m.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// TestScript runs the black-box tests, testdata/script/*.txtar. The commands
// added to those of testscript are:
//
//	exit CODE COMMAND...    run a command that must end with that exit code
//	text FILE WORDS SEED    write a small text
//	truncate FILE BYTES     cut a file, or fill it up with NUL
//	base64 FROM TO          decode a file
//	isempty FOLDER          fail if there is anything in a folder
//	hardlink OLD NEW        give a file another name
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOGC", "400") // heaps are small here
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit":     exitCommand,
			"text":     textCommand,
			"truncate": truncateCommand,
			"isempty":  isEmptyCommand,
			"base64":   base64Command,
			"hardlink": hardLinkCommand,
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "gpu": // the kernels are built in
				return device.Built, nil
			case "root": // permissions do not bind the superuser
				return os.Geteuid() == 0, nil
			default:
				return false, fmt.Errorf("unknown condition %q", condition)
			}
		},
	})
}

func exitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("cannot run %s: %v", args[1], err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func textCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: text FILE WORDS SEED")
	}
	words, err := strconv.Atoi(args[1])
	ts.Check(err)
	seed, err := strconv.ParseUint(args[2], 10, 64)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), makeText(words, seed), 0o600))
}

func truncateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func isEmptyCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: isempty FOLDER")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %s", args[0], entries[0].Name())
	}
}

func base64Command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: base64 FROM TO")
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

func hardLinkCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hardlink OLD NEW")
	}
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// makeText writes sentences of ten words from a vocabulary of 60. A sentence has words
// of one of three topics, so that there is something to learn: w0, w3, w6, ... belong
// together, and so on.
func makeText(words int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	var text bytes.Buffer
	for i := 0; i < words; i += 10 {
		topic := random.IntN(3)
		for range 10 {
			fmt.Fprintf(&text, "w%d ", topic+3*int(20*math.Pow(random.Float64(), 1.5)))
		}
		text.WriteByte('\n')
	}
	return text.Bytes()
}
