package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train/settings"
)

// An intList is the value of a flag: whole numbers from 1 up, with commas between
// them.
type intList []int

// Set reads the list.
func (l *intList) Set(text string) error {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%q is not a whole number from 1 up (lists have commas: 1,2,4)", part)
		}
		list = append(list, n)
	}
	*l = list
	return nil
}

func (l *intList) String() string { return strings.Join(cli.Texts(*l, strconv.Itoa), ",") }

// Type names the kind of value in help.
func (l *intList) Type() string { return "list" }

// A nameList is the value of a flag: some of its choices, with commas between them.
type nameList[T ~string] struct{ names, choices []T }

// newNameList returns a list of the first choice, which is the default.
func newNameList[T ~string](choices []T) nameList[T] { return nameList[T]{choices[:1], choices} }

// Set reads the list.
func (l *nameList[T]) Set(text string) error {
	var names []T
	for part := range strings.SplitSeq(text, ",") {
		name := T(strings.TrimSpace(part))
		if !slices.Contains(l.choices, name) {
			return fmt.Errorf("%q is none of %s", part, strings.Join(cli.Plain(l.choices), ", "))
		}
		names = append(names, name)
	}
	l.names = names
	return nil
}

func (l *nameList[T]) String() string { return strings.Join(cli.Plain(l.names), ",") }

// Type names the kind of value in help.
func (l *nameList[T]) Type() string { return "list" }

// usage describes the value in help, with its choices.
func (l *nameList[T]) usage() string { return "`LIST` of " + cli.Enumerate(cli.Plain(l.choices)) }

// choicesOf lists the choices of a setting.
func choicesOf[T ~string](name string) []T {
	s, _ := settings.Find(name)
	return cli.Texts(s.Choices, func(c settings.Choice) T { return T(c.Name) })
}
