package scripts

import (
	"errors"
	"os"
	"runtime/pprof"

	"github.com/torchjit/torchjit/gojit/bind/abi"
)

// profileFunctions record where the library spends its time. The compiler places hot code by such
// a profile: default.pgo, which benchmarks/record_profile.py writes.
var profileFunctions = []abi.Function{
	{Schema: "cpu_profile_start(str path) -> None", Run: cpuProfileStart},
	{Schema: "cpu_profile_stop() -> None", Run: cpuProfileStop},
	{Schema: "allocation_profile(str path) -> None", Doc: "Writes what has been allocated on Go's heap, and where; GODEBUG=memprofilerate=N sets how much of it is seen.", Run: allocationProfile},
}

// profile is the file of the profile that is being recorded.
var profile *os.File

func cpuProfileStart(c *abi.Call) error {
	if profile != nil {
		return abi.RuntimeErrorf("a profile is being recorded already, to %s", profile.Name())
	}
	f, err := os.Create(c.ArgString(0))
	if err != nil {
		return abi.RuntimeErrorf("the profile cannot be written: %v", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return abi.RuntimeErrorf("the profile cannot be recorded: %v", err)
	}
	profile = f
	c.None()
	return nil
}

func cpuProfileStop(c *abi.Call) error {
	if profile == nil {
		return abi.RuntimeErrorf("no profile is being recorded")
	}
	pprof.StopCPUProfile()
	err := profile.Close()
	profile = nil
	if err != nil {
		return abi.RuntimeErrorf("the profile cannot be written: %v", err)
	}
	c.None()
	return nil
}

func allocationProfile(c *abi.Call) error {
	f, err := os.Create(c.ArgString(0))
	if err != nil {
		return abi.RuntimeErrorf("the profile cannot be written: %v", err)
	}
	if err := errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close()); err != nil {
		return abi.RuntimeErrorf("the profile cannot be written: %v", err)
	}
	c.None()
	return nil
}
