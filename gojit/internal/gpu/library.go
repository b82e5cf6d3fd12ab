//go:build linux && (amd64 || arm64)

package gpu

import "github.com/ebitengine/purego"

// library is a shared library that was opened at run time.
type library struct {
	handle uintptr
	name   string
}

// openLibrary opens a library by the path of its file, or by its name where the system looks for libraries.
func openLibrary(name string) (*library, error) {
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	return &library{handle, name}, nil
}

// lacks fails where the library has no function of a name.
func (l *library) lacks(name string) error {
	_, err := purego.Dlsym(l.handle, name)
	return err
}

// function makes a Go function, or a procedure, of one of the library.
func (l *library) function(f any, name string) error {
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return err
	}
	if p, ok := f.(*procedure); ok {
		*p = procedure(at)
	} else {
		purego.RegisterFunc(f, at)
	}
	return nil
}

// call calls a procedure and returns the code that it does.
//
//go:uintptrescapes
func (p procedure) call(words ...uintptr) int32 {
	code, _, _ := purego.SyscallN(uintptr(p), words...)
	return int32(code)
}
