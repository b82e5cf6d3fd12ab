package scripts

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// Facade loads, saves and runs programs; engine takes their graphs to code and has what Python sets.
var (
	Facade = newFacade()
	Engine = Facade.Exec()
)

func newFacade() *gojit.Engine {
	o := gojit.FromEnvironment()
	o.Runners = map[string]interp.Runner{prim.PythonOp: pythonOp}
	return gojit.New(o)
}

// engineFunctions say what the engine does.
var engineFunctions = []abi.Function{
	{Schema: "set_executor(bool enabled, int profiled_runs, bool inlining) -> None", Run: func(c *abi.Call) error {
		Engine.Change(func(s *exec.Settings) {
			s.Profiling, s.ProfiledRuns, s.Inlining = c.ArgBool(0), c.ArgInt(1), c.ArgBool(2)
		})
		c.None()
		return nil
	}},
	{Schema: "profiles() -> bool", Run: func(c *abi.Call) error {
		c.Bool(Engine.Settings().Profiling)
		return nil
	}},
	{Schema: "set_grouping(bool on, bool inlining, bool reductions) -> None", Run: func(c *abi.Call) error {
		Engine.Change(func(s *exec.Settings) {
			s.Grouping, s.GroupInlining, s.Reductions = c.ArgBool(0), c.ArgBool(1), c.ArgBool(2)
		})
		c.None()
		return nil
	}},
	{Schema: "set_fusion_strategy(list dynamic, list counts) -> None", Run: setFusionStrategy},
	{Schema: "set_fusing(bool on) -> None", Run: setting(func(s *exec.Settings, on bool) { s.Fusing = on })},
	{Schema: "set_compiler_casts(bool enabled) -> None", Run: setting(func(s *exec.Settings, on bool) { s.CompilerCasts = on })},
}

// setting changes what the engine does by the first argument.
func setting(change func(s *exec.Settings, on bool)) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		Engine.Change(func(s *exec.Settings) { change(s, c.ArgBool(0)) })
		c.None()
		return nil
	}
}

// setFusionStrategy says which specializations are for all sizes, and how many there are of each.
func setFusionStrategy(c *abi.Call) error {
	var parts []exec.Specializations
	for w := range c.Arg(0).Items {
		parts = append(parts, exec.Specializations{Dynamic: w.Bits != 0})
	}
	i := 0
	for w := range c.Arg(1).Items {
		parts[i].Count = int(w.Bits)
		i++
	}
	Engine.Change(func(s *exec.Settings) { s.Strategy = parts })
	c.None()
	return nil
}
