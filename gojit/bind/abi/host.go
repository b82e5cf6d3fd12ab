package abi

import (
	"cmp"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Host is the Python object whose methods the library calls where it needs a Python class or a
// decision of Python's: the module torchjit._host. It is set once, when the package is imported.
var Host *Object

// hostFunctions connect the library with its Python side.
var hostFunctions = []Function{
	{Schema: "set_host(object module) -> None", Run: setHost},
	{Schema: "set_warn_always(bool always) -> None", Run: func(c *Call) error {
		source.SetWarnAlways(c.ArgBool(0))
		c.None()
		return nil
	}},
}

func setHost(c *Call) error {
	Host = c.ArgObject(0)
	prim.OnPrint(func(text string) error {
		return Host.Invoke("write", 1, func(w *Writer) { w.String(text) }, nil)
	})
	prim.OnSave(func(v value.Value, file string) (err error) {
		failed := Host.Invoke("save", 2, func(w *Writer) {
			if err = w.Value(v); err != nil {
				w.None()
			}
			w.String(file)
		}, nil)
		return cmp.Or(err, failed)
	})
	source.OnWarn(func(message string, at source.Range) error {
		file, line, _, _ := at.FileLineCol()
		if file == "" {
			return Host.Invoke("warn", 1, func(w *Writer) { w.String(message) }, nil)
		}
		if raised := Attached.Warn(message, file, line); raised != nil {
			return &pythonError{exception: newObject(raised)}
		}
		return nil
	})
	c.None()
	return nil
}

// hostObjects are the Python classes that stand for types and operator results, made on first use.
var hostObjects sync.Map

// hostObject returns the object that a method of host makes of what write writes, and keeps it
// under key.
func hostObject(key any, method string, n int, write func(*Writer)) (*Object, error) {
	if o, ok := hostObjects.Load(key); ok {
		return o.(*Object), nil
	}
	var made *Object
	err := Host.Invoke(method, n, write, func(w *Word) error {
		if made = w.Object(); made == nil {
			return RuntimeErrorf("torchjit._host.%s did not return an object", method)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	hostObjects.Store(key, made)
	return made, nil
}

// namedTupleClass returns the Python class of a named tuple type.
func namedTupleClass(t *types.Tuple) (*Object, error) {
	return hostObject(t, "named_tuple", 2, func(w *Writer) {
		w.String(t.Name)
		w.Strings(t.Fields)
	})
}

// enumClass returns the Python class of an enum type.
func enumClass(t *types.Enum) (*Object, error) {
	return hostObject(t, "enum", 1, func(w *Writer) { w.String(t.Name) })
}

// instanceClass returns what makes an instance of the Python class that a class was compiled from of
// the values of its attributes, nil where there is none.
func instanceClass(t *types.Class) (*Object, error) {
	if o, ok := hostObjects.Load(t); ok {
		return o.(*Object), nil
	}
	var made *Object
	err := Host.Invoke("instance", 2, func(w *Writer) {
		w.String(t.Name)
		w.Open(KindList, len(t.Attributes))
		for i := range t.Attributes {
			w.String(t.Attributes[i].Name)
		}
	}, func(w *Word) error {
		if w.Kind() != KindNone {
			made = w.Object()
		}
		return nil
	})
	if made != nil {
		hostObjects.Store(t, made)
	}
	return made, err
}

// returnType names the structure of an operator's results.
type returnType struct{ operator, fields string }

// ReturnTypeClass returns the Python class of the named results of an operator.
func ReturnTypeClass(operator string, fields []string) (*Object, error) {
	return hostObject(returnType{operator, strings.Join(fields, ",")}, "return_type", 2, func(w *Writer) {
		w.String(operator)
		w.Strings(fields)
	})
}

// CallPython calls a Python function with values of a program.
func CallPython(target *Object, args []value.Value, read func(*Word) error) error {
	var failed error
	err := Host.Invoke("call_ignored", 1+len(args), func(w *Writer) {
		w.Object(target)
		for _, a := range args {
			if err := w.Value(a); err != nil {
				failed = err
				w.None()
			}
		}
	}, read)
	if failed != nil {
		return failed
	}
	return err
}
