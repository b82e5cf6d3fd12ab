//go:build !amd64

package rng

var twisted = 0

func twistVector(_, _ *uint32, _ int) int { return 0 }

func temperVector(_, _ *uint32, _ int) int { return 0 }
