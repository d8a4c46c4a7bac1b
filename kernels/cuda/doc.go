// Package cuda holds the CUDA kernels and launches them: a step of W2V-CL, also with
// an encoder that composes words from their spelling, and FULL-W2V. Without the build
// tag gpu it has the length of rows only: cuda is a tag of Gorgonia's, which needs cuDNN
// there.
//
// Start with Open. cl.cu, columns.cu, fullw2v.cu and fullw2v_half.cu are the kernels, with
// what they compute above them, and ladder_*.cu the steps that led to fullw2v.cu; cl.go
// and fullw2v.go launch them. Encoders are in files whose names begin with subword:
// start with subword.go. rows.cuh and philox.cuh are what all share. build.sh
// compiles the kernels, without a GPU, into built/, which is embedded: machine
// code for sm_90, and PTX, which the driver compiles for any later or earlier GPU
// from sm_80 on.
//
// Everything random is numbered as on the CPU, so a run draws the same words on
// either, and ends in the same tables but for rounding.
//
// # Building
//
// gorgonia.org/cu needs CUDA's headers and a libcuda. include/cuda.h makes it
// compile with headers of CUDA 12 and 13; driver/ stands for libcuda, so that a
// program links without the driver, starts without it and says what is missing.
// "build.sh env" prints the settings; make cuda uses them.
package cuda
