//go:build !linux

package asm

import "errors"

// newRegion fails: kernels are evaluated on this system.
func newRegion(int) (*region, error) {
	return nil, errors.New("amd64: executable memory is not supported on this system")
}
