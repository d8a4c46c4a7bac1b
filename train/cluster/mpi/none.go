//go:build !mpi

package mpi

import (
	"errors"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// Built reports whether this program can use MPI.
const Built = false

// A Comm joins the processes of a launcher.
type Comm struct{ cluster.Comm }

var errNotBuilt = errors.New("this program was built without MPI: build it with -tags mpi")

// Start refuses: the program was built without MPI.
func Start() (*Comm, error) { return nil, errNotBuilt }

// Find refuses, too.
func Find() (Library, error) { return Library{}, errNotBuilt }

// About is empty.
func (*Comm) About() string { return "" }

// Close does nothing.
func (*Comm) Close() error { return nil }
