package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// objects are what C has numbers for.
var objects = struct {
	sync.RWMutex
	by   map[uint64]any
	next uint64
}{by: map[uint64]any{}}

// result is what a call gave.
type result struct{ outputs []gojit.Output }

// cancel ends calls.
type cancel struct {
	ctx context.Context
	now context.CancelFunc
}

// pinned keeps the memory of a tensor in its place while others have its address.
type pinned struct {
	tensor *tensor.Tensor
	pinner *runtime.Pinner
}

func put(object any) uint64 {
	objects.Lock()
	defer objects.Unlock()
	objects.next++
	objects.by[objects.next] = object
	return objects.next
}

// find returns the object of a number. what is the kind in messages.
func find[T any](number uint64, what string) (T, error) {
	objects.RLock()
	object, ok := objects.by[number]
	objects.RUnlock()
	found, isKind := object.(T)
	switch {
	case !ok:
		return found, callError("%d is no %s: it was released, or never made", number, what)
	case !isKind:
		return found, callError("%d is another object, not a %s", number, what)
	}
	return found, nil
}

func release(number uint64) {
	objects.Lock()
	object := objects.by[number]
	delete(objects.by, number)
	objects.Unlock()
	if p, ok := object.(*pinned); ok {
		p.pinner.Unpin()
		p.tensor.Storage().Return()
	}
}

func callError(format string, args ...any) error {
	return &errs.CallError{Err: fmt.Errorf(format, args...)}
}

// program is compiled functions as a model.
type program struct{ *gojit.Program }

// Methods implements gojit.Model.
func (p program) Methods() []string {
	names := []string{}
	for _, f := range p.Functions() {
		names = append(names, f.ShortName())
	}
	return names
}

// Signature implements gojit.Model.
func (p program) Signature(method string) (gojit.Signature, error) {
	f := p.Function(method)
	if f == nil {
		return gojit.Signature{}, callError("The program has no function '%s'", method)
	}
	return gojit.SignatureOf(f)
}
