package scripts

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
)

// statisticsFunctions are about the numbers that programs note. A LockingLogger of Python's is known by a number.
var statisticsFunctions = []abi.Function{
	{Schema: "statistics_new() -> int", Run: statisticsNew},
	{Schema: "statistics_free(int number) -> None", Run: statisticsFree},
	{Schema: "statistics_collect(int number) -> None", Doc: "Has programs note their numbers there; 0: nowhere.", Run: statisticsCollect},
	{Schema: "statistics_average(int number, str name, bool on) -> None", Run: statisticsAverage},
	{Schema: "statistics_value(int number, str name) -> int", Run: statisticsValue},
	{Schema: "statistics_add(str name, int value) -> None", Run: statisticsAdd},
	{Schema: "time_point() -> int", Run: timePoint},
}

var statistics = struct {
	sync.Mutex
	made map[int]*prim.Statistics
	last int
}{made: map[int]*prim.Statistics{}}

func statisticsNew(c *abi.Call) error {
	statistics.Lock()
	defer statistics.Unlock()
	statistics.last++
	statistics.made[statistics.last] = prim.NewStatistics()
	c.Int(statistics.last)
	return nil
}

func statisticsFree(c *abi.Call) error {
	statistics.Lock()
	defer statistics.Unlock()
	delete(statistics.made, c.ArgInt(0))
	c.None()
	return nil
}

// argStatistics returns what argument 0 is the number of, nil for 0.
func argStatistics(c *abi.Call) *prim.Statistics {
	statistics.Lock()
	defer statistics.Unlock()
	return statistics.made[c.ArgInt(0)]
}

func statisticsCollect(c *abi.Call) error {
	prim.Collect(argStatistics(c))
	c.None()
	return nil
}

func statisticsAverage(c *abi.Call) error {
	argStatistics(c).Average(c.ArgString(1), c.ArgBool(2))
	c.None()
	return nil
}

func statisticsValue(c *abi.Call) error {
	c.Int64(argStatistics(c).Value(c.ArgString(1)))
	return nil
}

func statisticsAdd(c *abi.Call) error {
	prim.NoteStatistic(c.ArgString(0), int64(c.ArgInt(1)))
	c.None()
	return nil
}

func timePoint(c *abi.Call) error {
	c.Int64(prim.TimePoint())
	return nil
}
