//go:build !linux || !(amd64 || arm64)

package gpu

import "errors"

// library is a shared library; there is no CUDA for this system.
type library struct{ name string }

func openLibrary(names ...string) (*library, error) {
	return nil, errors.New("CUDA is opened on Linux alone")
}

func (l *library) function(f any, name string) error { return errors.ErrUnsupported }

type entry uintptr

func (l *library) entry(name string) (entry, error) { return 0, errors.ErrUnsupported }

func (e entry) call(arguments ...uintptr) int32 { panic("CUDA is opened on Linux alone") }
