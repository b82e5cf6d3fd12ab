package bind

import (
	"errors"
	"os"
	"runtime/pprof"
)

// profileFunctions record where the library spends its time. The compiler places hot code by such
// a profile: default.pgo, which benchmarks/record_profile.py writes.
var profileFunctions = []function{
	{schema: "cpu_profile_start(str path) -> None", run: cpuProfileStart},
	{schema: "cpu_profile_stop() -> None", run: cpuProfileStop},
	{schema: "allocation_profile(str path) -> None", doc: "Writes what has been allocated on Go's heap, and where; GODEBUG=memprofilerate=N sets how much of it is seen.", run: allocationProfile},
}

// profile is the file of the profile that is being recorded.
var profile *os.File

func cpuProfileStart(c *call) error {
	if profile != nil {
		return runtimeErrorf("a profile is being recorded already, to %s", profile.Name())
	}
	f, err := os.Create(c.argString(0))
	if err != nil {
		return runtimeErrorf("the profile cannot be written: %v", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return runtimeErrorf("the profile cannot be recorded: %v", err)
	}
	profile = f
	c.none()
	return nil
}

func cpuProfileStop(c *call) error {
	if profile == nil {
		return runtimeErrorf("no profile is being recorded")
	}
	pprof.StopCPUProfile()
	err := profile.Close()
	profile = nil
	if err != nil {
		return runtimeErrorf("the profile cannot be written: %v", err)
	}
	c.none()
	return nil
}

func allocationProfile(c *call) error {
	f, err := os.Create(c.argString(0))
	if err != nil {
		return runtimeErrorf("the profile cannot be written: %v", err)
	}
	if err := errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close()); err != nil {
		return runtimeErrorf("the profile cannot be written: %v", err)
	}
	c.none()
	return nil
}
