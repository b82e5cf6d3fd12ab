//go:build linux && (amd64 || arm64)

package gpu

import "github.com/ebitengine/purego"

// library is a shared library that was opened at run time.
type library struct {
	handle uintptr
	name   string
}

// openLibrary opens the first of some libraries that is there. The error says what is the matter with the first.
func openLibrary(names ...string) (*library, error) {
	var first error
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &library{handle, name}, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// function makes a Go function of one of the library.
func (l *library) function(f any, name string) error {
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return err
	}
	purego.RegisterFunc(f, at)
	return nil
}

// entry is a function of a library whose arguments are integers and pointers, called without reflection.
type entry uintptr

// entry looks one up.
func (l *library) entry(name string) (entry, error) {
	at, err := purego.Dlsym(l.handle, name)
	return entry(at), err
}

// call returns the code of the function. What pointers among the arguments point to must not be on the stack, and be kept alive.
func (e entry) call(arguments ...uintptr) int32 {
	code, _, _ := purego.SyscallN(uintptr(e), arguments...)
	return int32(code)
}
