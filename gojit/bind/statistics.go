package bind

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
)

// statisticsFunctions are about the numbers that programs note. A LockingLogger of Python's is known by a number.
var statisticsFunctions = []function{
	{schema: "statistics_new() -> int", run: statisticsNew},
	{schema: "statistics_free(int number) -> None", run: statisticsFree},
	{schema: "statistics_collect(int number) -> None", doc: "Has programs note their numbers there; 0: nowhere.", run: statisticsCollect},
	{schema: "statistics_average(int number, str name, bool on) -> None", run: statisticsAverage},
	{schema: "statistics_value(int number, str name) -> int", run: statisticsValue},
	{schema: "statistics_add(str name, int value) -> None", run: statisticsAdd},
	{schema: "time_point() -> int", run: timePoint},
}

var statistics = struct {
	sync.Mutex
	made map[int]*prim.Statistics
	last int
}{made: map[int]*prim.Statistics{}}

func statisticsNew(c *call) error {
	statistics.Lock()
	defer statistics.Unlock()
	statistics.last++
	statistics.made[statistics.last] = prim.NewStatistics()
	c.int(statistics.last)
	return nil
}

func statisticsFree(c *call) error {
	statistics.Lock()
	defer statistics.Unlock()
	delete(statistics.made, c.argInt(0))
	c.none()
	return nil
}

// argStatistics returns what argument 0 is the number of, nil for 0.
func (c *call) argStatistics() *prim.Statistics {
	statistics.Lock()
	defer statistics.Unlock()
	return statistics.made[c.argInt(0)]
}

func statisticsCollect(c *call) error {
	prim.Collect(c.argStatistics())
	c.none()
	return nil
}

func statisticsAverage(c *call) error {
	c.argStatistics().Average(c.argString(1), c.argBool(2))
	c.none()
	return nil
}

func statisticsValue(c *call) error {
	c.int64(c.argStatistics().Value(c.argString(1)))
	return nil
}

func statisticsAdd(c *call) error {
	prim.NoteStatistic(c.argString(0), int64(c.argInt(1)))
	c.none()
	return nil
}

func timePoint(c *call) error {
	c.int64(prim.TimePoint())
	return nil
}
