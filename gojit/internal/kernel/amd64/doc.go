// Package amd64 compiles elementwise and reducing kernels to machine code for x86-64 at run time.
//
// Compile is the entry: select*.go chooses instructions over virtual registers, regalloc*.go and assign.go give them
// registers, emit*.go writes the loop. What an instruction is and where code lies is package asm's; products and
// convolutions are package tile's, loops over single numbers package routine's.
package amd64
