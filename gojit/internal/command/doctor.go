package command

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// health is the report of doctor.
type health struct {
	Version    string      `json:"version"`
	Go         string      `json:"go"`
	System     string      `json:"system"`
	Processors int         `json:"processors"`
	Threads    int         `json:"threads"`
	Kernels    string      `json:"kernels"`
	Features   string      `json:"features"` // of the processor, that kernels use
	GPU        string      `json:"gpu"`
	Memory     string      `json:"memory_limit"`
	Caches     []string    `json:"caches"`
	Libraries  []string    `json:"libraries"` // that are linked, with their versions
	Settings   []string    `json:"settings"`  // GOJIT_ variables of the environment
	Checks     []diagnosis `json:"checks"`
}

// diagnosis is one thing that doctor has tried.
type diagnosis struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}

func (r *health) text(w io.Writer) {
	for _, row := range [][2]string{
		{"torchjit", r.Version}, {"go", r.Go}, {"system", r.System}, {"processors", fmt.Sprint(r.Processors)}, {"threads", fmt.Sprint(r.Threads)},
		{"kernels", r.Kernels}, {"features", r.Features}, {"gpu", r.GPU}, {"memory limit", r.Memory}, {"caches", strings.Join(r.Caches, " | ")},
		{"libraries", strings.Join(r.Libraries, ", ")}, {"settings", strings.Join(r.Settings, " ")},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "%-13s %s\n", row[0], row[1])
		}
	}
	for _, d := range r.Checks {
		word := "ok"
		if !d.OK {
			word = "FAILED"
		}
		fmt.Fprintf(w, "%-13s %s: %s\n", word, d.Name, d.Says)
	}
}

func doctorVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what this machine offers, and try what torchjit needs", GroupID: groupInside, Args: cobra.NoArgs,
		Long: "Says what the processor and the system offer, and tries what torchjit needs of them. The status is 1 where something does not work.",
		RunE: func(*cobra.Command, []string) error {
			r := examine(s.host)
			if err := s.print(r); err != nil {
				return err
			}
			for _, d := range r.Checks {
				if !d.OK {
					return failed{StatusFailed}
				}
			}
			return nil
		},
	}
}

func examine(host Host) *health {
	r := &health{
		Version: gojit.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(), Threads: parallel.NumThreads(),
		Kernels: "portable Go", GPU: gpuOf(host.Devices), Memory: "none", Caches: []string{}, Libraries: librariesLinked(), Settings: []string{},
	}
	if runtime.GOARCH == "amd64" {
		r.Kernels = fmt.Sprint(asm.Target())
		r.Features = featuresOf(asm.Features())
	}
	if host.Cache != nil {
		r.Caches = append(r.Caches, cacheAt(host.Cache()))
	}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<62 {
		r.Memory = fmt.Sprintf("%d bytes (GOMEMLIMIT)", limit)
	}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GOJIT_") {
			r.Settings = append(r.Settings, v)
		}
	}
	r.try("a program compiles and runs", tryProgram)
	r.try("operators use several threads", tryThreads)
	return r
}

// featuresOf names what the processor has of what kernels use, and what it lacks.
func featuresOf(features []asm.Feature) string {
	var there, lacking []string
	for _, f := range features {
		if f.There {
			there = append(there, f.Name)
		} else {
			lacking = append(lacking, f.Name)
		}
	}
	text := strings.Join(there, " ")
	if len(lacking) > 0 {
		text += "; not " + strings.Join(lacking, " ")
	}
	return text
}

// librariesLinked returns the modules of the program with their versions.
func librariesLinked() []string {
	libraries := []string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			libraries = append(libraries, m.Path+" "+m.Version)
		}
	}
	return libraries
}

// cacheAt says what the folder of compiled kernels of GPUs has.
func cacheAt(folder string) string {
	if folder == "" {
		return "kernels of GPUs are not kept"
	}
	files, bytes := 0, int64(0)
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				files++
				bytes += info.Size()
			}
		}
		return nil // what cannot be read is not counted
	})
	return fmt.Sprintf("%s: %d kernels of GPUs, %d bytes", folder, files, bytes)
}

// gpuOf says which GPUs tensors can be on, and why on none.
func gpuOf(devices func() ([]string, error)) string {
	if devices == nil {
		return "not used by this program: tensors are on one in programs that import gojit/cuda, and in Python"
	}
	names, err := devices()
	switch {
	case err != nil:
		return "none: " + err.Error()
	case len(names) == 0:
		return "none: the driver knows of none"
	}
	return strings.Join(names, " | ")
}

func (r *health) try(name string, check func() (string, error)) {
	says, err := check()
	if err != nil {
		says = err.Error()
	}
	r.Checks = append(r.Checks, diagnosis{name, err == nil, says})
}

// tryProgram compiles a loop and a kernel.
func tryProgram() (string, error) {
	p, err := gojit.Compile("doctor", "def f(x, n: int):\n    for i in range(n):\n        x = (x * 2 + i).relu()\n    return x.sum()\n")
	if err != nil {
		return "", err
	}
	out, err := p.Call(context.Background(), "f", []float32{1, 2, 3}, 4)
	if err != nil {
		return "", err
	}
	got, err := gojit.As[float64](out)
	if err == nil && got != 129 {
		err = fmt.Errorf("found %g, expected 129", got)
	}
	return "as expected", err
}

// tryThreads sums a range of which each thread has a part.
func tryThreads() (string, error) {
	const n = 1 << 16
	sums := make([]int, parallel.NumChunks(n, 1<<10))
	parallel.Chunks(n, 1<<10, func(chunk, lo, hi int) {
		for i := lo; i < hi; i++ {
			sums[chunk] += i
		}
	})
	total := 0
	for _, s := range sums {
		total += s
	}
	if total != n*(n-1)/2 {
		return "", fmt.Errorf("found the sum %d, expected %d", total, n*(n-1)/2)
	}
	return fmt.Sprintf("%d threads", parallel.NumThreads()), nil
}

// versionInfo is the report of version.
type versionInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (v *versionInfo) text(w io.Writer) {
	fmt.Fprintf(w, "torchjit %s (%s, %s)\n", v.Version, v.Go, v.System)
}

func versionNow() *versionInfo {
	return &versionInfo{gojit.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func versionVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", GroupID: groupInside, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return s.print(versionNow())
		},
	}
}
