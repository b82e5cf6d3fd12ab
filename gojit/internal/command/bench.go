package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// benchmark is the report of bench. Times are in microseconds.
type benchmark struct {
	Model       string             `json:"model"`
	Method      string             `json:"method"`
	Calls       int                `json:"calls"`
	Callers     int                `json:"callers"`
	Threads     int                `json:"threads"`
	First       float64            `json:"first_us"`
	Mean        float64            `json:"mean_us"`
	Least       float64            `json:"least_us"`
	Most        float64            `json:"most_us"`
	Percentiles map[string]float64 `json:"percentiles_us"`
	PerSecond   float64            `json:"calls_per_second"`
	Allocated   uint64             `json:"allocated_bytes_per_call"`
	Resident    uint64             `json:"resident_bytes"`
	Peak        uint64             `json:"peak_resident_bytes"`
}

var percentiles = []int{50, 90, 95, 99}

func (b *benchmark) text(w io.Writer) {
	fmt.Fprintf(w, "%s.%s: %d calls, %d at a time, %d threads each\n", b.Model, b.Method, b.Calls, b.Callers, b.Threads)
	fmt.Fprintf(w, "first      %12.1f us\nmean       %12.1f us\nleast      %12.1f us\n", b.First, b.Mean, b.Least)
	for _, p := range percentiles {
		fmt.Fprintf(w, "p%d        %12.1f us\n", p, b.Percentiles[strconv.Itoa(p)])
	}
	fmt.Fprintf(w, "most       %12.1f us\nper second %12.1f\n", b.Most, b.PerSecond)
	fmt.Fprintf(w, "allocated  %12d bytes per call\nresident   %12d bytes, %d at most\n", b.Allocated, b.Resident, b.Peak)
}

func benchVerb(s *Session) *cobra.Command {
	c, b := &call{}, &bench{}
	verb := &cobra.Command{
		Use: "bench MODEL [INPUT...]", Short: "Time calls: percentiles, calls per second, memory", GroupID: groupRun, Args: cobra.MinimumNArgs(1),
		Long:    "Calls a method again and again with the same inputs and prints how long that takes. The first call, which compiles, is not among the others.",
		Example: "  gojit bench model.pt randn:1x3x224x224 --threads 1 --seconds 5",
		RunE:    func(cmd *cobra.Command, args []string) error { return s.bench(cmd.Context(), c, b, args) },
	}
	c.flags(verb)
	verb.Flags().Float64Var(&b.seconds, "seconds", 2, "how long to go on")
	verb.Flags().IntVar(&b.calls, "calls", 0, "how many calls to make, instead of for how long")
	verb.Flags().IntVar(&b.callers, "callers", 1, "how many calls run at a time")
	verb.Flags().IntVar(&b.warm, "warm", 5, "how many calls to make before the first that counts")
	return verb
}

// bench is what is measured.
type bench struct {
	seconds              float64
	calls, callers, warm int
}

func (s *Session) bench(ctx context.Context, c *call, b *bench, args []string) error {
	if b.callers < 1 || b.calls < 0 || b.warm < 0 || !(b.seconds > 0) {
		return usagef("--callers, --seconds: expected more than 0; --calls, --warm: expected no less than 0")
	}
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	one := func() (time.Duration, error) {
		begin := time.Now()
		_, err := model.Call(ctx, c.method, inputs...)
		return time.Since(begin), err
	}
	first, err := one()
	if err != nil {
		return err
	}
	for range b.warm {
		if _, err := one(); err != nil {
			return err
		}
	}
	r := &benchmark{Model: c.file, Method: c.method, Callers: b.callers, Threads: c.threads, First: microseconds(first)}
	if r.Threads == 0 {
		r.Threads = parallel.NumThreads()
	}
	if err := b.measure(r, one); err != nil {
		return err
	}
	return s.print(r)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// measure makes the calls and fills in the report.
func (b *bench) measure(r *benchmark, one func() (time.Duration, error)) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	times, errs := make([][]time.Duration, b.callers), make([]error, b.callers)
	begin := time.Now()
	end := begin.Add(time.Duration(b.seconds * float64(time.Second)))
	var all sync.WaitGroup
	for i := range b.callers {
		all.Go(func() {
			share := b.calls / b.callers
			if i < b.calls%b.callers {
				share++
			}
			for n := 0; b.calls > 0 && n < share || b.calls == 0 && (n == 0 || time.Now().Before(end)); n++ {
				d, err := one()
				if err != nil {
					errs[i] = err
					return
				}
				times[i] = append(times[i], d)
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.fill(slices.Concat(times...), took)
	r.Allocated = (after.TotalAlloc - before.TotalAlloc) / uint64(r.Calls)
	r.Resident, r.Peak = residentMemory()
	return nil
}

func (r *benchmark) fill(times []time.Duration, took time.Duration) {
	slices.Sort(times)
	var sum time.Duration
	for _, d := range times {
		sum += d
	}
	r.Calls, r.Mean = len(times), microseconds(sum)/float64(len(times))
	r.Least, r.Most = microseconds(times[0]), microseconds(times[len(times)-1])
	r.PerSecond = float64(len(times)) / took.Seconds()
	r.Percentiles = map[string]float64{}
	for _, p := range percentiles {
		at := int(math.Ceil(float64(p)/100*float64(len(times)))) - 1
		r.Percentiles[strconv.Itoa(p)] = microseconds(times[max(at, 0)])
	}
}

// residentMemory returns the memory that the process has in the machine, now and at most; 0 where the system does not say.
func residentMemory() (now, most uint64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.ParseUint(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			now = n << 10
		case "VmHWM:":
			most = n << 10
		}
	}
	return now, most
}
