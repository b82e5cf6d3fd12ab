package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// regionOf returns the only region of a graph.
func regionOf(t *testing.T, text string, weights ...int) (*Region, *ir.Node, *[]string) {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	Regions(g)
	var found []*ir.Node
	for _, n := range g.Block().Nodes() {
		if IsRegion(n) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d regions in\n%s", len(found), g)
	}
	var told []string
	r := NewRegion(found[0], &Weights{}, func(why string) { told = append(told, why) })
	if r == nil {
		t.Fatalf("no plan: %v", told)
	}
	for _, i := range weights {
		r.program.weights[i] = true
	}
	return r, found[0], &told
}

// randomOf returns a tensor of random elements.
func randomOf(r *rand.Rand, shape ...int) *tensor.Tensor {
	t, err := tensor.Empty(shape, tensor.Float32)
	if err != nil {
		panic(err)
	}
	for i := range tensor.Data[float32](t) {
		tensor.Data[float32](t)[i] = float32(r.NormFloat64())
	}
	return t
}

// oneByOne runs the nodes of a region as they are.
func oneByOne(t *testing.T, n *ir.Node, args []value.Value) []value.Value {
	t.Helper()
	env := map[*ir.Value]value.Value{}
	for i, v := range n.Inputs() {
		env[v] = args[i]
	}
	of := func(v *ir.Value) value.Value {
		if known, ok := env[v]; ok {
			return known
		}
		c, ok := constant(v)
		if !ok {
			t.Fatalf("%s is not known", v.Name())
		}
		return c
	}
	body := n.Blocks()[0]
	for m := body.First(); m != nil; m = m.Next() {
		var in []value.Value
		for _, v := range m.Inputs() {
			in = append(in, of(v))
		}
		out := make([]value.Value, len(m.Outputs()))
		if m.Kind() == "prim::ListConstruct" {
			list := value.NewList(m.Input(0).Type())
			list.Items = append(list.Items, in...)
			out[0] = value.OfList(list)
		} else if err := m.Operator().Run(in, out); err != nil {
			t.Fatal(err)
		}
		for i, v := range m.Outputs() {
			env[v] = out[i]
		}
	}
	var results []value.Value
	for _, v := range body.Outputs() {
		results = append(results, of(v))
	}
	return results
}

// noGradients is a mode in which plans run.
func noGradients() *autograd.Mode {
	m := &autograd.Mode{}
	m.SetGradEnabled(false)
	return m
}

// checkAlike fails where two tensors differ by more than rounding, or in their geometry.
func checkAlike(t *testing.T, got, want *tensor.Tensor) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(got.Strides(), want.Strides()) {
		t.Fatalf("shape %v with strides %v, want %v with %v", got.Shape(), got.Strides(), want.Shape(), want.Strides())
	}
	a, b := tensor.Data[float32](got), tensor.Data[float32](want)
	largest := 0.0
	for _, x := range b {
		largest = max(largest, math.Abs(float64(x)))
	}
	for i := range a {
		if d := math.Abs(float64(a[i] - b[i])); !(d <= 1e-5*max(1, largest)) {
			t.Fatalf("element %d is %v, want %v", i, a[i], b[i])
		}
	}
}

const residualBlock = `graph(%x : Tensor, %w : Tensor, %v : Tensor, %d : Tensor, %l : Tensor, %c : Tensor):
  %none : NoneType = prim::Constant()
  %1 : int = prim::Constant[value=1]()
  %2 : int = prim::Constant[value=2]()
  %last : int = prim::Constant[value=-1]()
  %t : bool = prim::Constant[value=1]()
  %f : bool = prim::Constant[value=0]()
  %how : str = prim::Constant[value="none"]()
  %one : int[] = prim::Constant[value=[1, 1]]()
  %two : int[] = prim::Constant[value=[2, 2]]()
  %zero : int[] = prim::Constant[value=[0, 0]]()
  %y : Tensor = aten::conv2d(%x, %w, %none, %one, %one, %one, %1)
  %r : Tensor = aten::relu_(%y)
  %p : Tensor = aten::max_pool2d(%y, %two, %two, %zero, %one, %f)
  %z : Tensor = aten::conv2d(%p, %v, %none, %one, %one, %one, %1)
  %b : Tensor = aten::conv2d(%p, %d, %none, %one, %zero, %one, %1)
  %s : Tensor = aten::add_(%z, %b, %1)
  %q : Tensor = aten::relu_(%z)
  %list : Tensor[] = prim::ListConstruct(%z, %p)
  %j : Tensor = aten::cat(%list, %1)
  %m : Tensor = aten::adaptive_avg_pool2d(%j, %one)
  %h : Tensor = aten::flatten(%m, %1, %last)
  %o : Tensor = aten::linear(%h, %l, %c)
  %e : Tensor = aten::gelu(%o, %how)
  return (%e)
`

const attentionBlock = `graph(%x : Tensor, %w : Tensor, %v : Tensor, %u : Tensor, %mask : Tensor, %scale : Tensor):
  %none : NoneType = prim::Constant()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %2 : int = prim::Constant[value=2]()
  %4 : int = prim::Constant[value=4]()
  %8 : int = prim::Constant[value=8]()
  %e : float = prim::Constant[value=0.001]()
  %r : float = prim::Constant[value=2.5]()
  %last : int = prim::Constant[value=-1]()
  %before : int = prim::Constant[value=-2]()
  %t : bool = prim::Constant[value=1]()
  %width : int[] = prim::Constant[value=[32]]()
  %b : int = aten::size(%x, %0)
  %n : int = aten::size(%x, %1)
  %q : Tensor = aten::linear(%x, %w, %none)
  %split : int[] = prim::ListConstruct(%b, %n, %4, %8)
  %q1 : Tensor = aten::view(%q, %split)
  %q2 : Tensor = aten::transpose(%q1, %1, %2)
  %k : Tensor = aten::linear(%x, %v, %none)
  %k1 : Tensor = aten::view(%k, %split)
  %k2 : Tensor = aten::transpose(%k1, %1, %2)
  %k3 : Tensor = aten::transpose(%k2, %before, %last)
  %s : Tensor = aten::matmul(%q2, %k3)
  %s1 : Tensor = aten::div(%s, %r)
  %s2 : Tensor = aten::add(%s1, %mask, %1)
  %a : Tensor = aten::softmax(%s2, %last, %none)
  %o : Tensor = aten::matmul(%a, %q2)
  %o1 : Tensor = aten::transpose(%o, %1, %2)
  %m : int = aten::mul(%4, %8)
  %whole : int[] = prim::ListConstruct(%b, %n, %m)
  %o2 : Tensor = aten::reshape(%o1, %whole)
  %o3 : Tensor = aten::linear(%o2, %u, %scale)
  %y : Tensor = aten::add(%x, %o3, %1)
  %z : Tensor = aten::layer_norm(%y, %width, %scale, %none, %e, %t)
  return (%z)
`

// TestAsOneByOne compares plans with their nodes, with images of both layouts and after other sizes.
func TestAsOneByOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r, n, told := regionOf(t, residualBlock, 1, 2, 3, 4, 5)
	weights := []*tensor.Tensor{randomOf(random, 8, 4, 3, 3), randomOf(random, 8, 8, 3, 3), randomOf(random, 8, 8, 1, 1), randomOf(random, 20, 16), randomOf(random, 20)}
	for _, shape := range [][]int{{1, 4, 8, 8}, {3, 4, 10, 6}, {1, 4, 8, 8}} {
		checkRegion(t, r, n, told, append([]*tensor.Tensor{randomOf(random, shape...)}, weights...))
	}
	r, n, told = regionOf(t, attentionBlock, 1, 2, 7)
	weights = []*tensor.Tensor{randomOf(random, 32, 32), randomOf(random, 32, 32), randomOf(random, 32, 32)}
	for _, size := range []int{5, 1, 40, 5} {
		rest := append(slices.Clone(weights), randomOf(random, size, size), randomOf(random, 32))
		checkRegion(t, r, n, told, append([]*tensor.Tensor{randomOf(random, 2, size, 32)}, rest...))
	}
	changing, m, why := regionOf(t, attentionBlock) // weights are others in each call
	for _, size := range []int{5, 1, 40} {
		rest := []*tensor.Tensor{randomOf(random, 32, 32), randomOf(random, 32, 32), randomOf(random, 32, 32), randomOf(random, size, size), randomOf(random, 32)}
		checkRegion(t, changing, m, why, append([]*tensor.Tensor{randomOf(random, 2, size, 32)}, rest...))
	}
	for _, mask := range [][]int{{7}, {2, 1, 1, 7}, {1, 4, 7, 7}} {
		rest := append(slices.Clone(weights), randomOf(random, mask...), randomOf(random, 32))
		checkRegion(t, r, n, told, append([]*tensor.Tensor{randomOf(random, 2, 7, 32)}, rest...))
	}
}

// TestResidualsInPlace adds to convolutions, whose sums may be stored before they are whole, images that nothing reads behind.
func TestResidualsInPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		groups, dilation int
		after            string
	}{{1, 1, "relu"}, {2, 1, "relu"}, {1, 2, "relu"}, {4, 2, "tanh"}, {1, 1, "tanh"}, {1, 1, "erfinv"}} {
		text := fmt.Sprintf(`graph(%%x : Tensor, %%w : Tensor, %%v : Tensor):
  %%none : NoneType = prim::Constant()
  %%1 : int = prim::Constant[value=1]()
  %%groups : int = prim::Constant[value=%d]()
  %%one : int[] = prim::Constant[value=[1, 1]]()
  %%far : int[] = prim::Constant[value=[%d, %d]]()
  %%zero : int[] = prim::Constant[value=[0, 0]]()
  %%y : Tensor = aten::conv2d(%%x, %%w, %%none, %%one, %%zero, %%one, %%1)
  %%z : Tensor = aten::conv2d(%%x, %%v, %%none, %%one, %%far, %%far, %%groups)
  %%s : Tensor = aten::add(%%z, %%y, %%1)
  %%r : Tensor = aten::%s(%%s)
  %%l : Tensor = aten::conv2d(%%r, %%w, %%none, %%one, %%zero, %%one, %%1)
  return (%%l)
`, c.groups, c.dilation, c.dilation, c.after)
		r, n, told := regionOf(t, text, 1, 2)
		weight := randomOf(random, 8, 8/c.groups, 3, 3)
		for i := range tensor.Data[float32](weight) {
			tensor.Data[float32](weight)[i] *= 0.02
		}
		small := randomOf(random, 8, 8, 1, 1)
		for i := range tensor.Data[float32](small) {
			tensor.Data[float32](small)[i] *= 0.02
		}
		checkRegion(t, r, n, told, []*tensor.Tensor{randomOf(random, 2, 8, 9, 7), small, weight})
	}
}

func checkRegion(t *testing.T, r *Region, n *ir.Node, told *[]string, tensors []*tensor.Tensor) {
	t.Helper()
	args, out := argumentsOf(n, tensors), make([]value.Value, len(n.Outputs()))
	if !r.Run(noGradients(), args, out) {
		t.Fatalf("not planned: %v", *told)
	}
	first := slices.Clone(out)
	for i, want := range oneByOne(t, n, args) {
		checkAlike(t, out[i].Tensor(), want.Tensor())
	}
	defer parallel.SetNumThreads(parallel.NumThreads())
	for threads := 1; threads <= 2; threads++ {
		parallel.SetNumThreads(threads)
		r.Run(noGradients(), args, out)
		for i := range out {
			if !slices.Equal(tensor.Data[float32](out[i].Tensor()), tensor.Data[float32](first[i].Tensor())) {
				t.Fatalf("another result with %d threads", threads)
			}
		}
	}
}

// argumentsOf returns tensors as the inputs of a region, by the names of these, and the sizes of the first where it reads numbers.
func argumentsOf(n *ir.Node, tensors []*tensor.Tensor) []value.Value {
	graph := n.Graph().Inputs()
	var args []value.Value
	for _, v := range n.Inputs() {
		if i := slices.Index(graph, v); i >= 0 {
			args = append(args, value.OfTensor(tensors[i]))
			continue
		}
		second, _ := v.Node().Input(1).Constant()
		if first, isProduct := v.Node().Input(0).Constant(); isProduct {
			args = append(args, value.Int(first.Int()*second.Int()))
			continue
		}
		args = append(args, value.Int(int64(tensors[0].Size(int(second.Int())))))
	}
	return args
}

// TestNoAllocations counts what a call takes behind the first ones: nothing from the heap, and no block but those that it gives back, where its
// results are given back.
func TestNoAllocations(t *testing.T) {
	pool := sync.Pool{New: func() any { return new([64]byte) }}
	if strings.Contains(os.Getenv("GOJIT_CHECK"), "guard") {
		t.Skip("results get memory of their own")
	}
	if asm.Target() < asm.AVX2 || testing.AllocsPerRun(50, func() { pool.Put(pool.Get()) }) > 0 {
		t.Skip("the portable code, and pools under the race detector, take memory")
	}
	random := rand.New(rand.NewPCG(1, 2))
	defer parallel.SetNumThreads(parallel.NumThreads())
	parallel.SetNumThreads(1)
	r, n, _ := regionOf(t, residualBlock, 1, 2, 3, 4, 5)
	countAllocations(t, "images", r, n, []*tensor.Tensor{randomOf(random, 1, 4, 8, 8), randomOf(random, 8, 4, 3, 3), randomOf(random, 8, 8, 3, 3),
		randomOf(random, 8, 8, 1, 1), randomOf(random, 20, 16), randomOf(random, 20)})
	r, n, _ = regionOf(t, attentionBlock, 1, 2, 7)
	countAllocations(t, "attention", r, n, []*tensor.Tensor{randomOf(random, 2, 40, 32), randomOf(random, 32, 32), randomOf(random, 32, 32), randomOf(random, 32, 32),
		randomOf(random, 40, 40), randomOf(random, 32)})
}

func countAllocations(t *testing.T, name string, r *Region, n *ir.Node, tensors []*tensor.Tensor) {
	args, out := argumentsOf(n, tensors), make([]value.Value, len(n.Outputs()))
	m := noGradients()
	allocations := math.Inf(1)
	for range 100 { // a collection in between empties the pools, and what other tests have left running is counted too
		allocations = min(allocations, testing.AllocsPerRun(20, func() {
			if !r.Run(m, args, out) {
				t.Fatal("not planned")
			}
			for _, v := range out {
				v.Tensor().Release()
			}
		}))
		if allocations == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s: %v allocations a call", name, allocations)
}

// TestSizesThatChange has a region meet more sizes than it keeps plans for, in several goroutines at once: plans and packed weights stay bounded, and
// results are those of the nodes.
func TestSizesThatChange(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r, n, told := regionOf(t, residualBlock, 1, 2, 3, 4, 5)
	weights := []*tensor.Tensor{randomOf(random, 8, 4, 3, 3), randomOf(random, 8, 8, 3, 3), randomOf(random, 8, 8, 1, 1), randomOf(random, 20, 16), randomOf(random, 20)}
	var images []*tensor.Tensor
	for i := range mostPlanned + 20 {
		images = append(images, randomOf(random, 1+i%7, 4, 4+2*(i/7), 6))
	}
	var running sync.WaitGroup
	for k := range 4 {
		running.Go(func() {
			for i := range images {
				args, out := argumentsOf(n, append([]*tensor.Tensor{images[(i*3+k*20)%len(images)]}, weights...)), make([]value.Value, 1)
				if !r.Run(noGradients(), args, out) {
					t.Errorf("not planned: %v", *told)
					return
				}
				checkAlike(t, out[0].Tensor(), oneByOne(t, n, args)[0].Tensor())
			}
		})
	}
	running.Wait()
	if known := len(*r.known.Load()); known > mostPlanned {
		t.Errorf("%d plans are kept", known)
	}
	for name, set := range r.cache.by {
		if len(set.packed()) > mostPacked {
			t.Errorf("%s: weights for %d geometries", name, len(set.packed()))
		}
	}
	matrices := map[*sharedMatrix]bool{}
	for _, set := range r.cache.by {
		for _, p := range set.packed() {
			if p.shared != nil {
				matrices[p.shared] = true
			}
		}
	}
	if len(matrices) > 2 { // for few rows, and for more
		t.Errorf("%d packed matrices of one", len(matrices))
	}
}

// TestArrange places blocks of memory: none lies over another that is needed at the same time, and those of a chain share two places.
func TestArrange(t *testing.T) {
	chain := make([]kernel.Life, 10)
	for i := range chain {
		chain[i] = kernel.Life{Bytes: 512, From: i, Last: i + 1}
	}
	if offsets, size := Arrange(chain); size != 1024 {
		t.Errorf("a chain takes %d bytes: %v", size, offsets)
	}
	if _, size := Arrange(nil); size != 0 {
		t.Errorf("nothing takes %d bytes", size)
	}
	rng := rand.New(rand.NewPCG(71, 72))
	for range 200 {
		blocks := make([]kernel.Life, 1+rng.IntN(30))
		for i := range blocks {
			blocks[i] = kernel.Life{Bytes: 512 * (1 + rng.IntN(9)), From: i, Last: i + rng.IntN(6)}
			if rng.IntN(8) == 0 {
				blocks[i].Last = math.MaxInt
			}
		}
		offsets, size := Arrange(blocks)
		most := 0
		for i, a := range blocks {
			if offsets[i] < 0 || offsets[i]+a.Bytes > size || offsets[i]%512 != 0 {
				t.Fatalf("%v: %v of %d", blocks, offsets, size)
			}
			together := 0
			for j, b := range blocks[:i+1] {
				if b.From <= a.From && a.From <= b.Last {
					together += b.Bytes
				}
				if j < i && b.Last >= a.From && offsets[j] < offsets[i]+a.Bytes && offsets[i] < offsets[j]+b.Bytes {
					t.Fatalf("%v: blocks %d and %d lie over each other: %v", blocks, j, i, offsets)
				}
			}
			most = max(most, together)
		}
		if size < most || size > 2*most {
			t.Errorf("%v take %d bytes, of which %d are needed at once", blocks, size, most)
		}
	}
}
