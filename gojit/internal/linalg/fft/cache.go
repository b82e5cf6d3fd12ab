package fft

import (
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// planKey is what a plan is made for.
type planKey struct {
	n, size  int
	backward bool
	scale    float64
}

// Bounds of the plans that are kept: so many, and for so many numbers together.
const (
	keptPlans   = 64
	keptNumbers = 8 << 20
)

// plans are those used last.
var plans struct {
	mu      sync.Mutex
	known   map[planKey]*keptPlan
	numbers int
	clock   int
}

type keptPlan struct {
	plan any
	used int
}

// PlanOf returns a plan, one that was made before where it is still known.
func PlanOf[T Float](n int, backward bool, scale float64) *Plan[T] {
	key := planKey{n, int(unsafe.Sizeof(T(0))), backward, scale}
	plans.mu.Lock()
	plans.clock++
	if k := plans.known[key]; k != nil {
		k.used = plans.clock
		plans.mu.Unlock()
		return k.plan.(*Plan[T])
	}
	plans.mu.Unlock()
	p := newPlan[T](asm.Target(), n, backward, scale)
	plans.mu.Lock()
	defer plans.mu.Unlock()
	if plans.known == nil {
		plans.known = map[planKey]*keptPlan{}
	}
	if plans.known[key] == nil {
		plans.numbers += n
	}
	plans.known[key] = &keptPlan{p, plans.clock}
	for len(plans.known) > 1 && (len(plans.known) > keptPlans || plans.numbers > keptNumbers) {
		dropOldest()
	}
	return p
}

// dropOldest forgets the plan that has not been used for longest. The lock is held.
func dropOldest() {
	var oldest planKey
	at := plans.clock + 1
	for key, k := range plans.known {
		if k.used < at {
			oldest, at = key, k.used
		}
	}
	plans.numbers -= oldest.n
	delete(plans.known, oldest)
}
