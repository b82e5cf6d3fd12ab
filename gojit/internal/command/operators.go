package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
)

//go:generate sh -c "go run ../../cmd/gojit operators > ../../../docs/operators.md"

func operatorsVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "operators [NAME]", Short: "List the operators, or say what is known of one", GroupID: groupInside, Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return listOperators(s.Out, args) },
	}
}

// listOperators prints docs/operators.md, or the record of an operator.
func listOperators(w io.Writer, args []string) error {
	gojit.LinkOperators()
	if len(args) > 0 {
		return describeOperator(w, args[0])
	}
	overloads, implemented := 0, 0
	var missing []string
	for _, base := range ops.Names() {
		if !strings.HasPrefix(base, "aten::") {
			continue
		}
		runs := 0
		for _, o := range ops.Overloads(base) {
			overloads++
			if o.Run != nil {
				runs++
			}
		}
		implemented += runs
		if runs == 0 && !internal(base) {
			missing = append(missing, strings.TrimPrefix(base, "aten::"))
		}
	}
	fmt.Fprintf(w, `# Operators

Made by `+"`gojit operators`"+`. Of %d overloads in the namespace aten %d run; the others compile, and raise NotImplementedError where they are reached.
Behind a name stands how its gradient is found: **d** a derivative of its own, **c** that of what it is made of (gojit/internal/composite, gojit/internal/autograd), nothing: it
has none, or it is not written: then a gradient that reaches the operator raises an error. Overloads that write in place or into out= are there where PyTorch has them.
`, overloads, implemented)
	for _, family := range aten.Families() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", family.Title, strings.Join(described(family.Names()), ", "))
	}
	fmt.Fprintf(w, "\n## Not implemented\n\n%s\n", strings.Join(missing, ", "))
	return nil
}

// internal reports whether an operator is of no use to programs on the CPU.
func internal(base string) bool {
	name := strings.TrimPrefix(base, "aten::")
	return strings.HasPrefix(name, "_") || slices.ContainsFunc([]string{"cudnn", "miopen", "mkldnn", "backward", "sparse", "fbgemm", "cuda", "slow_conv", "xnn"},
		func(part string) bool { return strings.Contains(name, part) })
}

// described lists operators, the overloads of one name together, with the marks of their gradients.
func described(names []string) []string {
	marks := map[string]string{}
	var order []string
	for _, key := range names {
		o := ops.Find(key)
		if o == nil {
			continue
		}
		base := strings.TrimPrefix(o.BaseName(), "aten::")
		if _, known := marks[base]; !known {
			order = append(order, base)
			marks[base] = ""
		}
		if mark := autograd.Kind(o); mark == "d" || mark != "" && marks[base] == "" {
			marks[base] = mark
		}
	}
	slices.Sort(order)
	for i, base := range order {
		if mark := marks[base]; mark != "" {
			order[i] = base + " **" + mark + "**"
		}
	}
	return order
}
