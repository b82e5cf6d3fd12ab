package export_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

const conditional = `graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %s : Tensor = aten::sum(%x, %none)
  %zero : Tensor = aten::gt(%s, %0)
  %b : bool = aten::Bool(%zero)
  %y : Tensor = prim::If(%b)
    block0():
      %p : Tensor = aten::mul(%x, %w)
      -> (%p)
    block1():
      %m : Tensor = aten::sub(%x, %w, %1)
      -> (%m)
  %parts : Tensor[] = aten::unbind(%y, %0)
  %a : Tensor, %c : Tensor = prim::ListUnpack(%parts)
  return (%c)`

// archive is a program that takes x and has a parameter w.
func archive(t testing.TB) *exportir.Archive {
	w, _ := tensor.FromSlice([]float32{10, 20}, 2)
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	p, err := captureText(conditional, []export.Input{
		{Spec: exportir.InputSpec{Kind: exportir.UserInput, Name: "x"}, Value: value.OfTensor(x)},
		{Spec: exportir.InputSpec{Kind: exportir.Parameter, Name: "p_w", Target: "w"}, Value: value.OfTensor(w)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &exportir.Archive{Program: p, Tensors: map[string]*tensor.Tensor{"w": w}, Extra: map[string][]byte{"notes": []byte("text")}}
}

func TestProgramsRun(t *testing.T) {
	a := archive(t)
	f, err := export.Function(a.Program, "__torch__.f")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		x    []float32
		want float64
	}{{[]float32{1, 2}, 40}, {[]float32{-1, -2}, -22}} {
		x, _ := tensor.FromSlice(test.x, 2)
		out, err := gojit.Run(context.Background(), f, value.OfTensor(x), value.OfTensor(a.Tensors["w"]))
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Tuple().Items[0].Tensor().At().Float64(); got != test.want {
			t.Errorf("%v gives %v, not %v", test.x, got, test.want)
		}
	}
}

func TestArchives(t *testing.T) {
	a := archive(t)
	file := filepath.Join(t.TempDir(), "f.pt2")
	if err := a.Save(file); err != nil {
		t.Fatal(err)
	}
	b, err := export.LoadArchive(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Program.Graph.String(), a.Program.Graph.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if b.Tensors["w"].At(1).Float64() != 20 || string(b.Extra["notes"]) != "text" {
		t.Errorf("got %v and %q", b.Tensors, b.Extra)
	}
	delete(a.Tensors, "w")
	if _, err := a.Write(); err == nil || !strings.Contains(err.Error(), "there is no tensor w") {
		t.Errorf("without its tensor: %v", err)
	}
}

// FuzzRead reads archives that are damaged: nothing but an error may come of it.
func FuzzRead(f *testing.F) {
	whole, err := archive(f).Write()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for _, change := range [][2]string{
		{`"aten::mul.Tensor"`, `"aten::mul_.Tenso"`}, {`"higher_order::cond"`, `"higher_order::conD"`}, {`"float32"`, `"float64"`}, {`{"int":1}`, `{"int":9}`},
		{`"true_graph_0"`, `"true_graph_1"`}, {`"op":"output"`, `"op":"outpuT"`}, {`"node":"arg0_1"`, `"node":"arg9_1"`},
	} {
		f.Add(bytes.ReplaceAll(whole, []byte(change[0]), []byte(change[1])))
	}
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := export.ReadArchive(data)
		if err != nil {
			return
		}
		if _, err := export.Function(a.Program, "__torch__.f"); err != nil {
			return
		}
		if _, err := a.Write(); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

// FuzzProgram reads the text of a program that is damaged; a program that Check allows becomes a function, or an error.
func FuzzProgram(f *testing.F) {
	for _, text := range programTexts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := exportir.Parse([]byte(text))
		if err != nil {
			return
		}
		_ = p.Graph.String()
		_, _ = export.Function(p, "__torch__.f")
	})
}
