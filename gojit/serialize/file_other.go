//go:build !unix

package serialize

import "os"

// mapping is a file in memory.
type mapping struct{ data []byte }

// mapFile reads a file.
func mapFile(path string) (*mapping, error) {
	data, err := os.ReadFile(path)
	return &mapping{data: data}, err
}

// forget does nothing: the memory is the process's own.
func (*mapping) forget([]byte) {}
