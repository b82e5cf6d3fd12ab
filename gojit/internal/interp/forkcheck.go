package interp

import (
	"context"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// A task is a forked call that is checked. It runs until somebody has waited for it, so
// that what is found does not depend on how fast the goroutines are.
type task struct {
	at     source.Range // of the prim::fork
	parent *task        // nil: the call was forked by a call that was not
	future *value.Future
}

// taskKey is the key of the *task in the context of a forked call.
type taskKey struct{}

func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// within reports whether t is other or was forked by it, directly or not.
func (t *task) within(other *task) bool {
	for ; t != nil; t = t.parent {
		if t == other {
			return true
		}
	}
	return false
}

// Forks are the forked calls that run.
type Forks struct {
	mu sync.Mutex
	// visible holds the tasks that can see each memory: a *tensor.Storage, *value.List, *value.Dict or *value.Object.
	visible map[any][]*task
}

// NewForks returns an empty set of forked calls.
func NewForks() *Forks { return &Forks{visible: map[any][]*task{}} }

// show makes what the arguments lead to visible to t.
func (f *Forks) show(t *task, args []value.Value) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[any]bool{}
	for _, v := range args {
		f.reach(t, v, seen)
	}
}

func (f *Forks) reach(t *task, v value.Value, seen map[any]bool) {
	key := memoryOf(v)
	if key != nil {
		if seen[key] {
			return
		}
		seen[key] = true
		f.visible[key] = append(running(f.visible[key]), t)
	}
	for _, part := range partsOf(v) {
		f.reach(t, part, seen)
	}
}

// running returns the tasks that nobody has waited for.
func running(tasks []*task) (kept []*task) {
	for _, t := range tasks {
		if !t.future.Waited() {
			kept = append(kept, t)
		}
	}
	return kept
}

// memoryOf returns what a write to v changes, nil where v cannot be written.
func memoryOf(v value.Value) any {
	switch v.Kind() {
	case value.KindTensor:
		return v.Tensor().Storage()
	case value.KindList:
		return v.List()
	case value.KindDict:
		return v.Dict()
	case value.KindObject:
		return v.Object()
	}
	return nil
}

// partsOf returns the values that v holds.
func partsOf(v value.Value) []value.Value {
	switch v.Kind() {
	case value.KindList:
		return v.List().Items
	case value.KindTuple:
		return v.Tuple().Items
	case value.KindObject:
		return v.Object().Slots
	case value.KindDict:
		var parts []value.Value
		for k, x := range v.Dict().All {
			parts = append(parts, k, x)
		}
		return parts
	}
	return nil
}

// checkWrites fails where a task that still runs can see one of the values, which are about to be
// written; those that forked the writer do not count.
func (f *Forks) checkWrites(ctx context.Context, values []value.Value) error {
	self := taskOf(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range values {
		key := memoryOf(v)
		if key == nil {
			continue
		}
		for _, t := range running(f.visible[key]) {
			if !self.within(t) {
				return errorf("a %s is written that a forked call can see which has not been waited for. The call was forked here:\n%s",
					v.Kind(), t.at.Highlight())
			}
		}
	}
	return nil
}

// start begins a task for the fork of a site and returns the context of its run.
func (f *Forks) start(ctx context.Context, at source.Range, future *value.Future, args []value.Value) context.Context {
	t := &task{at, taskOf(ctx), future}
	f.show(t, args)
	return context.WithValue(ctx, taskKey{}, t)
}

// checkedWrites emits a check of the arguments that an operator writes.
func (l *lowering) checkedWrites(n *ir.Node, o *ops.Operator) {
	if l.options.Forks == nil || !o.Schema().IsMutable() {
		return
	}
	s := &site{name: o.Name}
	for i, a := range o.Schema().Arguments {
		if i < len(n.Inputs()) && a.Alias != nil && a.Alias.IsWrite {
			s.inputs = append(s.inputs, input{l.reg(n.Input(i)), false})
		}
	}
	l.emit(opCheckWrites, l.site(s), 0, 0)
}

// checkedObject emits a check of the object whose attribute is set.
func (l *lowering) checkedObject(object *ir.Value) {
	if l.options.Forks != nil && object.Type().Kind() == types.KindClass {
		l.emit(opCheckWrites, l.site(&site{name: prim.SetAttr, inputs: []input{{l.reg(object), false}}}), 0, 0)
	}
}
