package gojit_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/torchjit/torchjit"

// layers is the policy: a package imports only packages of lines above its own. Packages but those that are public lie under internal.
const layers = `
source golden decimal archive/pickle archive/checksum quasirandom mistake goroutine collector kinds/prim kinds/aten kinds/quantized
parallel rng memory
tensor filecheck errs
npy types syntax kernel archive/safefile archive/flatbuffer
kernel/expand kernel/function kernel/amd64/asm archive/safetensors
kernel/cuda kernel/amd64 kernel/amd64/asm/asmtest
kernel/amd64/tile kernel/amd64/routine
kernel/launch linalg/gemm linalg/linalgtest gpu gpu/gputest
linalg/conv linalg/lapack linalg/fft value
linalg/integer
schema
ops
ops/aten/define dimnames
ops/aten/elementwise
ops/aten/reduce
ops/aten/indexing
ops/aten/views
ops/aten/special ops/aten/linalg ops/aten/sparse
ops/aten/random ops/aten/conv
ops/aten/vision ops/aten/nn
ops/aten/quantized
autograd ops/aten ops/prim ops/opstest ir
alias interp draw
fuse passes/passlog
passes
passes/freeze passes/tensorexpr
passes/parity
plan
replay
quantization exec frontend/ssa frontend/upgrade
frontend trace
pyfile
composite archive/code
archive/bytecode
autodiff archive shapes export/symbolic
export/exportir
export/pt2archive
export
gojit
serve bind/abi
command
bind/operators bind/tensors
bind/scripts
bind/graphs
bind/modules
bind/tracing
bind cabi cmd/gojit cuda
`

// pathOf returns the import path of a name in layers.
func pathOf(name string) string {
	if strings.HasPrefix(name, "bind/") {
		return module + "/gojit/" + name
	}
	switch name {
	case "gojit":
		return module + "/gojit"
	case "tensor", "errs", "npy", "serve", "bind", "cuda", "cmd/gojit":
		return module + "/gojit/" + name
	}
	return module + "/gojit/internal/" + name
}

func TestImportsGoDown(t *testing.T) {
	line := map[string]int{}
	for i, text := range strings.Split(strings.TrimSpace(layers), "\n") {
		for _, name := range strings.Fields(text) {
			line[pathOf(name)] = i + 1
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

// The code that has cgo and Python's headers knows nothing but the table of functions.
func TestPythonShimImportsBindAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", "{{join .Imports \" \"}}", "../pybind").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range strings.Fields(string(out)) {
		if strings.HasPrefix(imported, module) && imported != pathOf("bind") {
			t.Errorf("pybind imports %s", imported)
		}
	}
}
