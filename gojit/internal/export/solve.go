package export

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// solve captures a graph that refuses the sizes that symbols have in some of the runs: it looks for symbols that are in a smaller range,
// that follow from others, or that have to be what they are in the example. It fails where they are ones that are to be dynamic.
func solve(g *ir.Graph, o *Options, first *conflict) (*exportir.Program, error) {
	found, at := o, first
	for range 3*len(o.Symbols) + 1 {
		var best *Options
		var next *conflict
		for _, tier := range candidates(found, at) {
			for _, candidate := range tier {
				p, err := captureRanges(g, candidate)
				var c *conflict
				switch {
				case err == nil:
					return p, candidate.explain(o, first)
				case !errors.As(err, &c):
					return nil, err
				case c.isBehind(at) && (next == nil || c.reached > next.reached):
					best, next = candidate, c
				}
			}
			if best != nil {
				break // what says less is not tried
			}
		}
		if best == nil {
			break
		}
		found, at = best, next
	}
	return nil, first.err
}

// isBehind reports whether a conflict is found later than another: at a later node, or in another dimension of the same one.
func (e *conflict) isBehind(other *conflict) bool {
	if e.reached != other.reached {
		return e.reached > other.reached
	}
	return e.guard == nil && other.guard == nil && withoutSizes(e.err.Text) != withoutSizes(other.err.Text)
}

// withoutSizes is a message without the numbers in it, but for those of dimensions.
func withoutSizes(text string) string {
	return numbers.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "dimension") {
			return found
		}
		return ""
	})
}

var numbers = regexp.MustCompile(`(dimension )?[0-9][0-9.]*`)

// candidates are the options with one thing more that holds of symbols: ranges, then relations, then constants.
func candidates(o *Options, at *conflict) (tiers [][]*Options) {
	if narrowed := o.narrowed(at.guard); narrowed != nil {
		tiers = append(tiers, []*Options{narrowed})
	}
	for _, relate := range []func(s, t exportir.Symbol) (symbolic.Size, bool){equal, offset, ratio} {
		var list []*Options
		for i, s := range o.Symbols {
			for _, t := range o.Symbols[i+1:] {
				a, b := s, t
				if a.Hint > b.Hint {
					a, b = b, a
				}
				if is, ok := relate(a, b); ok && o.isFree(a) && o.isFree(b) {
					list = append(list, o.with(b.Name, is))
				}
			}
		}
		tiers = append(tiers, list)
	}
	var list []*Options
	for _, s := range o.Symbols {
		if o.isFree(s) {
			list = append(list, o.with(s.Name, symbolic.Constant(s.Hint)))
		}
	}
	return append(tiers, list)
}

func equal(s, t exportir.Symbol) (symbolic.Size, bool) {
	return symbolic.Symbol(s.Name), s.Hint == t.Hint
}

func offset(s, t exportir.Symbol) (symbolic.Size, bool) {
	return symbolic.Plus(symbolic.Symbol(s.Name), t.Hint-s.Hint), s.Hint != t.Hint
}

func ratio(s, t exportir.Symbol) (symbolic.Size, bool) {
	if s.Hint < 2 || t.Hint%s.Hint != 0 || t.Hint == s.Hint {
		return symbolic.Size{}, false
	}
	return symbolic.Times(t.Hint/s.Hint, symbolic.Symbol(s.Name)), true
}

// with are the options where a symbol is known to be a size.
func (o *Options) with(name string, is symbolic.Size) *Options {
	c := *o
	c.Known = maps.Clone(o.Known)
	if c.Known == nil {
		c.Known = map[string]symbolic.Size{}
	}
	c.Known[name] = is
	return &c
}

// narrowed are the options where a symbol is in the range that a guard asks for; nil where it asks for none.
func (o *Options) narrowed(g *guard) *Options {
	if g == nil || g.multiple > 0 {
		return nil
	}
	c := *o
	c.Symbols = slices.Clone(o.Symbols)
	s := c.symbol(g.symbol)
	s.Lower, s.Upper = g.lower, g.upper
	return &c
}

// isFree reports whether a symbol is not known to be something else.
func (o *Options) isFree(s exportir.Symbol) bool {
	_, known := o.Known[s.Name]
	return !known
}

// symbol returns the symbol of a name.
func (o *Options) symbol(name string) *exportir.Symbol {
	for i := range o.Symbols {
		if o.Symbols[i].Name == name {
			return &o.Symbols[i]
		}
	}
	return nil
}

// violations are what has been found of symbols against what was asked for.
type violations struct{ names, reasons, fixes []string }

func (v *violations) add(name, fix, reason string, args ...any) {
	if !slices.Contains(v.names, name) {
		v.names = append(v.names, name)
	}
	v.reasons = append(v.reasons, "  - "+fmt.Sprintf(reason, args...))
	if fix != "" {
		v.fixes = append(v.fixes, fix)
	}
}

// explain fails where symbols that are to be dynamic have turned out to be something else than was asked for.
func (o *Options) explain(asked *Options, first *conflict) error {
	v := &violations{}
	for i, s := range asked.Symbols {
		is, known := o.Known[s.Name]
		switch {
		case known && is.IsConstant() && s.Must:
			v.fixed(&s, is.Const, first.guard)
		case known && !is.IsConstant() && s.Label != "":
			v.related(&s, is, o)
		case !known && s.Must:
			v.narrowed(&s, &o.Symbols[i])
		}
	}
	if len(v.names) == 0 {
		return nil
	}
	fixes := ""
	if len(v.fixes) > 0 {
		fixes = "\n\nSuggested fixes:\n  " + strings.Join(v.fixes, "\n  ")
	}
	return source.Errorf(source.RuntimeError, first.err.Range, "Constraints violated (%s)!\n%s\nWith other sizes: %s%s",
		strings.Join(v.names, ", "), strings.Join(v.reasons, "\n"), first.err.Text, fixes)
}

func (v *violations) fixed(s *exportir.Symbol, n int, g *guard) {
	if g != nil && g.symbol == s.Name && g.multiple > 0 {
		v.add(s.Called(), fmt.Sprintf("_%s = Dim('_%[1]s')\n  %[1]s = %d*_%[1]s", s.Called(), g.multiple),
			"Not all values of %s = %s in the specified range satisfy the generated guard %[2]s %% %[3]d == 0.", s.Called(), s.Place, g.multiple)
		return
	}
	v.add(s.Called(), fmt.Sprintf("%s = %d", s.Called(), n),
		"Not all values of %s = %s in the specified range are valid because %[1]s was inferred to be a constant (%[3]d).", s.Called(), s.Place, n)
}

// related explains a symbol that follows from another one.
func (v *violations) related(s *exportir.Symbol, is symbolic.Size, o *Options) {
	var other *exportir.Symbol
	is.Symbols(func(name string) { other = o.symbol(name) })
	if other.Label == "" {
		return
	}
	text := strings.ReplaceAll(is.String(), other.Name, other.Label)
	if is.Name != "" {
		v.add(s.Called(), s.Called()+" = "+text, "The values of %s = %s and %s = %s must always be equal.",
			s.Called(), s.Place, other.Called(), other.Place)
		return
	}
	v.add(s.Called(), s.Called()+" = "+text, "The values of %s = %s must always be related to the values of %s = %s by %[1]s = %[5]s.",
		s.Called(), s.Place, other.Called(), other.Place, text)
}

// narrowed explains a range that is smaller than the one that was asked for.
func (v *violations) narrowed(asked, is *exportir.Symbol) {
	if asked.Lower == is.Lower && asked.Upper == is.Upper || asked.Label == "" {
		return
	}
	var bounds, guards []string
	if is.Lower > 0 {
		bounds = append(bounds, fmt.Sprintf("min=%d", is.Lower))
		guards = append(guards, fmt.Sprintf("%d <= %s", is.Lower, asked.Place))
	}
	if is.Upper >= 0 {
		bounds = append(bounds, fmt.Sprintf("max=%d", is.Upper))
		guards = append(guards, fmt.Sprintf("%s <= %d", asked.Place, is.Upper))
	}
	v.add(asked.Called(), fmt.Sprintf("%s = Dim('%[1]s', %s)", asked.Called(), strings.Join(bounds, ", ")),
		"Not all values of %s = %s in the specified range satisfy the generated guard %s.",
		asked.Called(), asked.Place, strings.Join(guards, " and "))
}
