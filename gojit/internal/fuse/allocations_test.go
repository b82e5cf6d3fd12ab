package fuse_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A kernel over tensors of one shape with numbers of each run takes nothing from the heap but its result and what every launch takes.
func TestFusedOperatorsDoNotAllocate(t *testing.T) {
	if strings.Contains(os.Getenv("GOJIT_CHECK"), "guard") || asm.Target() < asm.AVX2 {
		t.Skip("results get memory of their own, and so does the evaluator")
	}
	record := func(number float64) (*elementwise.Recorder, *tensor.Tensor) {
		r := elementwise.NewRecorder()
		x := source.Must(r.Input(tensor.Float32, false))
		args := []value.Value{value.OfTensor(x), value.Float(number)}
		return r, source.Must(r.Apply(ops.Find("aten::mul.Scalar"), args))
	}
	a, result := record(1000003.5)
	defer a.Close()
	b, _ := record(2000029.5)
	defer b.Close()
	f, err := a.Fuse(1, []*tensor.Tensor{result}, []tensor.Scalar{tensor.Float(1000003.5)}, b, []tensor.Scalar{tensor.Float(2000029.5)})
	if err != nil {
		t.Fatal(err)
	}
	inputs, numbers, results := []*tensor.Tensor{source.Must(tensor.Full([]int{4, 4}, tensor.Int(1), tensor.Float32))}, []tensor.Scalar{tensor.Float(3)}, make([]*tensor.Tensor, 1)
	least := func(f func()) float64 {
		fewest := math.Inf(1)
		for range 100 { // a collection in between counts, too
			fewest = min(fewest, testing.AllocsPerRun(20, f))
		}
		return fewest
	}
	made := least(func() { source.Must(tensor.EmptyOn(tensor.Device{}, []int{4, 4}, tensor.Float32)).Release() })
	ran := least(func() {
		if !f.Run(inputs, numbers, results) {
			t.Fatal("not fused")
		}
		results[0].Release()
	})
	const launched = 2 // the state of a launch and what its chunks call
	if ran > made+launched {
		t.Errorf("a run takes %v blocks from the heap, its result %v", ran, made)
	}
}
