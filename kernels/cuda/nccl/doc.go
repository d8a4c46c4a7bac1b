// Package nccl lets GPUs of several processes, on one host or many, send each other what is in their memory, by NVIDIA's
// NCCL. The library is loaded when it is asked for: a program that needs none starts without it.
//
// Start at Join. The ranks find each other by an identifier, which one of them makes (NewID) and the others get by other
// means, such as MPI. Without the build tag gpu the package is empty.
package nccl
