//go:build mpi

package cluster

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ebitengine/purego"
)

// An abi holds the constants that an MPI library is called with. Those of Open MPI
// are addresses in the library.
type abi struct {
	name         string
	world        uintptr // MPI_COMM_WORLD
	byte         uintptr // MPI_BYTE
	inPlace      uintptr // MPI_IN_PLACE
	errorsReturn uintptr // MPI_ERRORS_RETURN
	serialized   int32   // MPI_THREAD_SERIALIZED
}

// The numbers are those of mpi.h of MPICH 4 (its ABI initiative has kept them since 3.1),
// and of the MPI standard 5.0, appendix A.
var (
	mpich = abi{
		name: "MPICH", world: 0x44000000, byte: 0x4c00010d,
		inPlace: ^uintptr(0), errorsReturn: 0x54000001, serialized: 2,
	}
	standard = abi{
		name: "MPI 5", world: 0x101, byte: 0x247,
		inPlace: 1, errorsReturn: 0x143, serialized: 2048,
	}
)

// A library is one that is loaded.
type library struct {
	abi
	MPILibrary
	handle uintptr
}

// names lists the files to look for. Those of the launcher in use come first: with two
// libraries on a host only its own finds the other ranks.
func names() []string {
	if name := os.Getenv(MPIVariable); name != "" && name != "off" {
		return []string{name}
	}
	open := []string{"libmpi.so.40", "libmpi.so", "libmpi.dylib"}
	others := []string{"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpich.so.12", "libmpi.so.12", "libmpi.so", "libmpi.12.dylib"}
	if os.Getenv("OMPI_COMM_WORLD_SIZE") == "" && os.Getenv("PMI_SIZE") != "" {
		return append(others, open...)
	}
	return append(open, others...)
}

func load() (*library, error) {
	keepSignals()
	var errs []error
	for _, name := range names() {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l := &library{handle: handle, MPILibrary: MPILibrary{File: name}}
		if l.abi, err = l.recognize(); err != nil {
			return nil, err
		}
		l.ABI = l.name
		return l, nil
	}
	return nil, fmt.Errorf("no MPI library was found; install Open MPI or MPICH, or name the library with %s: %w", MPIVariable, errors.Join(errs...))
}

// recognize tells the ABI of a library by what it exports.
func (l *library) recognize() (abi, error) {
	switch {
	case l.has("ompi_mpi_comm_world"):
		a := abi{name: "Open MPI", inPlace: 1, serialized: 2}
		for name, place := range map[string]*uintptr{
			"ompi_mpi_comm_world": &a.world, "ompi_mpi_byte": &a.byte, "ompi_mpi_errors_return": &a.errorsReturn,
		} {
			var err error
			if *place, err = purego.Dlsym(l.handle, name); err != nil {
				return a, fmt.Errorf("%s is not an MPI library: %w", l.File, err)
			}
		}
		return a, nil
	case !l.has("MPI_Init_thread"):
		return abi{}, fmt.Errorf("%s is not an MPI library: it has no MPI_Init_thread", l.File)
	case strings.Contains(l.File, "mpi_abi"):
		return standard, nil
	default:
		return mpich, nil
	}
}

func (l *library) has(name string) bool {
	address, err := purego.Dlsym(l.handle, name)
	return err == nil && address != 0
}

// keepSignals stops UCX, which MPI libraries use, from catching the signals that Go needs.
// It reads the environment of C, which Go's does not reach, when it is loaded.
func keepSignals() {
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return
	}
	name, value := append([]byte("UCX_ERROR_SIGNALS"), 0), []byte{0}
	purego.SyscallN(setenv, pointer(name), pointer(value), 0)
}

// version asks the library, which need not be initialized for it.
func (l *library) version() error {
	function, err := purego.Dlsym(l.handle, "MPI_Get_library_version")
	if err != nil {
		return fmt.Errorf("%s: %w", l.File, err)
	}
	text, n := make([]byte, 1<<14), new(int32) // more than any MPI_MAX_LIBRARY_VERSION_STRING
	purego.SyscallN(function, pointer(text), address(n))
	l.Version, _, _ = strings.Cut(strings.TrimRight(string(text[:*n]), "\x00"), "\n")
	return nil
}

// FindMPI loads the library that StartMPI would use, and asks for its version.
func FindMPI() (MPILibrary, error) {
	l, err := load()
	if err != nil {
		return MPILibrary{}, err
	}
	return l.MPILibrary, l.version()
}
