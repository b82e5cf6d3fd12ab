package bind

import (
	"cmp"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// host is the Python object whose methods the library calls where it needs a Python class or a
// decision of Python's: the module torchjit._host. It is set once, when the package is imported.
var host *object

// hostFunctions connect the library with its Python side.
var hostFunctions = []function{
	{schema: "set_host(object module) -> None", run: setHost},
	{schema: "set_warn_always(bool always) -> None", run: func(c *call) error {
		source.SetWarnAlways(c.argBool(0))
		c.none()
		return nil
	}},
}

func setHost(c *call) error {
	host = c.argObject(0)
	prim.OnPrint(func(text string) error {
		return host.invoke("write", 1, func(w *writer) { w.string(text) }, nil)
	})
	prim.OnSave(func(v value.Value, file string) (err error) {
		failed := host.invoke("save", 2, func(w *writer) {
			if err = w.value(v); err != nil {
				w.none()
			}
			w.string(file)
		}, nil)
		return cmp.Or(err, failed)
	})
	source.OnWarn(func(message string, at source.Range) error {
		file, line, _, _ := at.FileLineCol()
		return host.invoke("warn_at", 3, func(w *writer) {
			w.string(message)
			w.string(file)
			w.int(line)
		}, nil)
	})
	c.none()
	return nil
}

// hostObjects are the Python classes that stand for types and operator results, made on first use.
var hostObjects sync.Map

// hostObject returns the object that a method of host makes of what write writes, and keeps it
// under key.
func hostObject(key any, method string, n int, write func(*writer)) (*object, error) {
	if o, ok := hostObjects.Load(key); ok {
		return o.(*object), nil
	}
	var made *object
	err := host.invoke(method, n, write, func(w *Word) error {
		if made = w.object(); made == nil {
			return runtimeErrorf("torchjit._host.%s did not return an object", method)
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
func namedTupleClass(t *types.Tuple) (*object, error) {
	return hostObject(t, "named_tuple", 2, func(w *writer) {
		w.string(t.Name)
		w.strings(t.Fields)
	})
}

// enumClass returns the Python class of an enum type.
func enumClass(t *types.Enum) (*object, error) {
	return hostObject(t, "enum", 1, func(w *writer) { w.string(t.Name) })
}

// instanceClass returns what makes an instance of the Python class that a class was compiled from of
// the values of its attributes, nil where there is none.
func instanceClass(t *types.Class) (*object, error) {
	if o, ok := hostObjects.Load(t); ok {
		return o.(*object), nil
	}
	var made *object
	err := host.invoke("instance", 2, func(w *writer) {
		w.string(t.Name)
		w.open(kindList, len(t.Attributes))
		for i := range t.Attributes {
			w.string(t.Attributes[i].Name)
		}
	}, func(w *Word) error {
		if w.kind() != kindNone {
			made = w.object()
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

// returnTypeClass returns the Python class of an operator's named results.
func returnTypeClass(key returnType, name string, fields []string) (*object, error) {
	return hostObject(key, "return_type", 2, func(w *writer) {
		w.string(name)
		w.strings(fields)
	})
}
