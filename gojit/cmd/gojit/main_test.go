package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// exported writes a program that multiplies its input with a weight.
func exported(t *testing.T) (file string) {
	gojit.LinkOperators()
	g, err := ir.Parse("graph(%w : Tensor, %x : Tensor):\n  %y : Tensor = aten::mul(%x, %w)\n  return (%y)")
	if err != nil {
		t.Fatal(err)
	}
	w, err := tensor.FromSlice([]float32{2, 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := export.Capture(g, &export.Options{
		Inputs: []export.Input{
			{Spec: export.InputSpec{Kind: export.Parameter, Name: "p_w", Target: "w"}, Value: value.OfTensor(w), Parameter: g.Inputs()[0]},
			{Spec: export.InputSpec{Kind: export.UserInput, Name: "x"}, Value: value.OfTensor(w), Parameter: g.Inputs()[1]},
		},
		Results: []export.Result{{Spec: export.OutputSpec{Kind: export.UserOutput}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "model.pt2")
	if err := (&export.Archive{Program: p, Tensors: map[string]*tensor.Tensor{"w": w}}).Save(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExportedPrograms(t *testing.T) {
	file := exported(t)
	for _, c := range []struct{ args, want string }{
		{"run " + file + " 2", "tensor([2., 3.])"},
		{"inspect " + file, "input p_w : PARAMETER w : float32[2]\ninput x : USER_INPUT\noutput mul : USER_OUTPUT"},
		{"graph " + file, "mul"},
	} {
		var out strings.Builder
		if err := dispatch(&out, strings.Fields(c.args)); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, %q, want %q", c.args, err, out.String(), c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	file := exported(t)
	missing := filepath.Join(t.TempDir(), "missing.pt2")
	junk := filepath.Join(t.TempDir(), "junk.pt2")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", "usage:"},
		{"run " + file, "which is not given"},
		{"run " + file + " 2y", "is no shape"},
		{"run " + missing, "missing.pt2"},
		{"inspect " + junk, "not a valid zip file"},
	} {
		if err := dispatch(&strings.Builder{}, strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}
