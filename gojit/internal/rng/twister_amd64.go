package rng

import "golang.org/x/sys/cpu"

// twisted is how many words a step of the vector code twists or tempers, 0 where the processor cannot.
var twisted = vectorWidth()

func vectorWidth() int {
	if cpu.X86.HasAVX2 {
		return 8
	}
	return 0
}

// twistAVX2 twists n words, a multiple of 8 and not 0, with their successors and as many others.
//
//go:noescape
func twistAVX2(words, shifted *uint32, n int)

// temperAVX2 tempers n words, a multiple of 8 and not 0.
//
//go:noescape
func temperAVX2(dst, src *uint32, n int)

// twistVector twists the first words of a run of n and returns how many.
func twistVector(words, shifted *uint32, n int) int {
	if twisted == 0 || n < twisted {
		return 0
	}
	n -= n % twisted
	twistAVX2(words, shifted, n)
	return n
}

// temperVector tempers the first words of a run of n and returns how many.
func temperVector(dst, src *uint32, n int) int {
	if twisted == 0 || n < twisted {
		return 0
	}
	n -= n % twisted
	temperAVX2(dst, src, n)
	return n
}
