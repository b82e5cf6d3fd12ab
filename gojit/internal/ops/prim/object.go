package prim

import (
	"hash/maphash"
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Objects holds the operators on enums, devices, futures and objects, and on the state of the
// process.
var Objects = join(
	one("prim::EnumName", func(args, out []value.Value) error {
		out[0] = value.Str(args[0].Enum().Name())
		return nil
	}),
	overloads("prim::EnumValue", func(args, out []value.Value) error {
		out[0] = args[0].Enum().Value()
		return nil
	}, "int", "float", "str"),
	one("aten::device", func(args, out []value.Value) error {
		d, err := tensor.ParseDevice(args[0].Str())
		out[0] = value.OfDevice(d)
		return err
	}),
	one("prim::type", func(args, out []value.Value) error {
		out[0] = value.Str(tensor.NewDevice(args[0].Device().Type, -1).String())
		return nil
	}),
	one("prim::index", func(args, out []value.Value) error {
		out[0] = value.None
		if d := args[0].Device(); d.Index() >= 0 {
			out[0] = value.Int(int64(d.Index()))
		}
		return nil
	}),
	one("aten::wait", wait),
	one("prim::awaitable_wait(Await(t) self) -> t # effectful", wait),
	one("prim::awaitable_nowait(t self) -> Await(t)", func(args, out []value.Value) error {
		ready := value.NewAwait(value.TypeOf(args[0]), nil)
		ready.Complete(args[0], nil)
		out[0] = value.OfFuture(ready)
		return nil
	}),
	one("prim::id", func(args, out []value.Value) error {
		out[0] = value.Int(0)
		if args[0].Kind() == value.KindObject {
			out[0] = value.Int(int64(uintptr(unsafe.Pointer(args[0].Object()))))
		}
		return nil
	}),
	one("aten::hash.generic", func(args, out []value.Value) error {
		h, err := hash(args[0])
		out[0] = value.Int(h)
		return err
	}),
	one("prim::ModuleContainerIndex.list", func(args, out []value.Value) error {
		n := containerLength(args[0])
		i, err := position(args[1].Int(), n, "module list")
		if err != nil {
			return err
		}
		return containerItem(args[0], strconv.Itoa(i), out)
	}),
	one("prim::ModuleContainerIndex.dict", func(args, out []value.Value) error {
		return containerItem(args[0], args[1].Str(), out)
	}),
	one("aten::_unwrap_optional", func(args, out []value.Value) error {
		if args[0].IsNone() {
			return errorf("Unwrapping null optional")
		}
		out[0] = args[0]
		return nil
	}),
	one("prim::IfThenElse", func(args, out []value.Value) error {
		out[0] = args[2]
		if args[0].Bool() {
			out[0] = args[1]
		}
		return nil
	}),
	one("aten::warn", func(args, out []value.Value) error { return source.Warn(args[0].Str(), source.Range{}) }),
	one("aten::save", func(args, out []value.Value) error {
		save := saver.Load()
		if save == nil {
			return errorf("only a program that Python runs can save values")
		}
		return (*save)(args[0], args[1].Str())
	}),
	one("aten::is_scripting", constant(value.Bool(true))),
	one("aten::has_torch_function", constant(value.Bool(false))),
	one("aten::_get_tracing_state", constant(value.Bool(false))),
	one("aten::_nnpack_available", constant(value.Bool(false))),
	one("aten::cudnn_is_acceptable", constant(value.Bool(false))),
	one("aten::is_vulkan_available", constant(value.Bool(false))),
	one("aten::_use_cudnn_rnn_flatten_weight", constant(value.Bool(false))),
	one("prim::AutogradZero", constant(value.None)),
	one("prim::AutogradAllZero", ofGradients(func(defined, undefined bool) bool { return !defined })),
	one("prim::AutogradAllNonZero", ofGradients(func(defined, undefined bool) bool { return !undefined })),
	one("prim::AutogradAnyNonZero", ofGradients(func(defined, undefined bool) bool { return defined })),
)

// hash returns a number that equal values share. Tensors are equal to themselves alone.
func hash(v value.Value) (int64, error) {
	switch v.Kind() {
	case value.KindNone:
		return 0, nil
	case value.KindInt, value.KindBool, value.KindFloat:
		return v.Int(), nil
	case value.KindString:
		return int64(maphash.String(hashSeed, v.Str())), nil
	case value.KindDevice:
		return int64(maphash.String(hashSeed, Display(v))), nil
	case value.KindTensor:
		return int64(uintptr(unsafe.Pointer(v.Tensor()))), nil
	case value.KindTuple:
		var sum maphash.Hash
		sum.SetSeed(hashSeed)
		for _, item := range v.Tuple().Items {
			h, err := hash(item)
			if err != nil {
				return 0, err
			}
			maphash.WriteComparable(&sum, h)
		}
		return int64(sum.Sum64()), nil
	}
	return 0, errorf("unhashable type: '%s'", types.Repr(value.TypeOf(v)))
}

// ofGradients makes an operator that asks whether some gradients are defined and whether some are not: None stands for these.
func ofGradients(ask func(defined, undefined bool) bool) func(args, out []value.Value) error {
	return func(args, out []value.Value) error {
		defined, undefined := false, false
		for _, v := range args {
			if v.IsNone() {
				undefined = true
			} else {
				defined = true
			}
		}
		out[0] = value.Bool(ask(defined, undefined))
		return nil
	}
}

// containerLength returns the number of modules that a container numbers from 0.
func containerLength(v value.Value) int {
	if v.Kind() != value.KindObject {
		return 0
	}
	n := 0
	for v.Object().Class.AttributeIndex(strconv.Itoa(n)) >= 0 {
		n++
	}
	return n
}

func containerItem(v value.Value, name string, out []value.Value) (err error) {
	if v.Kind() != value.KindObject {
		return errorf("a %s is no container of modules", v.Kind())
	}
	item, ok := v.Object().Attr(name)
	if !ok {
		return keyError(value.Str(name))
	}
	out[0] = item
	return nil
}

var hashSeed = maphash.MakeSeed()

func constant(v value.Value) func(args, out []value.Value) error {
	return func(args, out []value.Value) error {
		out[0] = v
		return nil
	}
}

// saver writes values into files.
var saver atomic.Pointer[func(v value.Value, file string) error]

// OnSave sets what writes a value that a program saves into a file. Without it that fails.
func OnSave(save func(v value.Value, file string) error) { saver.Store(&save) }

// printer receives what programs print.
var printer atomic.Pointer[func(text string) error]

func init() {
	OnPrint(func(text string) error {
		_, err := os.Stdout.WriteString(text)
		return err
	})
}

// OnPrint sets what receives the text that programs print, each time a whole line. The default
// writes it to standard output.
func OnPrint(receive func(text string) error) { printer.Store(&receive) }

func output(text string) error { return (*printer.Load())(text) }

// wait gives the result of a future.
func wait(args, out []value.Value) (err error) {
	out[0], err = args[0].Future().Wait()
	return err
}
