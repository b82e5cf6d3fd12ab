package prim

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Statistics adds up, or averages, the numbers that programs give by prim::AddStatValue.
type Statistics struct {
	mu       sync.Mutex
	averaged map[string]bool
	found    map[string]*statistic
}

type statistic struct{ sum, count int64 }

// NewStatistics returns one without numbers.
func NewStatistics() *Statistics {
	return &Statistics{averaged: map[string]bool{}, found: map[string]*statistic{}}
}

// Add notes a number.
func (s *Statistics) Add(name string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[name] == nil {
		s.found[name] = &statistic{}
	}
	s.found[name].sum += n
	s.found[name].count++
}

// Average has Value give the mean of the numbers of a name, or, as at first, their sum.
func (s *Statistics) Average(name string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.averaged[name] = on
}

// Value returns what was noted under a name, 0 where nothing was.
func (s *Statistics) Value(name string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.found[name]
	switch {
	case found == nil:
		return 0
	case s.averaged[name]:
		return found.sum / found.count
	}
	return found.sum
}

var statistics atomic.Pointer[Statistics]

// Collect has programs note their numbers in s from now on; nil: nowhere.
func Collect(s *Statistics) { statistics.Store(s) }

// NoteStatistic does what prim::AddStatValue does.
func NoteStatistic(name string, n int64) {
	if s := statistics.Load(); s != nil {
		s.Add(name, n)
	}
}

var started = time.Now()

// TimePoint returns the nanoseconds since some moment before.
func TimePoint() int64 { return time.Since(started).Nanoseconds() + 1 }

// Statistical are the operators that note numbers, and times for them.
var Statistical = join(
	one("prim::AddStatValue", func(args, out []value.Value) error {
		NoteStatistic(args[0].Str(), args[1].Int())
		return nil
	}),
	one("prim::TimePoint", func(args, out []value.Value) error {
		out[0] = value.Int(TimePoint())
		return nil
	}),
)
