package gojit_test

import (
	"os/exec"
	"strings"
	"testing"
)

// layers is the policy: a package imports only packages of lines above its own.
const layers = `
source internal/golden internal/decimal serialize/pickle quasirandom
tensor filecheck
types syntax kernel
kernel/amd64 kernel/cuda
kernel/launch dense gpu
factor fourier value
schema
ops
autograd ops/aten ops/prim ir
alias interp
fuser
passes
quantization
executor
frontend trace
composite
autodiff serialize shapes
export
gojit
cmd/gojit
`

func TestImportsGoDown(t *testing.T) {
	line := map[string]int{}
	for i, text := range strings.Split(strings.TrimSpace(layers), "\n") {
		for _, name := range strings.Fields(text) {
			if name == "gojit" {
				name = "torchjit/gojit"
			} else {
				name = "torchjit/gojit/" + name
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
