package tensor

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Budget bounds the memory that code takes which nobody vouches for. What counts is how much larger the heap, on which tensors lie too, is
// than when the budget was made, less the tensors that others have made since.
type Budget struct {
	bytes   int
	base    int          // the heap when the budget was made
	others  atomic.Int64 // bytes of tensors that others have made since
	checked atomic.Int64 // when the heap was last looked at, since begun
	spent   atomic.Bool

	isAllowance bool
	made        atomic.Int64 // of an allowance
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int) *Budget { return &Budget{bytes: bytes, base: heapInUse()} }

// NewAllowance returns a budget for which everything large that is made counts, also what has gone again, and nothing else does: whether
// it is spent does not depend on others.
func NewAllowance(bytes int) *Budget { return &Budget{bytes: bytes, isAllowance: true} }

// budgets are those of goroutines whose code has one.
var budgets goroutine.Local[*Budget]

// Run calls f with a context that ends once the budget is spent. Until f returns, storages, lists and strings for which too little
// is left fail in this goroutine, and in those that a program forks from it. A nil budget has no bounds.
func (b *Budget) Run(ctx context.Context, f func(ctx context.Context)) {
	g := goroutine.ID()
	if b == nil || g == 0 { // where goroutines are unknown, the context alone tells
		f(b.context(ctx))
		return
	}
	before := budgets.Put(g, b)
	defer budgets.Put(g, before)
	f(b.context(ctx))
}

// BudgetHere returns the budget of the calling goroutine, nil for none.
func BudgetHere() *Budget { return budgets.Here() }

// budgetedFrom is the size from which what is made is compared with the budget at once. The rest is seen when the program is looked at.
const budgetedFrom = 64 << 10

// CheckRoom fails where the calling goroutine has a budget with less than so many bytes left, or the process hardly any addresses.
func CheckRoom(bytes int) error {
	if err := memory.CheckAddresses(bytes); err != nil {
		return err
	}
	if bytes < budgetedFrom || budgets.IsEmpty() {
		return nil
	}
	if b := BudgetHere(); b != nil {
		return b.check(bytes)
	}
	budgets.Each(func(b *Budget) { b.others.Add(int64(bytes)) })
	return nil
}

// CheckHeapRoom is CheckRoom for what is made on Go's heap, lists and strings.
func CheckHeapRoom(bytes int) error {
	if err := CheckRoom(bytes); err != nil {
		return err
	}
	return memory.CheckMappable(bytes)
}

// check fails where less than so many bytes are left, or have been before.
func (b *Budget) check(bytes int) error {
	if b.isAllowance {
		if bytes > b.bytes || b.made.Add(int64(bytes)) > int64(b.bytes) {
			b.spent.Store(true)
		}
	} else if !b.spent.Load() && (bytes > b.bytes || b.taken()+bytes > b.bytes) {
		runtime.GC()
		b.spent.CompareAndSwap(false, bytes > b.bytes || b.taken()+bytes > b.bytes)
	}
	if !b.spent.Load() {
		return nil
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "the program takes more than the %d bytes of memory that it may", b.bytes)
}

// IsSpent reports whether something has failed for want of memory in the budget.
func (b *Budget) IsSpent() bool { return b.spent.Load() }

func (b *Budget) taken() int { return heapInUse() - b.base - int(b.others.Load()) }

// heapInUse returns the bytes of objects on the heap that the collector has not freed.
func heapInUse() int {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return int(sample[0].Value.Uint64())
}

// budgetInterval is how often a program with a budget is looked at.
const budgetInterval = time.Millisecond

// begun is where the clock of budgets begins.
var begun = time.Now()

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// budgetContext is the context of a program that a budget ends.
type budgetContext struct {
	context.Context
	budget *Budget
}

func (b *Budget) context(ctx context.Context) context.Context {
	if b == nil {
		return ctx
	}
	return budgetContext{ctx, b}
}

// Done implements context.Context.
func (c budgetContext) Done() <-chan struct{} { return closed }

// Err implements context.Context.
func (c budgetContext) Err() error {
	if c.Context.Done() != nil {
		if err := c.Context.Err(); err != nil {
			return err
		}
	}
	now, last := int64(time.Since(begun)), c.budget.checked.Load()
	if !c.budget.spent.Load() && (now-last < int64(budgetInterval) || !c.budget.checked.CompareAndSwap(last, now)) {
		return nil
	}
	return c.budget.check(0)
}

// Forked returns the context of what the program forks.
func (c budgetContext) Forked() context.Context {
	if f, ok := c.Context.(interface{ Forked() context.Context }); ok {
		return budgetContext{f.Forked(), c.budget}
	}
	return c
}
