package gojit_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/torchjit/torchjit"

// layers is the policy: a package imports only packages of lines above its own.
const layers = `
source internal/golden internal/decimal archive/pickle quasirandom
tensor filecheck
types syntax kernel
kernel/amd64 kernel/cuda
kernel/launch linalg/dense gpu
linalg/lapack linalg/fft value
schema
ops
autograd ops/aten ops/prim ir
alias interp
fuse
passes
quantization
executor
frontend trace
composite
autodiff archive shapes
export
gojit
bind cmd/gojit
`

func TestImportsGoDown(t *testing.T) {
	line := map[string]int{}
	for i, text := range strings.Split(strings.TrimSpace(layers), "\n") {
		for _, name := range strings.Fields(text) {
			if name == "gojit" {
				name = "github.com/torchjit/torchjit/gojit"
			} else {
				name = "github.com/torchjit/torchjit/gojit/" + name
			}
			line[name] = i + 1
		}
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(text)
		from, ok := line[fields[0]]
		if !ok {
			t.Errorf("%s is in no layer", fields[0])
			continue
		}
		for _, imported := range fields[1:] {
			to, ok := line[imported]
			if ok && to >= from {
				t.Errorf("%s imports %s, which is not above it", fields[0], imported)
			}
			if imported == "C" {
				t.Errorf("%s uses cgo", fields[0])
			}
		}
	}
}
