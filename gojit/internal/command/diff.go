package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/npy"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// difference compares one part of a result with what was wanted.
type difference struct {
	Name     string  `json:"name"`
	Same     bool    `json:"same"`
	Elements int     `json:"elements"`
	Differ   int     `json:"differ"`
	Absolute float64 `json:"largest_absolute"`
	Relative float64 `json:"largest_relative"`
	First    string  `json:"first,omitempty"` // the first that differs
}

// differences is the report of diff.
type differences struct {
	Same  bool         `json:"same"`
	Parts []difference `json:"parts"`
}

func (d *differences) text(w io.Writer) {
	for _, p := range d.Parts {
		if p.Same {
			fmt.Fprintf(w, "%s: the same (largest difference %g, relative %g)\n", p.Name, p.Absolute, p.Relative)
			continue
		}
		fmt.Fprintf(w, "%s: %d of %d elements differ (largest difference %g, relative %g): %s\n", p.Name, p.Differ, p.Elements, p.Absolute, p.Relative, p.First)
	}
}

// comparison is what diff is asked for.
type comparison struct {
	want, against      string
	relative, absolute float64
}

func diffVerb(s *Session) *cobra.Command {
	c, d := &call{}, &comparison{}
	verb := &cobra.Command{
		Use: "diff MODEL [INPUT...] --want FILE | --against MODEL", Short: "Compare results with recorded ones, or with another model's", GroupID: groupRun, Args: cobra.MinimumNArgs(1),
		Long: "Calls a method and compares the parts of its result with the arrays of a file, or with what another model gives for the same inputs. " +
			"The status is 1 where they differ. Two numbers are the same where |a - b| <= atol + rtol * |b|, and where both are NaN.",
		Example: "  gojit diff model.pt --input x.npy --want y.npz --rtol 1e-4",
		RunE:    func(cmd *cobra.Command, args []string) error { return s.diff(cmd.Context(), c, d, args) },
	}
	c.flags(verb)
	verb.Flags().StringVarP(&d.want, "want", "w", "", "an .npy, .npz or .json with the result that is wanted")
	verb.Flags().StringVar(&d.against, "against", "", "a model to compare with")
	verb.Flags().Float64Var(&d.relative, "rtol", 1e-5, "relative tolerance")
	verb.Flags().Float64Var(&d.absolute, "atol", 1e-6, "absolute tolerance")
	return verb
}

func (s *Session) diff(ctx context.Context, c *call, d *comparison, args []string) error {
	if (d.want == "") == (d.against == "") {
		return usagef("expected --want FILE or --against MODEL, and not both")
	}
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	seed := func() { rng.Default().Seed(uint64(c.seed)) }
	seed()
	got, err := model.Call(ctx, c.method, inputs...)
	if err != nil {
		return err
	}
	var want []gojit.Output
	if d.want != "" {
		want, err = s.readResult(d.want)
	} else {
		var other gojit.Model
		if other, err = s.openModel(d.against); err != nil {
			return named(d.against, err)
		}
		seed()
		var out gojit.Value
		out, err = other.Call(ctx, c.method, inputs...)
		want = gojit.Outputs(out)
	}
	if err != nil {
		return err
	}
	r, err := d.compare(gojit.Outputs(got), want)
	if err != nil {
		return err
	}
	if err := s.print(r); err != nil || r.Same {
		return err
	}
	return failed{StatusFailed}
}

// readResult reads the parts of a recorded result.
func (s *Session) readResult(path string) ([]gojit.Output, error) {
	data, err := s.readFile(path)
	if err != nil {
		return nil, err
	}
	fail := func(err error) ([]gojit.Output, error) {
		return nil, &errs.FileError{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
	}
	var parts []gojit.Output
	switch {
	case npy.IsNPY(data):
		t, err := npy.Read(data)
		if err != nil {
			return fail(err)
		}
		return append(parts, gojit.Output{Name: "output", Value: value.OfTensor(t)}), nil
	case npy.IsNPZ(data):
		arrays, err := npy.ReadArchive(data)
		if err != nil {
			return fail(err)
		}
		for _, a := range arrays {
			parts = append(parts, gojit.Output{Name: a.Name, Value: value.OfTensor(a.Tensor)})
		}
		return parts, nil
	}
	var items map[string]json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return fail(err)
	}
	for name, item := range items {
		v, err := gojit.ValueOf(item)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", name, err))
		}
		parts = append(parts, gojit.Output{Name: name, Value: v})
	}
	return parts, nil
}

// compare compares parts of the same names; those without a name that both have are compared in order.
func (d *comparison) compare(got, want []gojit.Output) (*differences, error) {
	if len(got) != len(want) {
		return nil, fmt.Errorf("the result has %d parts, %d are wanted", len(got), len(want))
	}
	byName := map[string]gojit.Value{}
	for _, w := range want {
		byName[w.Name] = w.Value
	}
	r := &differences{Same: true}
	for i, g := range got {
		w, ok := byName[g.Name]
		if !ok {
			w = want[i].Value
		}
		p, err := d.part(g, w)
		if err != nil {
			return nil, err
		}
		r.Same = r.Same && p.Same
		r.Parts = append(r.Parts, *p)
	}
	return r, nil
}

func (d *comparison) part(g gojit.Output, want gojit.Value) (*difference, error) {
	p := &difference{Name: g.Name, Same: true}
	if !g.Value.IsTensor() || !want.IsTensor() {
		p.Elements = 1
		if a, b := show(g.Value), show(want); a != b {
			p.Same, p.Differ, p.First = false, 1, fmt.Sprintf("%s, wanted %s", a, b)
		}
		return p, nil
	}
	a, b := g.Value.Tensor(), want.Tensor()
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		p.Same, p.Elements, p.Differ = false, a.Numel(), a.Numel()
		p.First = fmt.Sprintf("shape %s, wanted %s", tensor.FormatShape(a.Shape()), tensor.FormatShape(b.Shape()))
		return p, nil
	}
	x, err := numbers(a)
	if err != nil {
		return nil, err
	}
	y, err := numbers(b)
	if err != nil {
		return nil, err
	}
	p.Elements = len(x)
	for i := range x {
		d.element(p, i, x[i], y[i])
	}
	return p, nil
}

// numbers returns the elements of a tensor; complex ones as their parts.
func numbers(t *tensor.Tensor) ([]float64, error) {
	if !t.DType().IsComplex() {
		return t.Float64s()
	}
	wide, err := t.To(tensor.Complex128)
	if err != nil {
		return nil, err
	}
	elements, err := tensor.Elements[complex128](wide)
	var parts []float64
	for _, c := range elements {
		parts = append(parts, real(c), imag(c))
	}
	return parts, err
}

func (d *comparison) element(p *difference, i int, x, y float64) {
	gap := math.Abs(x - y)
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return
	}
	if !math.IsNaN(gap) && !math.IsInf(gap, 0) {
		p.Absolute = max(p.Absolute, gap)
		if y != 0 {
			p.Relative = max(p.Relative, gap/math.Abs(y))
		}
	}
	if gap <= d.absolute+d.relative*math.Abs(y) {
		return
	}
	if p.Same {
		p.Same, p.First = false, fmt.Sprintf("element %d is %g, wanted %g", i, x, y)
	}
	p.Differ++
}
