package lapack

import "github.com/torchjit/torchjit/gojit/internal/parallel"

// look is where factorizations of matrices with n rows end that are to end. Small ones run to their end.
func look(n int) {
	if n >= 64 {
		parallel.Look()
	}
}
