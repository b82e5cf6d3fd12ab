package asm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func enter(entry uintptr, args unsafe.Pointer)

// host returns the largest instruction set that this machine and its system have.
func host() ISA {
	x := &cpu.X86
	switch {
	case x.HasAVX2 && x.HasFMA && x.HasBMI2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	case x.HasAVX2 && x.HasFMA && x.HasBMI2:
		return AVX2 // F16C is older than each of these
	case x.HasSSE41 && x.HasSSE42:
		return Baseline
	}
	return None
}

// HasBF16 reports whether the machine multiplies bfloat16 numbers.
func HasBF16() bool { return cpu.X86.HasAVX512BF16 }

// HasByteDots reports whether the machine adds up products of bytes by fours, in the form that code for an instruction set has.
func HasByteDots(isa ISA) bool {
	if isa == AVX512 {
		return cpu.X86.HasAVX512VNNI
	}
	return isa == AVX2 && cpu.X86.HasAVXVNNI
}

// Feature is a set of instructions that kernels use where the machine has it.
type Feature struct {
	Name  string
	There bool
}

// Features returns what kernels ask for.
func Features() []Feature {
	x := &cpu.X86
	return []Feature{
		{"sse4.2", x.HasSSE41 && x.HasSSE42}, {"avx2", x.HasAVX2}, {"fma", x.HasFMA}, {"bmi2", x.HasBMI2},
		{"avx512", x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL},
		{"avx512-vnni", x.HasAVX512VNNI}, {"avx512-bf16", x.HasAVX512BF16}, {"avx-vnni", x.HasAVXVNNI},
	}
}
