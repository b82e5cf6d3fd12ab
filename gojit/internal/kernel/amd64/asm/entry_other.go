//go:build !amd64

package asm

import "unsafe"

func enter(uintptr, unsafe.Pointer) { panic("amd64: no machine code on this processor") }

func host() ISA { return None }

// HasBF16 reports whether the machine multiplies bfloat16 numbers.
func HasBF16() bool { return false }

// HasByteDots reports whether the machine adds up products of bytes by fours.
func HasByteDots(ISA) bool { return false }

// Feature is a set of instructions that kernels use where the machine has it.
type Feature struct {
	Name  string
	There bool
}

// Features returns what kernels ask for: nothing here.
func Features() []Feature { return nil }
