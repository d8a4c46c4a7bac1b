// Package cuda runs kernels on an NVIDIA GPU: it opens the device, hands out its memory,
// loads kernels and launches them. Kernels and their launchers are packages below it: cl
// (W2V-CL, also CBOW with n-grams), subword (skip-gram of W2V-CL with n-grams or a CNN), vanilla
// (minibatches) and sentence (the sentence-ordered modes).
//
// Start with Open, then with New of one of these packages. All kernels share the sources in
// include/: random numbers (philox.cuh), rows of tables (rows.cuh), launches (launch.cuh) and the optimizers (methods.cuh,
// which methods.go lists for Go). build.sh compiles the
// sources into the folder built/, which this package embeds: machine code for
// sm_90, and PTX, which the driver compiles for any other GPU from sm_80 on. That needs no GPU. Where it was not run, the folder is
// empty: programs link, and Open returns ErrNoKernels. Sources whose names end in _small
// are for GPUs with less shared memory: they are PTX only.
//
// Without the build tag gpu this package has the length of rows and the optimizers only, and those below it
// their options. The tag is not cuda, because Gorgonia has files behind that tag
// which need cuDNN.
//
// Everything random is numbered as on the CPU. So a run draws the same words on either, and
// its tables are the same but for rounding.
//
// # Building
//
// gorgonia.org/cu needs CUDA's headers and a libcuda. driver/cuda.h makes it compile with
// the headers of CUDA 12 and 13. The library of driver/ stands for libcuda: a program links
// without the driver, starts without it and says what is missing. "build.sh env" prints the
// settings; make cuda uses them.
package cuda
