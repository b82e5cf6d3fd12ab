// Package rng has the generators of random numbers: Mersenne twisters, as PyTorch has them on processors.
package rng
