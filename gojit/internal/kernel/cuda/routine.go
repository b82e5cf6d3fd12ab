package cuda

import (
	"embed"
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// routines are texts that kernels cannot state: what moves elements by indices, orders them, or has threads work together.
//
//go:embed routines
var routines embed.FS

// What the argument of a routine has room for, and how many threads there are in a block.
const (
	MaxTensors = 10
	MaxNumbers = 128
	Width      = 256
)

// TensorCoresFrom returns the architecture from which on tensor cores multiply numbers of a type, 90 for a compute capability of 9.0, 0 for none.
func TensorCoresFrom(d tensor.DType) int32 {
	switch d {
	case tensor.Float16:
		return 75
	case tensor.BFloat16, tensor.Float32, tensor.Float64:
		return 80
	}
	return 0
}

// TensorCores is the name of the text of products that uses them.
const TensorCores = "product_mma"

// RoutineText returns the text of a routine for its types: T0 is the first of them in memory, C0 what is computed with, load0 and store0 go from
// one to the other, combine is the routine's way to combine two. ENTRY_ and the name of the entry point is defined.
func RoutineText(r *kernel.Routine) (string, error) {
	var body strings.Builder
	for at, c := range r.Text + "_" { // pool_means is what pool and pool_means have
		if c != '_' {
			continue
		}
		part, err := routines.ReadFile("routines/" + r.Text[:at] + ".cu")
		if err != nil {
			return "", err
		}
		body.Write(part)
	}
	p := &printer{}
	p.line("typedef struct { i64 n, tensors; char *at[%d]; i64 *failed; i64 number[%d]; } Args;", MaxTensors, MaxNumbers)
	p.line("#define WIDTH %d\n#define ENTRY_%s\n#define TEXT_%s", Width, r.Entry, r.Text)
	if r.Text == TensorCores {
		p.line("#define FROM_ARCHITECTURE %d", TensorCoresFrom(r.Types[0]))
	}
	for i, size := range r.Sizes {
		p.line("#define SIZE%d %d", i, size)
	}
	for i, memory := range r.Types {
		computed := kernel.ComputeType(memory)
		p.line("typedef %s T%d;", typeName(memory), i)
		p.line("typedef %s C%d;\n#define T%d_IS_%s", typeName(computed), i, i, memory)
		if memory.IsComplex() {
			continue // they are only moved
		}
		p.line("DEVICE C%d load%d(const T%d *at) { return %s; }", i, i, i, p.load(memory, computed, "at"))
		p.open("DEVICE void store%d(T%d *at, C%d x)", i, i, i)
		p.store(memory, "at", "x", computed)
		p.close()
	}
	if r.Combine != kernel.NoReduce {
		computed := kernel.ComputeType(r.Types[0])
		p.line("DEVICE C0 combine(C0 x, C0 y) { return %s; }", p.binary(r.Combine.Op(), computed, "x", "y"))
		p.line("#define START %s", constant(computed, r.Combine.Identity(computed)))
		p.line("#define ADDS %t", r.Combine == kernel.ReduceSum)
	}
	if len(r.Types) > 0 {
		switch kernel.ComputeType(r.Types[0]) {
		case tensor.Float32:
			p.line("#define MULTIPLY_ADD(x, y, z) fmaf(x, y, z)")
			p.line("#define EXP(x) expf(x)\n#define LOG(x) logf(x)\n#define SQRT(x) sqrtf(x)\n#define ROOT(turns, sine, cosine) sincospif(turns, sine, cosine)")
		case tensor.Float64:
			p.line("#define MULTIPLY_ADD(x, y, z) fma(x, y, z)")
			p.line("#define EXP(x) exp(x)\n#define LOG(x) log(x)\n#define SQRT(x) sqrt(x)\n#define ROOT(turns, sine, cosine) sincospi(turns, sine, cosine)")
		default:
			p.line("#define MULTIPLY_ADD(x, y, z) (C0)((x) * (y) + (z))")
		}
	}
	if p.err != nil {
		return "", p.err
	}
	return strings.Join([]string{prelude, p.text.String(), body.String()}, "\n"), nil
}

// RoutineKey tells texts of routines apart.
func RoutineKey(r *kernel.Routine) string {
	return fmt.Sprint(r.Text, " ", r.Entry, " ", r.Types, " ", r.Sizes, " ", r.Combine)
}
