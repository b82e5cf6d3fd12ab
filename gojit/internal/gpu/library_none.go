//go:build !linux || !(amd64 || arm64)

package gpu

import "errors"

// library is a shared library; there is no CUDA for this system.
type library struct{ name string }

func openLibrary(name string) (*library, error) {
	return nil, errors.New("CUDA is opened on Linux alone")
}

func (l *library) function(f any, name string) error { return errors.ErrUnsupported }

func (l *library) lacks(name string) error { return errors.ErrUnsupported }

func (p procedure) call(words ...uintptr) int32 { panic(errors.ErrUnsupported) } // nobody has one: no library was opened
