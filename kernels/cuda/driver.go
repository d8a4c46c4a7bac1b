//go:build gpu

package cuda

/*
#cgo LDFLAGS: -lcuda
#include <cuda.h>
#include <stdlib.h>

const char *w2vcl_start_driver(void);

static CUresult w2vcl_begin(CUstream s) {
	return cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}
static CUresult w2vcl_end(CUstream s, CUgraphExec *run) {
	CUgraph graph;
	CUresult result = cuStreamEndCapture(s, &graph);
	if (result != CUDA_SUCCESS) return result;
	result = cuGraphInstantiate(run, graph, 0);
	cuGraphDestroy(graph);
	return result;
}
static CUresult w2vcl_launch(CUfunction f, unsigned blocks, unsigned threads, unsigned shared, CUstream s, void *argument, int early, int together) {
	void *arguments[] = {argument};
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmaticStreamSerializationAllowed = 1};
	if (together) attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	CUlaunchConfig how = {.gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = threads, .blockDimY = 1, .blockDimZ = 1,
		.sharedMemBytes = shared, .hStream = s, .attrs = &attribute, .numAttrs = early || together};
	return cuLaunchKernelEx(&how, f, arguments, 0);
}
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// This file has the calls of the driver that gorgonia.org/cu lacks.

// startDriver starts the driver, the first time it is called. It returns a message of what is
// wrong, or "".
var startDriver = sync.OnceValue(func() string { return C.GoString(C.w2vcl_start_driver()) })

func check(what string, result C.CUresult) error {
	if result == C.CUDA_SUCCESS {
		return nil
	}
	var message *C.char
	if C.cuGetErrorString(result, &message) != C.CUDA_SUCCESS {
		return fmt.Errorf("%s: error %d of the CUDA driver", what, int(result))
	}
	return fmt.Errorf("%s: %s", what, C.GoString(message))
}

// A cu.Stream and a cu.Function are structures of the driver's handle alone.
func streamHandle(s cu.Stream) C.CUstream       { return *(*C.CUstream)(unsafe.Pointer(&s)) }
func functionHandle(f cu.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(&f)) }

// primaryContext returns the context of a GPU that all of a process share, and makes it the thread's.
func primaryContext(device cu.Device) (context cu.CUContext, err error) {
	if err := check("primary context", C.cuDevicePrimaryCtxRetain((*C.CUcontext)(unsafe.Pointer(&context)), C.CUdevice(device))); err != nil {
		return context, err
	}
	return context, cu.SetCurrentContext(context)
}

// Pinned returns n values of host memory that the device copies from and to at full
// speed and without waiting. Unpin frees them.
func Pinned[T any](n int) ([]T, error) {
	var p unsafe.Pointer
	if err := check("pinned memory", C.cuMemHostAlloc(&p, C.size_t(max(Bytes[T](n), 1)), 0)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}

// Unpin frees memory of Pinned.
func Unpin[T any](s []T) error {
	if cap(s) == 0 {
		return nil
	}
	return check("free pinned memory", C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(s))))
}

// Launch starts a kernel on the device's stream. Its argument is a structure; cu itself
// passes arguments of eight bytes only.
func Launch[T any](d *Device, f cu.Function, g Grid, argument *T) error {
	return LaunchEarly(d, f, g, argument, false)
}

// LaunchEarly is Launch for a kernel that, if early, may begin while the one launched
// before it ends: see startNext in include/launch.cuh.
func LaunchEarly[T any](d *Device, f cu.Function, g Grid, argument *T, early bool) error {
	return launchOn(d.stream, f, g, argument, early, false)
}

// LaunchTogether is Launch for a kernel whose thread blocks wait for each other, so all have to run at the same time.
func LaunchTogether[T any](d *Device, f cu.Function, g Grid, argument *T) error {
	return launchOn(d.stream, f, g, argument, false, true)
}

// number is 1 for true.
func number(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// LaunchOn is Launch on another stream.
func LaunchOn[T any](s cu.Stream, f cu.Function, g Grid, argument *T) error {
	return launchOn(s, f, g, argument, false, false)
}

func launchOn[T any](s cu.Stream, f cu.Function, g Grid, argument *T, early, together bool) error {
	alone := *argument // C must not see the structure around it, which may hold Go pointers
	return check("launch", C.w2vcl_launch(functionHandle(f), C.uint(g.Blocks), C.uint(g.Threads), C.uint(g.Shared),
		streamHandle(s), unsafe.Pointer(&alone), number(early), number(together)))
}

const maxSharedOptin cu.DeviceAttribute = C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

// AllowShared lets a kernel have more than 48 kB of shared memory. A kernel that may have more keeps it, because others launch it,
// too.
func AllowShared(f cu.Function, bytes int) error {
	var most C.int
	err := check("shared memory", C.cuFuncGetAttribute(&most, C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, functionHandle(f)))
	if err != nil || int(most) >= bytes {
		return err
	}
	return check("shared memory", C.cuFuncSetAttribute(functionHandle(f), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

// A Recording is a sequence of launches that starts as one: a CUDA graph.
type Recording struct{ run C.CUgraphExec }

// Record records the launches of f on a stream instead of starting them.
func Record(s cu.Stream, f func() error) (*Recording, error) {
	if err := check("begin to record", C.w2vcl_begin(streamHandle(s))); err != nil {
		return nil, err
	}
	failed := f()
	var r Recording
	err := check("record", C.w2vcl_end(streamHandle(s), &r.run))
	if failed != nil {
		return nil, failed
	}
	return &r, err
}

// Launch starts the recorded launches.
func (r *Recording) Launch(s cu.Stream) error {
	return check("launch graph", C.cuGraphLaunch(r.run, streamHandle(s)))
}

// Free frees the recording, which must not be running.
func (r *Recording) Free() error { return check("free graph", C.cuGraphExecDestroy(r.run)) }
