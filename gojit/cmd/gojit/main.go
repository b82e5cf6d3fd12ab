// Gojit loads, shows and runs TorchScript archives from the shell.
//
//	gojit inspect model.pt            what the archive contains: classes, methods, tensors
//	gojit verify model.pt             reads and compiles all of an archive, and runs nothing
//	gojit graph model.pt [method]     the graph of a method
//	gojit code model.pt [method]      a method as source text
//	gojit run model.pt 2x3 [1x4 ...]  forward on tensors of ones of these shapes
//	gojit compile file.py [function]  the graph of a function of a source file
//	gojit operators                   the operators and what they can do, as docs/operators.md
//	gojit operators hypot             the record of an operator: its overloads and what is known of them
//	gojit kernel file.kernel [n]      a kernel from its text: size and time of its machine code
//	gojit cuda file.kernel            a kernel as CUDA C
//
// inspect, graph and run take exported programs (model.pt2) too.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// command is a subcommand.
type command struct {
	name, usage string
	args        int // at least
	run         func(w io.Writer, args []string) error
}

var commands = []command{
	{"inspect", "model.pt", 1, inspect},
	{"verify", "model.pt", 1, verify},
	{"graph", "model.pt [method]", 1, func(w io.Writer, args []string) error {
		if isExported(args[0]) {
			return graphOfExported(w, args[0])
		}
		return showMethod(w, args, func(f *ir.Function) string { return f.Graph().String() })
	}},
	{"code", "model.pt [method]", 1, func(w io.Writer, args []string) error {
		return showMethod(w, args, func(f *ir.Function) string {
			text, _ := archive.PrintFunction(f)
			return text
		})
	}},
	{"run", "model.pt 2x3 [1x4 ...]", 1, run},
	{"compile", "file.py [function]", 1, compile},
	{"operators", "[name]", 0, listOperators},
	{"kernel", "file.kernel [n]", 1, measureKernel},
	{"cuda", "file.kernel", 1, printCUDA},
}

func main() {
	if err := dispatch(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gojit:", err)
		os.Exit(1)
	}
}

func dispatch(w io.Writer, args []string) error {
	for _, c := range commands {
		if len(args) > c.args && args[0] == c.name {
			return c.run(w, args[1:])
		}
	}
	var b strings.Builder
	b.WriteString("usage:")
	for _, c := range commands {
		fmt.Fprintf(&b, "\n\tgojit %s %s", c.name, c.usage)
	}
	return fmt.Errorf("%s", b.String())
}

func inspect(w io.Writer, args []string) error {
	if isExported(args[0]) {
		return inspectExported(w, args[0])
	}
	m, err := gojit.Load(args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "module %s\n", m.Object.Class.Name)
	for _, name := range m.Methods() {
		f, err := m.Method(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "method %s\n", f.Schema)
	}
	inspectObject(w, m.Object, "")
	return nil
}

func inspectObject(w io.Writer, o *value.Object, prefix string) {
	for i, a := range o.Class.Attributes {
		v := o.Slots[i]
		kind := "attribute"
		switch {
		case a.IsParameter:
			kind = "parameter"
		case a.IsBuffer:
			kind = "buffer"
		}
		switch {
		case v.IsTensor():
			fmt.Fprintf(w, "%s %s%s : %s%v\n", kind, prefix, a.Name, v.Tensor().DType(), v.Tensor().Shape())
		case v.Kind() == value.KindObject:
			fmt.Fprintf(w, "module %s%s : %s\n", prefix, a.Name, v.Object().Class.Name)
			inspectObject(w, v.Object(), prefix+a.Name+".")
		default:
			fmt.Fprintf(w, "%s %s%s : %s\n", kind, prefix, a.Name, a.Type.Annotation(nil))
		}
	}
}

func showMethod(w io.Writer, args []string, text func(*ir.Function) string) error {
	m, err := gojit.Load(args[0])
	if err != nil {
		return err
	}
	name := "forward"
	if len(args) > 1 {
		name = args[1]
	}
	f, err := m.Method(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text(f))
	return err
}

// parseShape reads "2x3"; "" is the shape of a number.
func parseShape(text string) ([]int, error) {
	var shape []int
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no shape: expected sizes joined by x, as in 2x3", text)
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// ones is a tensor of a shape.
func ones(text string) (*tensor.Tensor, error) {
	shape, err := parseShape(text)
	if err != nil {
		return nil, err
	}
	return tensor.Full(shape, tensor.Float(1), tensor.Float32)
}

func run(w io.Writer, args []string) error {
	if isExported(args[0]) {
		return runExported(w, args[0], args[1:])
	}
	m, err := gojit.Load(args[0])
	if err != nil {
		return err
	}
	f, err := m.Method("forward")
	if err != nil {
		return err
	}
	inputs := []any{value.OfObject(m.Object)}
	for i, text := range args[1:] {
		if i+1 < len(f.Schema.Arguments) && f.Schema.Arguments[i+1].Type.Kind() == types.KindInt {
			return fmt.Errorf("the argument '%s' is an int; run takes tensors only", f.Schema.Arguments[i+1].Name)
		}
		t, err := ones(text)
		if err != nil {
			return err
		}
		inputs = append(inputs, t)
	}
	out, err := gojit.Call(context.Background(), f, inputs...)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, show(out))
	return nil
}

func show(v value.Value) string {
	return value.Repr(v, func(b *strings.Builder, v value.Value) bool {
		if v.IsTensor() {
			b.WriteString(v.Tensor().String())
		}
		return v.IsTensor()
	})
}

func compile(w io.Writer, args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	p, err := gojit.Compile(args[0], string(text))
	if err != nil {
		return err
	}
	for _, f := range p.Unit.Functions() {
		if len(args) < 2 || f.ShortName() == args[1] {
			fmt.Fprintf(w, "%s\n%s", f.Schema, f.Graph())
		}
	}
	return nil
}
