// Package gpu runs kernels on NVIDIA's GPUs.
//
// Central types: Device, a GPU; Program, a kernel compiled for one (its text is made by package kernel/cuda). The driver and CUDA's
// compiler (libcuda, libnvrtc) are opened when Devices is called: nothing of CUDA is needed to build, and a program that does not
// import this package stays free of libraries.
//
// Invariant: an element has the bits that the processor computes. Tests run the package on a driver whose device is the
// processor (testdata/host_driver.c).
package gpu
