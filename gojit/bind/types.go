package bind

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// typeFunctions are about dtypes, threads, devices and random generators.
var typeFunctions = []function{
	{schema: "dtype_names() -> list", run: dtypeNames},
	{schema: "promote_types(dtype a, dtype b) -> dtype", run: promoteTypes},
	{schema: "can_cast(dtype a, dtype b) -> bool", run: canCast},
	{schema: "default_dtype() -> dtype", run: defaultDType},
	{schema: "set_default_dtype(dtype d) -> None", run: setDefaultDType},
	{schema: "num_threads() -> int", run: numThreads},
	{schema: "set_num_threads(int n) -> None", run: setNumThreads},
	{schema: "packed_class(any packed) -> str", run: packedClass},
	{schema: "packed_state(any packed) -> any", run: packedState},
	{schema: "set_executor(bool enabled, int profiled_runs, bool inlining) -> None", run: func(c *call) error {
		engine.Change(func(s *exec.Settings) {
			s.Profiling, s.ProfiledRuns, s.Inlining = c.argBool(0), c.argInt(1), c.argBool(2)
		})
		c.none()
		return nil
	}},
	{schema: "profiles() -> bool", run: func(c *call) error {
		c.bool(engine.Settings().Profiling)
		return nil
	}},
	{schema: "set_grouping(bool on, bool inlining, bool reductions) -> None", run: func(c *call) error {
		engine.Change(func(s *exec.Settings) {
			s.Grouping, s.GroupInlining, s.Reductions = c.argBool(0), c.argBool(1), c.argBool(2)
		})
		c.none()
		return nil
	}},
	{schema: "set_fusion_strategy(list dynamic, list counts) -> None", run: setFusionStrategy},
	{schema: "set_fusing(bool on) -> None", run: setting(func(s *exec.Settings, on bool) { s.Fusing = on })},
	{schema: "parse_device(str text) -> int", run: parseDevice},
	{schema: "device_text(int code) -> str", run: deviceText},
	{schema: "default_generator() -> Generator", run: defaultGenerator},
	{schema: "new_generator() -> Generator", run: newGenerator},
	{schema: "generator_seed(Generator self, int seed) -> None", run: generatorSeed},
	{schema: "generator_initial_seed(Generator self) -> int", run: generatorInitialSeed},
	{schema: "generator_state(Generator self) -> Tensor", run: generatorState},
	{schema: "generator_set_state(Generator self, bytes state) -> None", run: generatorSetState},
	{schema: "generator_seed_from_time(Generator self) -> int", run: generatorSeedFromTime},
	{schema: "own_random_stream(int seed) -> bool", run: ownRandomStream},
	{schema: "drop_random_stream() -> None", run: dropRandomStream},
}

// setting changes what the engine does by the first argument.
func setting(change func(s *exec.Settings, on bool)) func(c *call) error {
	return func(c *call) error {
		engine.Change(func(s *exec.Settings) { change(s, c.argBool(0)) })
		c.none()
		return nil
	}
}

// setFusionStrategy says which specializations are for all sizes, and how many there are of each.
func setFusionStrategy(c *call) error {
	var parts []exec.Specializations
	for w := range c.arg(0).items {
		parts = append(parts, exec.Specializations{Dynamic: w.bits != 0})
	}
	i := 0
	for w := range c.arg(1).items {
		parts[i].Count = int(w.bits)
		i++
	}
	engine.Change(func(s *exec.Settings) { s.Strategy = parts })
	c.none()
	return nil
}

// dtypeNames replies, by code, name, alias-free, bytes, and whether floating point or complex.
func dtypeNames(c *call) error {
	c.open(kindList, tensor.NumDTypes)
	for d := tensor.DType(0); d < tensor.NumDTypes; d++ {
		c.open(kindTuple, 4)
		c.string(d.String())
		c.int(d.Size())
		c.bool(d.IsFloating())
		c.bool(d.IsComplex())
	}
	return nil
}

func promoteTypes(c *call) error {
	c.token(tokenDType, int64(tensor.Promote(c.argDType(0), c.argDType(1))))
	return nil
}

func canCast(c *call) error {
	c.bool(tensor.CanCast(c.argDType(0), c.argDType(1)))
	return nil
}

func defaultDType(c *call) error {
	c.token(tokenDType, int64(tensor.DefaultDType()))
	return nil
}

func setDefaultDType(c *call) error {
	c.none()
	return tensor.SetDefaultDType(c.argDType(0))
}

func numThreads(c *call) error {
	c.int(parallel.NumThreads())
	return nil
}

func setNumThreads(c *call) error {
	n := c.argInt(0)
	if n < 1 {
		return source.Errorf(source.RuntimeError, source.Range{}, "set_num_threads expects a positive integer")
	}
	parallel.SetNumThreads(min(n, math.MaxInt32))
	c.none()
	return nil
}

// parseDevice replies the code of a device's text.
func parseDevice(c *call) error {
	d, err := tensor.ParseDevice(c.argText(0))
	c.int64(deviceCode(d))
	return err
}

func deviceText(c *call) error {
	c.string(deviceOfCode(int64(c.argInt(0))).String())
	return nil
}

func defaultGenerator(c *call) error {
	c.handle(handleGenerator, rng.Default())
	return nil
}

func newGenerator(c *call) error {
	c.handle(handleGenerator, rng.New(rng.DefaultSeed))
	return nil
}

func (c *call) argGenerator(i int) *rng.Generator { return c.arg(i).content().(*rng.Generator) }

func generatorSeed(c *call) error {
	c.argGenerator(0).Seed(uint64(c.argInt(1)))
	c.none()
	return nil
}

func generatorInitialSeed(c *call) error {
	c.int64(int64(c.argGenerator(0).InitialSeed()))
	return nil
}

func generatorState(c *call) error {
	state := c.argGenerator(0).State()
	t, err := tensor.FromSlice(state, len(state))
	if err == nil {
		c.tensor(t)
	}
	return err
}

func generatorSetState(c *call) error {
	c.none()
	return c.argGenerator(0).SetState([]byte(c.argText(1)))
}

func generatorSeedFromTime(c *call) error {
	c.int64(int64(c.argGenerator(0).SeedFromTime()))
	return nil
}

// ownRandomStream gives the calling thread a stream of its own in place of the default one, and replies whether threads can be told apart.
func ownRandomStream(c *call) error {
	c.bool(rng.OwnStream(uint64(c.argInt(0))))
	return nil
}

func dropRandomStream(c *call) error {
	rng.DropStream()
	c.none()
	return nil
}

// packedState replies what packed parameters are made of again, as archives hold it.
func packedState(c *call) error {
	p, ok := c.arg(0).content().(*value.Capsule)
	if !ok {
		return typeErrorf("expected packed parameters, not a %s", c.arg(0).kindName())
	}
	state, ok := archive.StateOf(p)
	if !ok {
		return typeErrorf("%s has no state", p.Kind)
	}
	return c.resultOf(state, nil, false)
}

// packedClass replies the name of the class of packed parameters.
func packedClass(c *call) error {
	p, ok := c.arg(0).content().(*value.Capsule)
	if !ok {
		return typeErrorf("expected packed parameters, not a %s", c.arg(0).kindName())
	}
	c.string(types.NativePrefix + p.Kind)
	return nil
}
