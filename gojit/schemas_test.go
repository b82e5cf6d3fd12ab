package gojit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// TestEverySchemaCompiles calls each operator of the table with arguments of the schema's types. The
// call compiles and resolves to that overload, or to an earlier one that takes the same arguments.
func TestEverySchemaCompiles(t *testing.T) {
	compiled := 0
	for _, name := range ops.Names() {
		for i, o := range ops.Overloads(name) {
			if o.Schema().IsVarret {
				continue // nodes that passes make
			}
			found, err := resolvedCall(o.Schema())
			if err != nil {
				t.Errorf("%s: %v", o.Schema(), err)
				continue
			}
			compiled++
			if found.BaseName() == name && found != o && !slices.Contains(ops.Overloads(name)[:i], found) {
				t.Errorf("%s: the call resolved to %s", o.Schema(), found.Schema())
			}
		}
	}
	if compiled < 4100 {
		t.Errorf("%d schemas compile", compiled)
	}
}

// resolvedCall compiles a call of an operator and returns the overload that it resolved to.
func resolvedCall(s *schema.FunctionSchema) (*ops.Operator, error) {
	text, scope := callOf(s)
	f, err := compileWith(text, scope)
	if err != nil {
		return nil, err
	}
	var found *ops.Operator
	f.Graph().Block().Walk(func(n *ir.Node) {
		if n.Kind() == s.Name || n.Kind() == ops.CanonicalName(s.Name) || s.Name == "aten::rsub" && n.Kind() == "aten::sub" {
			found = n.Operator()
		}
	})
	if _, folded := f.Graph().Outputs()[0].Constant(); folded && len(s.Arguments) == 0 {
		return ops.Overloads(s.Name)[0], nil
	}
	if found == nil {
		return nil, fmt.Errorf("the graph has no call:\n%s", f.Graph())
	}
	return found, nil
}

// callOf writes a function that calls an operator with its parameters as arguments.
func callOf(s *schema.FunctionSchema) (text string, scope schemaScope) {
	scope.types = map[string]types.Type{}
	var params, args []string
	for i, a := range s.Arguments {
		name := fmt.Sprintf("T%d", i)
		scope.types[name] = withoutVars(a.Type)
		params = append(params, fmt.Sprintf("a%d: %s", i, name))
		if a.KwargOnly {
			args = append(args, fmt.Sprintf("%s=a%d", a.Name, i))
		} else {
			args = append(args, fmt.Sprintf("a%d", i))
		}
	}
	callee := "ops." + strings.Replace(s.Name, "::", ".", 1)
	return fmt.Sprintf("def f(%s):\n    return %s(%s)\n", strings.Join(params, ", "), callee, strings.Join(args, ", ")), scope
}

// withoutVars replaces type variables by a type that any container may have.
func withoutVars(t types.Type) types.Type {
	return types.Map(t, func(t types.Type) types.Type {
		if t.Kind() == types.KindVar {
			return types.Int
		}
		return t
	})
}

func compileWith(text string, scope schemaScope) (*ir.Function, error) {
	defs, err := syntax.ParseFile(source.NewText("schemas.py", text, 1))
	if err != nil {
		return nil, err
	}
	f := ir.NewLazyFunction("f", nil, func(f *ir.Function) error {
		return frontend.Compile(f, syntax.AsDef(defs[0]), frontend.Options{Resolver: scope})
	})
	return f, f.EnsureDefined()
}

// schemaScope resolves ops.NAMESPACE.NAME and the names of types that a test gives.
type schemaScope struct{ types map[string]types.Type }

// ResolveValue implements frontend.Resolver.
func (s schemaScope) ResolveValue(name string, _ source.Range) (frontend.SugaredValue, error) {
	if name != "ops" {
		return nil, nil
	}
	return frontend.NewHostModule(func(namespace string) (frontend.SugaredValue, error) {
		return frontend.NewNamespace(namespace), nil
	}), nil
}

// ResolveType implements frontend.Resolver.
func (s schemaScope) ResolveType(name string, _ source.Range) (types.Type, error) {
	return s.types[name], nil
}

// TestOperatorWithoutImplementation: it compiles, and running it says what is missing and where.
func TestOperatorWithoutImplementation(t *testing.T) {
	f, err := compileWith("def f(n: int):\n    return ops.aten._cufft_get_plan_cache_size(n)\n", schemaScope{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = gojit.Run(context.Background(), f, value.Int(0))
	if source.ClassOf(err) != source.NotImplementedError {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"~ <--- HERE", "the operator aten::_cufft_get_plan_cache_size is not implemented"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in:\n%v", part, err)
		}
	}
}
