// Package asm encodes x86-64 instructions and keeps functions in executable memory.
//
// Central types: Assembler encodes instructions from one table (ops.go); Code is a function in executable memory;
// Call enters it. A function is a leaf that uses no stack: it receives one pointer to its arguments in RDI and may change
// every register but RSP and RBP.
//
// Three instruction sets are told apart: Baseline (SSE4.2), AVX2 (with FMA, BMI2 and F16C) and AVX512
// (F, BW, DQ, VL). The variable GOJIT_TARGET chooses a smaller one than the machine has, or "eval" for none.
package asm
