package gojit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A module outside of this one builds a static program over the public packages, which runs a model.
func TestConsumer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "consumer")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../tests/consumer"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, data+"digits_cnn.pt", "forward", "2", "1", "12", "12").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "2 10" {
		t.Fatalf("%v\n%s", err, out)
	}
}
