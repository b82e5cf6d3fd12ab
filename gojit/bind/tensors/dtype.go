package tensors

import (
	"math"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// typeFunctions are about dtypes, threads, devices and random generators.
var typeFunctions = []abi.Function{
	{Schema: "dtype_names() -> list", Run: dtypeNames},
	{Schema: "promote_types(dtype a, dtype b) -> dtype", Run: promoteTypes},
	{Schema: "can_cast(dtype a, dtype b) -> bool", Run: canCast},
	{Schema: "default_dtype() -> dtype", Run: defaultDType},
	{Schema: "set_default_dtype(dtype d) -> None", Run: setDefaultDType},
	{Schema: "num_threads() -> int", Run: numThreads},
	{Schema: "set_num_threads(int n) -> None", Run: setNumThreads},
	{Schema: "packed_class(any packed) -> str", Run: packedClass},
	{Schema: "packed_state(any packed) -> any", Run: packedState},
	{Schema: "parse_device(str text) -> int", Run: parseDevice},
	{Schema: "device_text(int code) -> str", Run: deviceText},
	{Schema: "default_generator() -> Generator", Run: defaultGenerator},
	{Schema: "new_generator() -> Generator", Run: newGenerator},
	{Schema: "generator_seed(Generator self, int seed) -> None", Run: generatorSeed},
	{Schema: "generator_initial_seed(Generator self) -> int", Run: generatorInitialSeed},
	{Schema: "generator_state(Generator self) -> Tensor", Run: generatorState},
	{Schema: "generator_set_state(Generator self, bytes state) -> None", Run: generatorSetState},
	{Schema: "generator_seed_from_time(Generator self) -> int", Run: generatorSeedFromTime},
	{Schema: "own_random_stream(int seed) -> bool", Run: ownRandomStream},
	{Schema: "drop_random_stream() -> None", Run: dropRandomStream},
}

// dtypeNames replies, by code, name, alias-free, bytes, and whether floating point or complex.
func dtypeNames(c *abi.Call) error {
	c.Open(abi.KindList, tensor.NumDTypes)
	for d := tensor.DType(0); d < tensor.NumDTypes; d++ {
		c.Open(abi.KindTuple, 4)
		c.String(d.String())
		c.Int(d.Size())
		c.Bool(d.IsFloating())
		c.Bool(d.IsComplex())
	}
	return nil
}

func promoteTypes(c *abi.Call) error {
	c.Token(abi.TokenDType, int64(tensor.Promote(c.ArgDType(0), c.ArgDType(1))))
	return nil
}

func canCast(c *abi.Call) error {
	c.Bool(tensor.CanCast(c.ArgDType(0), c.ArgDType(1)))
	return nil
}

func defaultDType(c *abi.Call) error {
	c.Token(abi.TokenDType, int64(tensor.DefaultDType()))
	return nil
}

func setDefaultDType(c *abi.Call) error {
	c.None()
	return tensor.SetDefaultDType(c.ArgDType(0))
}

func numThreads(c *abi.Call) error {
	c.Int(parallel.NumThreads())
	return nil
}

func setNumThreads(c *abi.Call) error {
	n := c.ArgInt(0)
	if n < 1 {
		return source.Errorf(source.RuntimeError, source.Range{}, "set_num_threads expects a positive integer")
	}
	parallel.SetNumThreads(min(n, math.MaxInt32))
	c.None()
	return nil
}

// parseDevice replies the code of a device's text.
func parseDevice(c *abi.Call) error {
	d, err := tensor.ParseDevice(c.ArgText(0))
	c.Int64(abi.DeviceCode(d))
	return err
}

func deviceText(c *abi.Call) error {
	c.String(abi.DeviceOfCode(int64(c.ArgInt(0))).String())
	return nil
}

func defaultGenerator(c *abi.Call) error {
	c.Handle(abi.HandleGenerator, rng.Default())
	return nil
}

func newGenerator(c *abi.Call) error {
	c.Handle(abi.HandleGenerator, rng.New(rng.DefaultSeed))
	return nil
}

func generatorSeed(c *abi.Call) error {
	c.ArgGenerator(0).Seed(uint64(c.ArgInt(1)))
	c.None()
	return nil
}

func generatorInitialSeed(c *abi.Call) error {
	c.Int64(int64(c.ArgGenerator(0).InitialSeed()))
	return nil
}

func generatorState(c *abi.Call) error {
	state := c.ArgGenerator(0).State()
	t, err := tensor.FromSlice(state, len(state))
	if err == nil {
		c.Tensor(t)
	}
	return err
}

func generatorSetState(c *abi.Call) error {
	c.None()
	return c.ArgGenerator(0).SetState([]byte(c.ArgText(1)))
}

func generatorSeedFromTime(c *abi.Call) error {
	c.Int64(int64(c.ArgGenerator(0).SeedFromTime()))
	return nil
}

// ownRandomStream gives the calling thread a stream of its own in place of the default one, and replies whether threads can be told apart.
func ownRandomStream(c *abi.Call) error {
	c.Bool(rng.OwnStream(uint64(c.ArgInt(0))))
	return nil
}

func dropRandomStream(c *abi.Call) error {
	rng.DropStream()
	c.None()
	return nil
}

// packedState replies what packed parameters are made of again, as archives hold it.
func packedState(c *abi.Call) error {
	p, ok := c.Arg(0).Content().(*value.Capsule)
	if !ok {
		return abi.TypeErrorf("expected packed parameters, not a %s", c.Arg(0).KindName())
	}
	state, ok := archive.StateOf(p)
	if !ok {
		return abi.TypeErrorf("%s has no state", p.Kind)
	}
	return c.ResultOf(state, nil, false)
}

// packedClass replies the name of the class of packed parameters.
func packedClass(c *abi.Call) error {
	p, ok := c.Arg(0).Content().(*value.Capsule)
	if !ok {
		return abi.TypeErrorf("expected packed parameters, not a %s", c.Arg(0).KindName())
	}
	c.String(types.NativePrefix + p.Kind)
	return nil
}
