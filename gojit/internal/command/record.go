package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// describeOperator prints what is known of the overloads of an operator: its name may have a namespace and an overload.
func describeOperator(w io.Writer, name string) error {
	if !strings.Contains(name, "::") {
		name = "aten::" + name
	}
	base := ops.BaseName(name)
	found := false
	for _, o := range ops.Overloads(base) {
		if name == base || name == o.Name {
			found = true
			describeOverload(w, o)
		}
	}
	if text := ops.Example(strings.TrimPrefix(base, "aten::")); text != "" {
		fmt.Fprintln(w, text)
	}
	if !found {
		return usagef("there is no operator %s", name)
	}
	return nil
}

func describeOverload(w io.Writer, o *ops.Operator) {
	fmt.Fprintln(w, o.Schema())
	d := o.Def()
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(w, "    %-10s %s\n", label, text)
		}
	}
	if d.Name != "" && "aten::"+d.Name != o.Name {
		line("record", "that of "+d.Name)
	}
	line("tags", o.AllTags().String())
	if d.Scalar != nil {
		line("scalar", fmt.Sprintf("%d operands, %d numbers, %s", max(d.Operands, 1), d.Numbers, d.Promote))
	}
	switch autograd.Kind(o) {
	case "d":
		line("gradient", "a derivative of its own")
	case "c":
		line("gradient", "that of what it is made of")
	}
	line("node", o.Node())
	line("sample", d.Sample)
	if name, ok := strings.CutPrefix(o.BaseName(), "aten::"); ok {
		line("computes", ops.Sentence(name))
	}
	if o.Run == nil {
		line("runs", "no")
	}
}
