package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/settings"
)

// encodersBegin is the line of docs/subword.md behind which the table of encoders stands.
const encodersBegin = "<!-- Made by go test ./cmd/w2vcl -run TestGoldenEncoders -update -->\n"

// TestGoldenEncoders: docs/subword.md says which encoders train in which modes and on which devices, as settings do.
func TestGoldenEncoders(t *testing.T) {
	checkMade(t, "subword.md", encodersBegin, encodersTable())
}

// TestNetworkOfARun: another process than the one that trained composes the same vectors. They are those of spelling alone, of which
// three characters are read: w10zz has that of w10.
func TestNetworkOfARun(t *testing.T) {
	for _, n := range subword.Networks() {
		t.Run(n.Name, func(t *testing.T) { testNetworkOfARun(t, n.Name) })
	}
}

func testNetworkOfARun(t *testing.T, name string) {
	r := newRun(t, "--model", "sg", "--subword", name, "--compose", "spelling", "--context-weight", "0", "--max-chars", "3", "--iterations", "8")
	r.must(r.train())
	trained, err := embedding.Load(t.Context(), filepath.Join(r.out, "vectors.bin"))
	if err != nil {
		t.Fatal(err)
	}
	rows, args := []int(nil), []string{"vector", r.out, "--json"}
	for row, word := range trained.Words {
		if len(word) == 3 {
			rows, args = append(rows, row), append(args, word+"zz")
		}
	}
	var composed []wordVector
	if output, err := w2vclCommand(t, args...).Output(); err != nil || json.Unmarshal(output, &composed) != nil || len(composed) < 20 {
		t.Fatalf("%d vectors, error %v", len(composed), err)
	}
	for i, row := range rows {
		for k, want := range trained.Vector(row) {
			if got := composed[i].Vector[k]; math.Abs(float64(got-want)) > 1e-6 || composed[i].Source != subword.Source(name) {
				t.Fatalf("%s from %s: value %d is %v, trained %v", composed[i].Word, composed[i].Source, k, got, want)
			}
		}
	}
}

// encodersTable writes what settings allow: a row for each mode or model that trains an encoder, a column for each encoder.
func encodersTable() []byte {
	columns := []map[string]string{{"subword": settings.SubwordNGram}, {"subword": settings.SubwordCNN}, {"subword": settings.SubwordCNN, "gram": "1-5"}}
	for _, n := range subword.Networks()[1:] {
		columns = append(columns, map[string]string{"subword": n.Name})
	}
	var b bytes.Buffer
	b.WriteString("|")
	for _, c := range columns {
		name := c["subword"]
		if c["gram"] != "" {
			name += " --gram " + c["gram"]
		}
		fmt.Fprintf(&b, " | `%s`", name)
	}
	fmt.Fprintf(&b, " |\n|%s\n", strings.Repeat("---|", 1+len(columns)))
	for _, row := range encoderModes() {
		line, some := "| `"+row[0]+"`", false
		for _, c := range columns {
			on := trainsOn(row[1:], c)
			some = some || on != ""
			line += " | " + cmp.Or(on, "–")
		}
		if some {
			b.WriteString(line + " |\n")
		}
	}
	return b.Bytes()
}

// encoderModes returns names of modes, each with the mode and the model.
func encoderModes() (all [][]string) {
	for _, m := range settings.Modes() {
		if m.Name == settings.ModeCL {
			all = append(all, []string{"cl --model sg", m.Name, settings.ModelSkipGram}, []string{"cl with CBOW", m.Name, settings.ModelPositional})
			continue
		}
		all = append(all, []string{m.Name, m.Name, ""})
	}
	return all
}

func trainsOn(mode []string, encoder map[string]string) string {
	var devices []string
	for _, d := range []struct{ device, name string }{{settings.DeviceCPU, "CPU"}, {"cuda", "GPU"}, {"cuda:0,1", "GPUs"}} {
		given := map[string]string{"corpus": "x", "mode": mode[0], "device": d.device}
		if mode[1] != "" {
			given["model"] = mode[1]
		}
		for name, text := range encoder {
			given[name] = text
		}
		c, err := settings.Resolve("", given)
		if err == nil {
			err = c.Validate()
		}
		// A program without CUDA says so first, before it looks at settings that the CPU would refuse as well.
		if err == nil || len(devices) > 0 && strings.Contains(err.Error(), device.ErrNotBuilt.Error()) {
			devices = append(devices, d.name)
		}
	}
	return strings.Join(devices, ", ")
}
