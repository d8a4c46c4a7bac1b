//go:build gpu

package nccl

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// The parts of nccl.h that are used. They are the same in all releases of NCCL 2.
typedef struct { char internal[128]; } uniqueID;
typedef void *comm;
typedef void *stream;
enum { byte = 1 }; // ncclUint8

#define FUNCTIONS(F) \
	F(ncclGetVersion, (int *version)) \
	F(ncclGetUniqueId, (uniqueID *id)) \
	F(ncclCommInitRank, (comm *c, int ranks, uniqueID id, int rank)) \
	F(ncclCommDestroy, (comm c)) \
	F(ncclCommAbort, (comm c)) \
	F(ncclGroupStart, (void)) \
	F(ncclGroupEnd, (void)) \
	F(ncclSend, (const void *from, size_t count, int type, int peer, comm c, stream s)) \
	F(ncclRecv, (void *to, size_t count, int type, int peer, comm c, stream s)) \
	F(ncclAllGather, (const void *from, void *to, size_t count, int type, comm c, stream s))

#define DECLARE(name, arguments) static int (*name) arguments;
FUNCTIONS(DECLARE)
static const char *(*ncclGetErrorString)(int);
static const char *(*ncclGetLastError)(comm); // since 2.13

// load loads the library and returns a message of what is wrong, or "".
static const char *load(const char *file) {
	static char message[256];
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library) return dlerror();
#define FIND(name, arguments) \
	if (!(name = dlsym(library, #name))) return snprintf(message, sizeof message, "it has no " #name), message;
	FUNCTIONS(FIND)
	if (!(ncclGetErrorString = dlsym(library, "ncclGetErrorString"))) return "it has no ncclGetErrorString";
	ncclGetLastError = dlsym(library, "ncclGetLastError");
	return "";
}

static const char *message(int result) { return ncclGetErrorString(result); }
static const char *details(comm c) { return ncclGetLastError ? ncclGetLastError(c) : ""; }
static int version(int *v) { return ncclGetVersion(v); }
static int newID(uniqueID *id) { return ncclGetUniqueId(id); }
static int join(comm *c, int ranks, uniqueID *id, int rank) { return ncclCommInitRank(c, ranks, *id, rank); }
static int destroy(comm c) { return ncclCommDestroy(c); }
static int end(comm c) { return ncclCommAbort(c); }
static int groupStart(void) { return ncclGroupStart(); }
static int groupEnd(void) { return ncclGroupEnd(); }
static int sendTo(size_t from, size_t bytes, int peer, comm c, stream s) { return ncclSend((void *)from, bytes, byte, peer, c, s); }
static int receive(size_t to, size_t bytes, int peer, comm c, stream s) { return ncclRecv((void *)to, bytes, byte, peer, c, s); }
static int gather(size_t from, size_t to, size_t bytes, comm c, stream s) { return ncclAllGather((void *)from, (void *)to, bytes, byte, c, s); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Variable names the variable of the environment that names the library to load.
const Variable = "W2VCL_NCCL"

// load loads the library, the first time it is called, and returns what it is.
var load = sync.OnceValues(func() (Library, error) {
	if name := os.Getenv(Variable); name != "" {
		return loadAny(name)
	}
	return loadAny("libnccl.so.2", "libnccl.so")
})

// loadAny loads the first library that there is.
func loadAny(names ...string) (Library, error) {
	var errs []error
	for _, name := range names {
		file := C.CString(name)
		message := C.GoString(C.load(file))
		C.free(unsafe.Pointer(file))
		if message != "" {
			errs = append(errs, fmt.Errorf("%s: %s", name, message))
			continue
		}
		var v C.int
		err := check("ncclGetVersion", C.version(&v), nil)
		return Library{File: name, Version: versionOf(int(v))}, err
	}
	return Library{}, fmt.Errorf("NCCL was not found; install it (libnccl2), or name the library with %s: %w", Variable, errors.Join(errs...))
}

// Find loads the library that Join would use.
func Find() (Library, error) { return load() }

func check(what string, result C.int, c C.comm) error {
	if result == 0 {
		return nil
	}
	text := C.GoString(C.message(result))
	if details := strings.TrimSpace(C.GoString(C.details(c))); details != "" {
		text += " (" + details + ")"
	}
	return fmt.Errorf("%s: %s", what, text)
}

// NewID makes the identifier of some ranks that are to find each other, on one of them.
func NewID() ([]byte, error) {
	if _, err := load(); err != nil {
		return nil, err
	}
	var id C.uniqueID
	if err := check("ncclGetUniqueId", C.newID(&id), nil); err != nil {
		return nil, err
	}
	return C.GoBytes(unsafe.Pointer(&id), IDBytes), nil
}

// A Comm joins the GPUs of all ranks. Its calls are made in functions of Device.Do, on all ranks in the same order. They begin
// work on the device's stream and return.
type Comm struct {
	device      *cuda.Device
	comm        C.comm
	rank, ranks int
	aborted     atomic.Bool
}

// errAborted is the error of calls after Abort.
var errAborted = errors.New("NCCL: this rank has aborted")

// Join joins the ranks with an identifier, each with a GPU that no other has and that cuda.Open opened. It waits for all
// ranks, and is called in a function of Device.Do.
func Join(d *cuda.Device, id []byte, rank, ranks int) (*Comm, error) {
	if _, err := load(); err != nil {
		return nil, err
	}
	if len(id) != IDBytes {
		return nil, fmt.Errorf("an identifier of %d bytes, not %d", len(id), IDBytes)
	}
	c := &Comm{device: d, rank: rank, ranks: ranks}
	if err := check("ncclCommInitRank", C.join(&c.comm, C.int(ranks), (*C.uniqueID)(unsafe.Pointer(&id[0])), C.int(rank)), nil); err != nil {
		return nil, fmt.Errorf("%s of rank %d cannot join those of %d ranks: %w", d.Name, rank, ranks, err)
	}
	return c, nil
}

func (c *Comm) stream() C.stream {
	s := c.device.Stream()
	return *(*C.stream)(unsafe.Pointer(&s)) // a structure of the handle alone
}

func (c *Comm) group(calls func() error) error {
	if c.aborted.Load() {
		return errAborted
	}
	if err := check("ncclGroupStart", C.groupStart(), c.comm); err != nil {
		return err
	}
	return errors.Join(calls(), check("ncclGroupEnd", C.groupEnd(), c.comm))
}

// AllToAll sends part r of each buffer of send to rank r, and puts what rank r sent into part r of the same of recv. Parts of
// buffer i have bytes[i] bytes.
func (c *Comm) AllToAll(send, recv []cu.DevicePtr, bytes []int64) error {
	return c.group(func() error {
		for i, n := range bytes {
			for r := range c.ranks {
				at := C.size_t(int64(r) * n)
				err := check("ncclSend", C.sendTo(C.size_t(send[i])+at, C.size_t(n), C.int(r), c.comm, c.stream()), c.comm)
				if err == nil {
					err = check("ncclRecv", C.receive(C.size_t(recv[i])+at, C.size_t(n), C.int(r), c.comm, c.stream()), c.comm)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// AllGather gives all ranks the parts of all, of bytes[i] bytes in buffer i. Each brings its own, in its place.
func (c *Comm) AllGather(buffers []cu.DevicePtr, bytes []int64) error {
	return c.group(func() error {
		for i, n := range bytes {
			own := C.size_t(buffers[i]) + C.size_t(int64(c.rank)*n)
			if err := check("ncclAllGather", C.gather(own, C.size_t(buffers[i]), C.size_t(n), c.comm, c.stream()), c.comm); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close leaves the ranks, when the work of all calls is done.
func (c *Comm) Close() error {
	if c.aborted.Load() {
		return nil
	}
	return errors.Join(c.device.Stream().Synchronize(), check("ncclCommDestroy", C.destroy(c.comm), nil))
}

// Abort leaves them at once, from any goroutine: what waits on the GPU ends.
func (c *Comm) Abort() {
	if !c.aborted.Swap(true) {
		C.end(c.comm)
	}
}
