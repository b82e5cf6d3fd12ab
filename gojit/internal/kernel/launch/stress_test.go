package launch

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Machine code runs in 16 goroutines while the collector works without a pause, the profiler samples,
// and signals arrive, some of them at code that Go knows nothing of. Every result stays right.
func TestSignalsAndCollections(t *testing.T) {
	p, err := NewProgram(gate())
	if err != nil {
		t.Fatal(err)
	}
	b := kernel.NewBuilder()
	b.Reduce(kernel.ReduceSum, b.Input(tensor.Float32, tensor.Float32), tensor.Float32)
	sum, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	const n = 40000
	x := random(rand.New(rand.NewPCG(1, 1)), tensor.Float32, n)
	params := []tensor.Scalar{tensor.Float(0.01), tensor.Float(0.5)}
	want := zeros(tensor.Float32, n)
	p.Run([]*tensor.Tensor{want, x}, params)

	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Logf("no profile: %v", err)
	}
	defer pprof.StopCPUProfile()
	stop := make(chan struct{})
	var background, group sync.WaitGroup
	background.Go(func() {
		self, _ := os.FindProcess(os.Getpid())
		for {
			select {
			case <-stop:
				return
			default:
				self.Signal(syscall.SIGURG)
				runtime.GC()
			}
		}
	})
	deadline := time.Now().Add(400 * time.Millisecond)
	for range 16 {
		group.Go(func() {
			for time.Now().Before(deadline) {
				out, err := tensor.Empty([]int{n}, tensor.Float32)
				if err != nil {
					t.Error(err)
					return
				}
				p.Run([]*tensor.Tensor{out, x}, params)
				total := zeros(tensor.Float32, 1)
				sum.ParallelRows(1, n, []Row{RowOf(total, 1), RowOf(x, n)}, nil)
				if !equal(out, want) {
					t.Error("a result differs")
					return
				}
			}
		})
	}
	group.Wait()
	close(stop)
	background.Wait()
}

// The time to make a kernel.
func BenchmarkCompile(b *testing.B) {
	k := Expand(gate())
	for b.Loop() {
		p, err := NewProgram(k)
		if err != nil {
			b.Fatal(err)
		}
		p.expanded = k
		if f := p.function(0); f != nil {
			f.Code.Free()
		}
	}
}

func BenchmarkExpandAndCompile(b *testing.B) {
	k := gate()
	for b.Loop() {
		p, err := NewProgram(k)
		if err != nil {
			b.Fatal(err)
		}
		if f := p.function(0); f != nil {
			f.Code.Free()
		}
	}
}
