package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/types"
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
	var items map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&items); err != nil {
		return fail(err)
	}
	for name, item := range items {
		v, err := recorded(item)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", name, err))
		}
		parts = append(parts, gojit.Output{Name: name, Value: v})
	}
	return parts, nil
}

// recorded returns a value of JSON. A list may have stood for a tuple, whose items have types of their own, and so may those of a dictionary.
func recorded(x any) (gojit.Value, error) {
	switch x := x.(type) {
	case []any:
		items := make([]gojit.Value, len(x))
		for i, item := range x {
			var err error
			if items[i], err = recorded(item); err != nil {
				return value.None, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return value.OfTuple(value.NewTuple(items...)), nil
	case map[string]any:
		if _, isTensor := x["dtype"]; isTensor {
			return gojit.ValueOf(x)
		}
		d := value.NewDict(types.Str, types.Any)
		for key, item := range x {
			v, err := recorded(item)
			if err != nil {
				return value.None, fmt.Errorf("%s: %w", key, err)
			}
			d.Set(value.Str(key), v)
		}
		return value.OfDict(d), nil
	}
	return gojit.ValueOf(x)
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
	return p, d.values(p, "", g.Value, want)
}

// values compares two values at a place of a part. Containers are the same where their items are: a file of JSON has lists for tuples.
func (d *comparison) values(p *difference, place string, got, want gojit.Value) error {
	if got.IsTensor() && want.IsTensor() {
		return d.tensors(p, place, got.Tensor(), want.Tensor())
	}
	if x, ok := numberOf(got); ok {
		if y, ok := numberOf(want); ok {
			p.Elements++
			if d.element(p, x, y) {
				p.differs(1, "%s%g, wanted %g", at(place), x, y)
			}
			return nil
		}
	}
	keys, items, ok := itemsOf(got)
	wantedKeys, wanted, alike := itemsOf(want)
	if !ok || !alike || len(items) != len(wanted) {
		p.Elements++
		if a, b := textOf(got), textOf(want); a != b {
			p.differs(1, "%s%s, wanted %s", at(place), a, b)
		}
		return nil
	}
	others := map[string]gojit.Value{}
	for i, key := range wantedKeys {
		others[key] = wanted[i]
	}
	for i, key := range keys {
		other, ok := others[key]
		if !ok {
			p.Elements++
			p.differs(1, "%s%s is not among what is wanted", at(place), key)
			continue
		}
		if err := d.values(p, place+"["+key+"]", items[i], other); err != nil {
			return err
		}
	}
	return nil
}

// differs notes elements that differ, and of the first of them what is said.
func (p *difference) differs(elements int, format string, args ...any) {
	if p.Same {
		p.Same, p.First = false, fmt.Sprintf(format, args...)
	}
	p.Differ += elements
}

// at begins what is said of a place within a part.
func at(place string) string {
	if place == "" {
		return ""
	}
	return place + ": "
}

// numberOf returns a number, which is one of the words of JSON where it is not finite.
func numberOf(v gojit.Value) (float64, bool) {
	switch v.Kind() {
	case value.KindInt:
		return float64(v.Int()), true
	case value.KindFloat:
		return v.Float(), true
	case value.KindString:
		f, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[v.Str()]
		return f, ok
	}
	return 0, false
}

// textOf returns what stands for a value in a file of JSON, where that is a text.
func textOf(v gojit.Value) string {
	switch v.Kind() {
	case value.KindEnum:
		v = value.Str(v.Enum().Name())
	case value.KindDevice:
		v = value.Str(v.Device().String())
	}
	return v.String()
}

// itemsOf returns the items of a container, with their places or keys as text. A complex number is its two parts, as in JSON.
func itemsOf(v gojit.Value) (keys []string, items []gojit.Value, ok bool) {
	switch v.Kind() {
	case value.KindList:
		items = v.List().Items
	case value.KindTuple:
		items = v.Tuple().Items
	case value.KindComplex:
		items = []gojit.Value{value.Float(real(v.Complex())), value.Float(imag(v.Complex()))}
	case value.KindDict:
		for k, item := range v.Dict().All {
			keys, items = append(keys, keyText(k)), append(items, item)
		}
		return keys, items, true
	default:
		return nil, nil, false
	}
	for i := range items {
		keys = append(keys, fmt.Sprint(i))
	}
	return keys, items, true
}

// keyText returns a key as files of JSON have it.
func keyText(k gojit.Value) string {
	if k.Kind() == value.KindString {
		return k.Str()
	}
	return value.Repr(k, nil)
}

func (d *comparison) tensors(p *difference, place string, a, b *tensor.Tensor) error {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		p.Elements += a.Numel()
		p.differs(a.Numel(), "%sshape %s, wanted %s", at(place), tensor.FormatShape(a.Shape()), tensor.FormatShape(b.Shape()))
		return nil
	}
	x, err := numbers(a)
	if err != nil {
		return err
	}
	y, err := numbers(b)
	if err != nil {
		return err
	}
	p.Elements += len(x)
	for i := range x {
		if d.element(p, x[i], y[i]) {
			p.differs(1, "%selement %d is %g, wanted %g", at(place), i, x[i], y[i])
		}
	}
	return nil
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

// element compares two numbers and reports whether they differ by more than what is allowed.
func (d *comparison) element(p *difference, x, y float64) bool {
	gap := math.Abs(x - y)
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return false
	}
	if !math.IsNaN(gap) && !math.IsInf(gap, 0) {
		p.Absolute = max(p.Absolute, gap)
		if y != 0 {
			p.Relative = max(p.Relative, gap/math.Abs(y))
		}
	}
	return !(gap <= d.absolute+d.relative*math.Abs(y))
}
