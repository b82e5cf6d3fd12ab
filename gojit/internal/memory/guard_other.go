//go:build !linux

package memory

// Guarding is not there: see guard_linux.go.
const Guarding = false

// Guard returns no memory.
func Guard[T any](owner *T, n int) []byte { return nil }

// KeepGuarded does nothing.
func KeepGuarded[T any](owner *T, data []byte) {}

// Unguard does nothing.
func Unguard([]byte) {}
