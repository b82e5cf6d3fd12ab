package aten

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// argumentFor returns a random value of a schema's type.
func argumentFor(a *schema.Argument, stream *rand.Rand) (value.Value, bool) {
	if a.HasDefault && stream.IntN(2) == 0 {
		return a.Default, true
	}
	variant := stream.IntN(1 << 20)
	number := int64([]int{0, 1, -1, 2, 3, -3, 100}[stream.IntN(7)])
	switch a.Type.String() {
	case "Tensor", "Optional[Tensor]":
		return value.OfTensor(sampleTensor(variant)), true
	case "int", "Optional[int]", "number", "Optional[number]":
		return value.Int(number), true
	case "float", "Optional[float]":
		return value.Float(float64(number) / 2), true
	case "bool", "Optional[bool]":
		return value.Bool(variant%3 == 0), true
	case "List[int]", "Optional[List[int]]":
		return value.OfList(value.Ints([]int{int(number), 2, 1, 3}[:stream.IntN(5)])), true
	case "List[float]", "Optional[List[float]]":
		return value.OfList(value.NewList(nil, value.Float(1.5))), true
	case "List[Tensor]", "List[Optional[Tensor]]":
		return value.OfList(value.Tensors([]*tensor.Tensor{sampleTensor(variant), sampleTensor(variant + 1)})), true
	case "str", "Optional[str]":
		return value.Str([]string{"none", "mean", "ij,jk->ik", "reflect"}[variant%4]), true
	case "Device", "Optional[Device]", "Optional[Generator]":
		return value.None, true
	}
	return value.None, false
}

func sampleTensor(i int) *tensor.Tensor {
	shapes := [][]int{{2, 3}, {}, {0}, {3}, {2, 3, 4}, {1, 2, 3, 4}, {2, 0, 3}, {1, 1}, {1, 2, 3, 4, 2}}
	types := []tensor.DType{tensor.Float32, tensor.Int64, tensor.Bool, tensor.Float64, tensor.Complex64, tensor.Float16, tensor.Uint8}
	t := define.Zeros(shapes[i%len(shapes)], types[i/16%len(types)])
	tensor.Fill(t, tensor.Int(int64(i%3)))
	return t
}

// TestBadArguments calls every operator with arguments that mostly do not fit. It may fail, with an
// error; it may not panic.
func TestBadArguments(t *testing.T) {
	stream := rand.New(rand.NewPCG(1, 2))
	all := Operators()
	for i := range all {
		name, _, _ := strings.Cut(all[i].Name, "(") // the whole schema of an operator that the table lacks
		known := ops.Find(name)
		if known.Run == nil {
			continue
		}
		formal := known.Schema().Arguments
		for variant := range 60 {
			args := make([]value.Value, len(formal))
			usable := true
			for i := range formal {
				v, ok := argumentFor(&formal[i], stream)
				args[i] = v
				usable = usable && ok
			}
			if !usable {
				break
			}
			if text := panicOf(known, args); text != "" {
				t.Errorf("%s variant %d: %s", known.Name, variant, text)
				break
			}
		}
	}
}

// panicOf runs an operator and returns what it panics with.
func panicOf(o *ops.Operator, args []value.Value) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
			for i := 2; i < 12; i++ {
				if _, file, line, ok := runtime.Caller(i); ok && len(file) > 5 {
					text += fmt.Sprintf(" < %s:%d", file[max(0, len(file)-22):], line)
				}
			}
		}
	}()
	_ = o.Run(args, make([]value.Value, len(o.Schema().Returns)))
	return ""
}
