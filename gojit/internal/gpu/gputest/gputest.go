// Package gputest builds the software device, a driver whose device is the processor, for tests.
package gputest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Build compiles the software device into a folder and returns the library's path. It fails where there is no C compiler.
func Build(folder string) (path string, err error) {
	_, file, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(filepath.Dir(file)), "testdata")
	path = filepath.Join(folder, "libhost.so")
	texts, _ := filepath.Glob(filepath.Join(source, "host_*.c"))
	arguments := append([]string{"-O1", "-w", "-shared", "-fPIC", `-DHOST_HEADER="` + filepath.Join(source, "host.h") + `"`, "-o", path}, texts...)
	build := exec.Command("cc", append(arguments, "-ldl", "-lm")...)
	build.Stderr = os.Stderr
	return path, build.Run()
}
