package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// isExported reports whether a file holds an exported program rather than a TorchScript archive.
func isExported(file string) bool { return strings.HasSuffix(file, ".pt2") }

// inspectExported lists the inputs and outputs of an exported program.
func inspectExported(w io.Writer, file string) error {
	e, err := gojit.LoadExported(file)
	if err != nil {
		return err
	}
	for _, in := range e.Program.Signature.Inputs {
		fmt.Fprintf(w, "input %s : %s", in.Name, in.Kind)
		if t := e.Tensors[in.Target]; t != nil {
			fmt.Fprintf(w, " %s : %v%v", in.Target, t.DType(), t.Shape())
		}
		fmt.Fprintln(w)
	}
	for _, out := range e.Program.Signature.Outputs {
		fmt.Fprintf(w, "output %s : %s", out.Name, out.Kind)
		if out.Target != "" {
			fmt.Fprintf(w, " %s", out.Target)
		}
		fmt.Fprintln(w)
	}
	return nil
}

func graphOfExported(w io.Writer, file string) error {
	e, err := gojit.LoadExported(file)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, e.Program.Graph.String())
	return err
}

func runExported(w io.Writer, file string, shapes []string) error {
	e, err := gojit.LoadExported(file)
	if err != nil {
		return err
	}
	inputs := make([]value.Value, len(shapes))
	for i, text := range shapes {
		t, err := ones(text)
		if err != nil {
			return err
		}
		inputs[i] = value.OfTensor(t)
	}
	outputs, err := e.Run(context.Background(), inputs...)
	for _, out := range outputs {
		fmt.Fprintln(w, show(out))
	}
	return err
}
