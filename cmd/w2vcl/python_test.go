package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// keywordClasses are classes of the Python module: flags of a command as keywords of a
// function, without its parameters.
var keywordClasses = []struct{ class, base, command, parameters string }{
	{"Settings", "TypedDict", "plan", "corpus mode dim out"},
	{"Training", "Settings", "train", "corpus mode dim out seeds"},
	{"Resumption", "TypedDict", "resume", "corpus"},
	{"Evaluation", "TypedDict", "eval", "data"},
	{"Conversion", "TypedDict", "convert", "words"},
	{"Variants", "TypedDict", "compare", "corpus modes out variant list"},
}

const keywordsHead = `"""Keywords, for type checkers. Made by go test ./cmd/w2vcl -run Keywords -update."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
`

var flagInText = regexp.MustCompile("--[a-z][a-z-]*")

// TestGoldenKeywords: type checkers of Python know all flags.
func TestGoldenKeywords(t *testing.T) {
	b := bytes.NewBufferString(keywordsHead)
	var names []string // of a class, with those of its base, which is the class before it
	for _, k := range keywordClasses {
		if k.base == "TypedDict" {
			names = nil
		}
		const head = "\n\nclass %s(%s, total=False):\n    \"\"\"Flags of w2vcl %s.\"\"\"\n\n"
		fmt.Fprintf(b, head, k.class, k.base, k.command)
		cmd, _, err := newRoot(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).Find([]string{k.command})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			for i, name := range namesOf(flag, strings.Fields(k.parameters+" json quiet help")) {
				if name = strings.ReplaceAll(name, "-", "_"); slices.Contains(names, name) {
					continue
				}
				_, help := pflag.UnquoteUsage(flag)
				if i > 0 {
					help = "another name of --" + flag.Name
				} else if help == "" {
					help = "as in gensim"
				}
				help = flagInText.ReplaceAllStringFunc(help, func(name string) string {
					return strings.ReplaceAll(name[2:], "-", "_")
				})
				names = append(names, name)
				fmt.Fprintf(b, "    %s: %s | None  #: %s\n", name, pythonType(flag, k.command), help)
			}
		})
	}
	path := filepath.Join("..", "..", "python", "src", "w2vcl", "_keywords.py")
	is, err := os.ReadFile(path)
	if *update {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	} else if err == nil && !bytes.Equal(is, b.Bytes()) {
		t.Errorf("%s is out of date: go test ./cmd/w2vcl -run %s -update", path, t.Name())
	}
	if err != nil {
		t.Error(err)
	}
}

// namesOf returns names of a flag that are no parameters, its own first.
func namesOf(flag *pflag.Flag, parameters []string) (names []string) {
	setting, _ := flag.Value.(cli.SettingValue)
	if !slices.Contains(parameters, flag.Name) {
		names = append(names, flag.Name)
	} else if flag.Name == "corpus" || flag.Name == "out" {
		return nil
	}
	return append(names, setting.Aliases...)
}

// pythonType returns the type of a flag's value. A comparison also takes lists.
func pythonType(flag *pflag.Flag, command string) (name string) {
	_, isSetting := flag.Value.(cli.SettingValue)
	value, _ := pflag.UnquoteUsage(flag)
	switch kind := flag.Value.Type(); {
	case kind == "bool":
		name = "bool | int" // gensim has hs=0
	case kind == "int" || kind == "uint64" || kind == "0|1" || strings.HasPrefix(kind, "whole number"):
		name = "int"
	case kind == "number" || kind == "float64":
		name = "float"
	case slices.Contains([]string{"PATH", "FILE", "DIR", "DIR|VECTORS"}, value), flag.Name == "tokenizer": // tokenizer.json
		name = "Path"
	case slices.Contains([]string{"N", "LIST", "FRACTIONS"}, value):
		name = "str | float | Sequence[float]"
	case flag.Name == "checkpoint": // a time, or a number of iterations
		name = "str | int"
	default:
		name = "str"
	}
	if isSetting && command == "compare" {
		name += " | Sequence[" + name + "]"
	}
	return name
}
