package gojit_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A module in a folder of its own, outside of this one, builds a static program over the public packages, which runs a model and serves it.
func TestConsumer(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../tests/consumer")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	inside := func(name string, args ...string) {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	inside("go", "mod", "edit", "-replace", "github.com/torchjit/torchjit="+root)
	inside("go", "build", "-o", "consumer", ".")
	program := filepath.Join(folder, "consumer")
	if runtime.GOOS == "linux" {
		file, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
			t.Errorf("the program needs %v, %v: expected a static one", libraries, err)
		}
	}
	out, err := exec.Command(program, data+"digits_cnn.pt", "forward", "2", "1", "12", "12").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "2 10\n") || !strings.Contains(string(out), `"inputs":[{"name":"x"`) {
		t.Fatalf("%v\n%s", err, out)
	}
}
