//go:build unix

package linalgtest

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"
)

// Guarded copies data to memory that ends, or where front begins, at a page that cannot be touched.
func Guarded[T any](t *testing.T, data []T, front bool) []T {
	t.Helper()
	moved := asmtest.Guarded[T](t, len(data), front)
	copy(moved, data)
	return moved
}
