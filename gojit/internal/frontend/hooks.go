package frontend

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// CheckHooks fails where a hook of a class of modules has parameters or a result that do not go with
// forward. The hooks and forward have been compiled. annotated reports whether the type of a hook's result is written.
func CheckHooks(class *types.Class, annotated func(types.Method) bool) error {
	forward, ok := class.FindMethod("forward").(*ir.Function)
	if !ok {
		return nil
	}
	c := hookChecker{lastAtom(class.Name), forward.Schema, annotated}
	for _, h := range class.PreHooks {
		if err := c.preHook(h.(*ir.Function)); err != nil {
			return err
		}
	}
	output := forward.Schema.Returns[0].Type
	for _, h := range class.Hooks {
		if err := c.hook(h.(*ir.Function), output); err != nil {
			return err
		}
		output = h.(*ir.Function).Schema.Returns[0].Type
	}
	return nil
}

// hookChecker compares hooks of a module with its forward method.
type hookChecker struct {
	module    string
	forward   *schema.FunctionSchema
	annotated func(types.Method) bool
}

// inputs are the types of what forward takes.
func (c *hookChecker) inputs() []types.Type {
	var ts []types.Type
	for _, a := range c.forward.Arguments[1:] {
		ts = append(ts, a.Type)
	}
	return ts
}

// hookFailure makes the error of a hook: who it is about, what is wrong, what was expected.
type hookFailure struct{ about, expected string }

func (f hookFailure) errorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, "%s%s%s", f.about, fmt.Sprintf(format, args...), f.expected)
}

func (c *hookChecker) preHook(f *ir.Function) error {
	input := types.NewTuple(c.inputs()...).Annotation(nil)
	single := " or "
	if len(c.inputs()) == 1 && c.inputs()[0].Kind() != types.KindTuple {
		single = ", '" + c.inputs()[0].Annotation(nil) + "', or "
	}
	name := f.ShortName()
	failure := hookFailure{
		fmt.Sprintf("Pre-hook '%s' on module '%s' ", name, c.module),
		fmt.Sprintf("This error occured while scripting the forward pre-hook '%s' on module '%s'. If you did not want to script this pre-hook "+
			"remove it from the original NN module before scripting. Pre-hooks for module '%s' are expected to have the following signature: "+
			"%s(self, input: %s) with a return type of either 'None'%s'%s'.\n", name, c.module, c.module, name, input, single, input)}
	args := f.Schema.Arguments
	if len(args) != 2 {
		return failure.errorf("was expected to only have exactly 2 inputs but it had %d inputs. ", len(args))
	}
	if err := c.inputTuple(args[1].Type, failure); err != nil {
		return err
	}
	if !c.annotated(f) {
		return failure.errorf("is missing a return annotation. Return annotations are required, please add one.\n")
	}
	return c.preHookResult(f.Schema.Returns[0].Type, failure)
}

func (c *hookChecker) preHookResult(result types.Type, failure hookFailure) error {
	wrong := "returned the wrong type of: '" + result.Annotation(nil) + "'."
	tuple, isTuple := result.(*types.Tuple)
	switch {
	case result.Kind() == types.KindNone:
	case len(c.inputs()) == 0:
		if !isTuple || len(tuple.Elems) > 0 {
			return failure.errorf("%s Was expecting either 'None' or 'Tuple[()]' since forward had no arguments.\n", wrong)
		}
	case len(c.inputs()) == 1 && types.Equal(c.inputs()[0], result):
		if isTuple {
			return failure.errorf("%s When forward has a single tuple input argument, the return needs to be 'None' or a nested tuple "+
				"containing forward's input tuple argument as in: 'Tuple[%s]'.\n", wrong, result.Annotation(nil))
		}
	case !isTuple:
		return failure.errorf("%s", wrong)
	case len(tuple.Elems) != len(c.inputs()):
		return failure.errorf("%s The returned tuple contains the wrong number of contained types.\n", wrong)
	case !sameTypes(tuple.Elems, c.inputs()):
		return failure.errorf("%s The returned tuple contains the wrong inner types.\n", wrong)
	}
	return nil
}

// hook checks a hook that runs behind forward. output is the type of what it is shown: the result of
// forward or of the hook before.
func (c *hookChecker) hook(f *ir.Function, output types.Type) error {
	name := f.ShortName()
	failure := hookFailure{
		fmt.Sprintf("Hook '%s' on module '%s' ", name, c.module),
		fmt.Sprintf("This error occured while scripting the forward hook '%s' on module %s. If you did not want to script this hook "+
			"remove it from the original NN module before scripting. This hook was expected to have the following signature: %s(self, input: %s, output: %s). "+
			"The type of the output arg is the returned type from either the forward method or the previous hook if it exists. Note that hooks can return "+
			"anything, but if the hook is on a submodule the outer module is expecting the same return type as the submodule's forward.\n",
			name, c.module, name, types.NewTuple(c.inputs()...).Annotation(nil), output.Annotation(nil))}
	args := f.Schema.Arguments
	if len(args) != 3 {
		return failure.errorf("was expected to only have exactly 3 inputs but it had %d inputs. ", len(args))
	}
	if err := c.inputTuple(args[1].Type, failure); err != nil {
		return err
	}
	if !types.Equal(types.Unshaped(args[2].Type), types.Unshaped(output)) {
		return failure.errorf("has the wrong type for the output argument. Received type: '%s'. Expected type: '%s'.\n",
			args[2].Type.Annotation(nil), output.Annotation(nil))
	}
	return nil
}

// inputTuple checks the parameter of a hook that is shown what forward takes.
func (c *hookChecker) inputTuple(t types.Type, failure hookFailure) error {
	tuple, ok := t.(*types.Tuple)
	shown := t.Annotation(nil)
	switch {
	case !ok:
		return failure.errorf("expected the input argument to be typed as a Tuple but found type: '%s' instead.\n", shown)
	case len(c.inputs()) == 0 && len(tuple.Elems) > 0:
		return failure.errorf("was expecting Tuple[()] as the input type. Received type: '%s'.\n", shown)
	case len(tuple.Elems) != len(c.inputs()):
		return failure.errorf("has the wrong number of contained types for the input argument's Tuple. Received type: '%s'.\n", shown)
	case !sameTypes(tuple.Elems, c.inputs()):
		return failure.errorf("has the wrong inner types for the input tuple argument. Received type: '%s'.\n", shown)
	}
	return nil
}

func sameTypes(a, b []types.Type) bool {
	for i := range a {
		if !types.Equal(types.Unshaped(a[i]), types.Unshaped(b[i])) {
			return false
		}
	}
	return true
}
