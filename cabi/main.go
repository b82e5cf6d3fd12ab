// Command cabi is the library libtorchjit: the functions of torchjit.h over the packages gojit and gojit/tensor. `make clib` builds it.
//
// Each function here turns C's values into Go's, calls gojit, and turns the outcome back. A panic never leaves one: attempt makes it an error of
// the library. C has numbers for objects (objects.go), so that no pointer of Go's is with C, but for memory that is pinned for DLPack.
package main

/*
#include <stdlib.h>
#include "helper.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func main() {} // a library's is never called

// attempt runs the body of a function of the library and describes its error.
func attempt(e *C.tj_error, body func() error) C.int {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &errs.InternalError{Panic: p, Stack: debug.Stack()}
			}
		}()
		return body()
	}()
	if err == nil {
		return C.TJ_OK
	}
	fault := C.int(errs.FaultOf(err))
	if e == nil {
		return fault
	}
	e.fault, e.line, e.column = C.int32_t(fault), 0, 0
	store(&e.message, C.CString(err.Error()))
	store(&e.file, nil)
	if file, line, column, ok := errs.PlaceOf(err); ok {
		store(&e.file, C.CString(file))
		e.line, e.column = C.int32_t(line), C.int32_t(column)
	}
	return fault
}

// store writes a pointer into memory of C as a number: what the place held before may be anything, and Go looks at that where it stores
// a pointer while it collects.
func store[T any](to **T, p *T) { *(*uintptr)(unsafe.Pointer(to)) = uintptr(unsafe.Pointer(p)) }

// text returns a text of C's. NULL is an error.
func text(p *C.char, what string) (string, error) {
	if p == nil {
		return "", callError("%s is NULL: expected a text", what)
	}
	return C.GoString(p), nil
}

func notNull[T any](p *T, what string) error {
	if p == nil {
		return callError("%s is NULL: expected where to put it", what)
	}
	return nil
}

var version = C.CString(gojit.Version)

//export tj_version
func tj_version() *C.char { return version }

//export tj_error_clear
func tj_error_clear(e *C.tj_error) {
	if e != nil {
		C.free(unsafe.Pointer(e.message))
		C.free(unsafe.Pointer(e.file))
		*e = C.tj_error{}
	}
}

//export tj_free
func tj_free(p unsafe.Pointer) { C.free(p) }

//export tj_release
func tj_release(object C.uint64_t) { release(uint64(object)) }

//export tj_set_threads
func tj_set_threads(n C.int32_t) { tensor.SetNumThreads(int(n)) }

//export tj_load
func tj_load(path *C.char, model *C.tj_model, e *C.tj_error) C.int {
	return attempt(e, func() error {
		file, err := text(path, "the path")
		if err != nil {
			return err
		}
		return loaded(model, func() (gojit.Model, error) { return gojit.Open(file, gojit.LoadOptions{}) })
	})
}

//export tj_load_bytes
func tj_load_bytes(data unsafe.Pointer, size C.size_t, model *C.tj_model, e *C.tj_error) C.int {
	return attempt(e, func() error {
		if data == nil {
			return callError("the data is NULL: expected a file in memory")
		}
		copied := append([]byte(nil), unsafe.Slice((*byte)(data), int(size))...)
		return loaded(model, func() (gojit.Model, error) { return gojit.OpenBytes(copied, gojit.LoadOptions{}) })
	})
}

//export tj_compile
func tj_compile(name, source *C.char, model *C.tj_model, e *C.tj_error) C.int {
	return attempt(e, func() error {
		file, err := text(name, "the name")
		if err != nil {
			return err
		}
		code, err := text(source, "the text")
		if err != nil {
			return err
		}
		return loaded(model, func() (gojit.Model, error) {
			p, err := gojit.Compile(file, code)
			return program{p}, err
		})
	})
}

func loaded(model *C.tj_model, load func() (gojit.Model, error)) error {
	if err := notNull(model, "the model"); err != nil {
		return err
	}
	m, err := load()
	if err == nil {
		*model = C.tj_model(put(m))
	}
	return err
}

//export tj_methods
func tj_methods(model C.tj_model, out **C.char, e *C.tj_error) C.int {
	return attempt(e, func() error {
		m, err := find[gojit.Model](uint64(model), "model")
		if err != nil {
			return err
		}
		return giveJSON(out, m.Methods())
	})
}

//export tj_signature
func tj_signature(model C.tj_model, method *C.char, out **C.char, e *C.tj_error) C.int {
	return attempt(e, func() error {
		m, err := find[gojit.Model](uint64(model), "model")
		if err != nil {
			return err
		}
		name, err := text(method, "the method")
		if err != nil {
			return err
		}
		s, err := m.Signature(name)
		if err != nil {
			return err
		}
		return giveJSON(out, s)
	})
}

func giveJSON(out **C.char, v any) error {
	if err := notNull(out, "the text"); err != nil {
		return err
	}
	b, err := json.Marshal(v)
	if err == nil {
		store(out, C.CString(string(b)))
	}
	return err
}

//export tj_call
func tj_call(model C.tj_model, method *C.char, arguments *C.tj_argument, count C.int32_t, options *C.tj_options, out *C.tj_result, e *C.tj_error) C.int {
	return attempt(e, func() error {
		m, err := find[gojit.Model](uint64(model), "model")
		if err != nil {
			return err
		}
		name, err := text(method, "the method")
		if err != nil {
			return err
		}
		if err := notNull(out, "the result"); err != nil {
			return err
		}
		if count < 0 || count > 0 && arguments == nil {
			return callError("%d arguments at %p: expected as many as are counted", int(count), arguments)
		}
		args, err := argumentsOf(unsafe.Slice(arguments, int(count)))
		if err != nil {
			return err
		}
		ctx, end, err := contextOf(options)
		if err != nil {
			return err
		}
		defer end()
		if options != nil {
			args = append(args, gojit.WithThreads(int(options.threads)))
		}
		v, err := m.Call(ctx, name, args...)
		if err != nil {
			return err
		}
		*out = C.tj_result(put(&result{gojit.Outputs(v)}))
		return nil
	})
}

func argumentsOf(given []C.tj_argument) ([]any, error) {
	args := make([]any, 0, len(given)+1)
	for i := range given {
		v, err := argumentOf(&given[i])
		if err != nil {
			return nil, callError("argument %d: %w", i, err)
		}
		if given[i].name != nil {
			v = gojit.Keyword{Name: C.GoString(given[i].name), Value: v}
		}
		args = append(args, v)
	}
	return args, nil
}

func argumentOf(a *C.tj_argument) (any, error) {
	switch a.kind {
	case C.TJ_NONE:
		return nil, nil
	case C.TJ_TENSOR:
		return find[*tensor.Tensor](uint64(a.tensor), "tensor")
	case C.TJ_INT:
		return int64(a.integer), nil
	case C.TJ_FLOAT:
		return float64(a.number), nil
	case C.TJ_BOOL:
		return a.integer != 0, nil
	case C.TJ_STRING:
		return text(a.text, "the text")
	case C.TJ_JSON:
		t, err := text(a.text, "the JSON")
		return json.RawMessage(t), err
	}
	return nil, fmt.Errorf("the kind %d is none of tj_kind", int(a.kind))
}

// contextOf returns the context that the options of a call ask for, and what ends it.
func contextOf(o *C.tj_options) (context.Context, context.CancelFunc, error) {
	ctx, end := context.Background(), context.CancelFunc(func() {})
	if o == nil {
		return ctx, end, nil
	}
	if o.cancel != 0 {
		c, err := find[*cancel](uint64(o.cancel), "cancel")
		if err != nil {
			return nil, nil, err
		}
		ctx = c.ctx
	}
	if o.timeout_ms > 0 {
		ctx, end = context.WithTimeout(ctx, time.Duration(o.timeout_ms)*time.Millisecond)
	}
	return ctx, end, nil
}

//export tj_result_count
func tj_result_count(r C.tj_result) C.int32_t {
	found, err := find[*result](uint64(r), "result")
	if err != nil {
		return 0
	}
	return C.int32_t(len(found.outputs))
}

func outputOf(r C.tj_result, i C.int32_t) (*gojit.Output, error) {
	found, err := find[*result](uint64(r), "result")
	if err != nil {
		return nil, err
	}
	if i < 0 || int(i) >= len(found.outputs) {
		return nil, callError("there is no output %d: the result has %d", int(i), len(found.outputs))
	}
	return &found.outputs[i], nil
}

//export tj_result_name
func tj_result_name(r C.tj_result, i C.int32_t) *C.char {
	o, err := outputOf(r, i)
	if err != nil {
		return nil
	}
	return C.CString(o.Name)
}

//export tj_result_tensor
func tj_result_tensor(r C.tj_result, i C.int32_t, out *C.tj_tensor, e *C.tj_error) C.int {
	return attempt(e, func() error {
		o, err := outputOf(r, i)
		if err != nil {
			return err
		}
		if err := notNull(out, "the tensor"); err != nil {
			return err
		}
		t, err := gojit.AsTensor(o.Value)
		if err == nil {
			*out = C.tj_tensor(put(t))
		}
		return err
	})
}

//export tj_result_json
func tj_result_json(r C.tj_result, i C.int32_t, out **C.char, e *C.tj_error) C.int {
	return attempt(e, func() error {
		o, err := outputOf(r, i)
		if err != nil {
			return err
		}
		b, err := gojit.MarshalJSON(o.Value)
		if err != nil {
			return err
		}
		return giveJSON(out, json.RawMessage(b))
	})
}

//export tj_cancel_new
func tj_cancel_new() C.tj_cancel {
	c := &cancel{}
	c.ctx, c.now = context.WithCancel(context.Background())
	return C.tj_cancel(put(c))
}

//export tj_cancel_now
func tj_cancel_now(number C.tj_cancel) {
	if c, err := find[*cancel](uint64(number), "cancel"); err == nil {
		c.now()
	}
}

//export tj_tensor_new
func tj_tensor_new(data unsafe.Pointer, shape *C.int64_t, ndim, dtype C.int32_t, out *C.tj_tensor, e *C.tj_error) C.int {
	return attempt(e, func() error {
		if err := notNull(out, "the tensor"); err != nil {
			return err
		}
		sizes, err := sizesOf(shape, ndim)
		if err != nil {
			return err
		}
		d := tensor.DType(dtype)
		if dtype < 0 || !d.Valid() || d.IsQuantized() || d == tensor.Complex32 {
			return callError("the element type %d is none of tj_dtype", int(dtype))
		}
		count, err := tensor.Numel(sizes)
		if err != nil {
			return callError("%w", err)
		}
		if data == nil && count > 0 {
			return callError("the data is NULL: expected %d elements", count)
		}
		t, err := tensor.FromBytes(unsafe.Slice((*byte)(data), count*d.Size()), sizes, d)
		if err != nil {
			return callError("%w", err)
		}
		*out = C.tj_tensor(put(t))
		return nil
	})
}

func sizesOf(shape *C.int64_t, ndim C.int32_t) ([]int, error) {
	if ndim < 0 || ndim > 64 || ndim > 0 && shape == nil {
		return nil, callError("%d dimensions, with their sizes at %p: expected 0 to 64", int(ndim), shape)
	}
	sizes := make([]int, ndim)
	for i, n := range unsafe.Slice(shape, int(ndim)) {
		sizes[i] = int(n)
	}
	return sizes, nil
}

//export tj_tensor_info
func tj_tensor_info(number C.tj_tensor, info *C.tj_info, e *C.tj_error) C.int {
	return attempt(e, func() error {
		t, err := find[*tensor.Tensor](uint64(number), "tensor")
		if err != nil {
			return err
		}
		if err := notNull(info, "the description"); err != nil {
			return err
		}
		if t.Dim() > len(info.shape) {
			return callError("the tensor has %d dimensions, tj_info has room for %d", t.Dim(), len(info.shape))
		}
		*info = C.tj_info{dtype: C.int32_t(t.DType()), ndim: C.int32_t(t.Dim()), bytes: C.size_t(t.Numel() * t.DType().Size())}
		for i, n := range t.Shape() {
			info.shape[i] = C.int64_t(n)
		}
		return nil
	})
}

//export tj_tensor_read
func tj_tensor_read(number C.tj_tensor, to unsafe.Pointer, bytes C.size_t, e *C.tj_error) C.int {
	return attempt(e, func() error {
		t, err := find[*tensor.Tensor](uint64(number), "tensor")
		if err != nil {
			return err
		}
		if want := t.Numel() * t.DType().Size(); int(bytes) != want || to == nil && want > 0 {
			return callError("room for %d bytes at %p: the tensor has %d", int(bytes), to, want)
		}
		elements, err := t.Bytes()
		copy(unsafe.Slice((*byte)(to), int(bytes)), elements)
		return err
	})
}

// dlTypes are DLPack's codes and bits of the element types.
var dlTypes = map[tensor.DType][2]uint8{
	tensor.Int8: {0, 8}, tensor.Int16: {0, 16}, tensor.Int32: {0, 32}, tensor.Int64: {0, 64}, tensor.Uint8: {1, 8}, tensor.Float16: {2, 16}, tensor.Float32: {2, 32},
	tensor.Float64: {2, 64}, tensor.BFloat16: {4, 16}, tensor.Complex64: {5, 64}, tensor.Complex128: {5, 128}, tensor.Bool: {6, 8},
}

//export tj_tensor_from_dlpack
func tj_tensor_from_dlpack(m *C.struct_DLManagedTensor, out *C.tj_tensor, e *C.tj_error) C.int {
	return attempt(e, func() error {
		if m == nil || out == nil {
			return callError("the DLPack tensor or where to put the tensor is NULL")
		}
		t, err := borrowed(m)
		if err == nil {
			*out = C.tj_tensor(put(t))
		}
		return err
	})
}

// borrowed makes a tensor over the memory of another library.
func borrowed(m *C.tj_dl_managed) (*tensor.Tensor, error) {
	d := &m.tensor
	dtype := tensor.NoDType
	for t, code := range dlTypes {
		if code == [2]uint8{uint8(d.code), uint8(d.bits)} {
			dtype = t
		}
	}
	if dtype == tensor.NoDType || d.lanes != 1 || d.device_type != 1 {
		return nil, callError("DLPack elements of code %d with %d bits and %d lanes on a device of type %d: expected one of tj_dtype on the processor", d.code, d.bits, d.lanes, d.device_type)
	}
	shape, err := sizesOf(d.shape, d.ndim)
	if err != nil {
		return nil, err
	}
	strides := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = step
		step *= shape[i]
	}
	if d.strides != nil {
		if strides, err = sizesOf(d.strides, d.ndim); err != nil {
			return nil, err
		}
	}
	extent, err := tensor.Span(shape, strides)
	if err != nil {
		return nil, callError("%w", err)
	}
	var memory []byte
	if extent > 0 && d.data != nil {
		memory = unsafe.Slice((*byte)(unsafe.Add(d.data, int(d.byte_offset))), extent*dtype.Size())
	}
	taken := new(bool) // an error leaves the memory to the caller
	t, err := tensor.FromStorage(tensor.ForeignStorage(memory, func() {
		if *taken {
			C.dl_delete(m)
		}
	}), 0, shape, strides, dtype)
	if err != nil {
		return nil, callError("%w", err)
	}
	*taken = true
	return t, nil
}

// lending is held while a storage learns that others have its address.
var lending sync.Mutex

//export tj_tensor_to_dlpack
func tj_tensor_to_dlpack(number C.tj_tensor, out **C.struct_DLManagedTensor, e *C.tj_error) C.int {
	return attempt(e, func() error {
		t, err := find[*tensor.Tensor](uint64(number), "tensor")
		if err != nil {
			return err
		}
		if err := notNull(out, "the DLPack tensor"); err != nil {
			return err
		}
		code, ok := dlTypes[t.DType()]
		if !ok || t.IsSparse() {
			return callError("DLPack has no tensor of the type %s, or sparse", t.DType())
		}
		lending.Lock()
		t.Storage().Lend()
		lending.Unlock()
		p := &pinned{tensor: t, pinner: &runtime.Pinner{}}
		data := t.DataPtr()
		if data != nil {
			p.pinner.Pin(data)
		}
		owner := put(p)
		m := C.dl_make(data, C.int32_t(t.Dim()), C.uint64_t(owner))
		if m == nil {
			release(owner)
			return callError("there is no memory for a DLPack tensor")
		}
		m.tensor.code, m.tensor.bits = C.uint8_t(code[0]), C.uint8_t(code[1])
		for i := range t.Dim() {
			unsafe.Slice(m.tensor.shape, t.Dim())[i] = C.int64_t(t.Size(i))
			unsafe.Slice(m.tensor.strides, t.Dim())[i] = C.int64_t(t.Strides()[i])
		}
		store(out, m)
		return nil
	})
}
