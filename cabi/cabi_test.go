package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The library, its header and the examples, as somebody has them who installs them.
func TestLibrary(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("the library is built and its symbols are listed on Linux, in the long tests")
	}
	for _, tool := range []string{"cc", "nm", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	run(t, nil, "make", "--no-print-directory", "-C", "..", "clib")
	lib, err := filepath.Abs("../build/lib")
	if err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs("../tests/data/digits_cnn.pt")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("symbols", func(t *testing.T) { testSymbols(t, lib) })
	t.Run("four threads", func(t *testing.T) {
		out := run(t, []string{"LD_LIBRARY_PATH=" + lib}, compile(t, lib, "../examples/from_c/threads.c"), model)
		for _, want := range []string{"thread 0: -2.4225", "thread 3: -2.4225", "torch/nn/modules/conv.py:459: ", "but got input of size: [1, 3]"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s, want %s", out, want)
			}
		}
	})
	t.Run("static", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "program")
		run(t, nil, "cc", "-std=c11", "-I"+lib, "../examples/from_c/threads.c", filepath.Join(lib, "libtorchjit.a"), "-lpthread", "-o", program)
		if out := run(t, nil, program, model); !strings.HasPrefix(out, "thread 0: -2.4225\n") {
			t.Error(out)
		}
	})
	t.Run("installed", func(t *testing.T) { testInstalled(t, model) })
	t.Run("rust", func(t *testing.T) {
		compiler, err := exec.LookPath("rustc")
		if err != nil {
			t.Skip("there is no rustc")
		}
		program := filepath.Join(t.TempDir(), "program")
		run(t, nil, compiler, "--edition", "2021", "-D", "warnings", "../examples/from_rust/main.rs", "-L", lib, "-l", "dylib=torchjit", "-o", program)
		out := run(t, []string{"LD_LIBRARY_PATH=" + lib}, program, model)
		if !strings.HasPrefix(out, strings.Join([]string{"thread 0: -2.4225", "thread 1: -2.4225", "thread 2: -2.4225", "thread 3: -2.4225", "torch/nn/modules/conv.py:459: "}, "\n")) {
			t.Error(out)
		}
	})
	t.Run("misuse", func(t *testing.T) {
		if out := run(t, []string{"LD_LIBRARY_PATH=" + lib}, compile(t, lib, "testdata/misuse.c"), model); out != "all as expected\n" {
			t.Error(out)
		}
	})
	t.Run("ctypes", func(t *testing.T) {
		python, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("there is no python3")
		}
		if out := run(t, nil, python, "../examples/from_c/with_ctypes.py", filepath.Join(lib, "libtorchjit.so"), model); out != "[1, 10]\n" {
			t.Error(out)
		}
	})
}

func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out.String())
	}
	return out.String()
}

func compile(t *testing.T, lib, source string) string {
	program := filepath.Join(t.TempDir(), "program")
	run(t, nil, "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I"+lib, source, "-L"+lib, "-ltorchjit", "-lpthread", "-o", program)
	return program
}

// What `make install-library` installs is all that a program in C needs: it is built where no headers of Python are in sight, and by nothing that has them.
func testInstalled(t *testing.T, model string) {
	prefix := t.TempDir()
	run(t, []string{"CGO_CFLAGS=", "CPATH="}, "make", "--no-print-directory", "-C", "..", "install-library", "PREFIX="+prefix)
	if used := run(t, nil, "cc", "-M", "-I"+prefix+"/include", "../examples/from_c/threads.c"); strings.Contains(used, "Python.h") {
		t.Errorf("the example includes %s", used)
	}
	needed := run(t, nil, "go", "list", "-deps", "-f", "{{.ImportPath}} {{.CgoFiles}}", ".")
	if strings.Contains(needed, "torchjit/pybind") {
		t.Errorf("the library is built from %s", needed)
	}
	program := filepath.Join(t.TempDir(), "program")
	run(t, []string{"CPATH="}, "cc", "-I"+prefix+"/include", "../examples/from_c/threads.c", "-L"+prefix+"/lib", "-ltorchjit", "-lpthread", "-o", program)
	if out := run(t, []string{"LD_LIBRARY_PATH=" + prefix + "/lib"}, program, model); !strings.HasPrefix(out, "thread 0: -2.4225\n") {
		t.Error(out)
	}
}

// The library exports the functions of its header and nothing else.
func testSymbols(t *testing.T, lib string) {
	header, err := os.ReadFile("torchjit.h")
	if err != nil {
		t.Fatal(err)
	}
	var declared, exported, static []string
	for _, m := range regexp.MustCompile(`(?m)^\S.*?\b(tj_\w+)\(.*\);$`).FindAllStringSubmatch(string(header), -1) {
		declared = append(declared, m[1])
	}
	for line := range strings.Lines(run(t, nil, "nm", "-D", "--defined-only", filepath.Join(lib, "libtorchjit.so"))) {
		exported = append(exported, strings.Fields(line)[2])
	}
	for line := range strings.Lines(run(t, nil, "nm", "-g", "--defined-only", filepath.Join(lib, "libtorchjit.a"))) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[1] == "T" && strings.HasPrefix(fields[2], "tj_") {
			static = append(static, fields[2])
		}
	}
	slices.Sort(declared)
	slices.Sort(exported)
	slices.Sort(static)
	if !slices.Equal(declared, static) {
		t.Errorf("the header declares\n%v\nthe static library has\n%v", declared, static)
	}
	if !slices.Equal(declared, exported) {
		t.Errorf("the header declares\n%v\nthe library exports\n%v", declared, exported)
	}
}

// The library needs nothing but what programs may import, and is the only code of its kind besides pybind.
func TestImports(t *testing.T) {
	public := []string{"github.com/torchjit/torchjit/gojit/tensor", "github.com/torchjit/torchjit/gojit/errs"}
	out := run(t, nil, "go", "list", "-f", `{{join .Imports "\n"}}`, ".")
	for line := range strings.Lines(out) {
		if path := strings.TrimSpace(line); strings.Contains(path, "torchjit/gojit/") && !slices.Contains(public, path) {
			t.Errorf("cabi imports %s", path)
		}
	}
}
