package gojit_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

const data = "../tests/data/"

// Every operator of every family goes into one registry: no overload is implemented twice.
func TestLinkOperators(t *testing.T) { gojit.LinkOperators() }

func TestCompileAndCall(t *testing.T) {
	p, err := gojit.Compile("fib.py", `
def fib(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

def scale(x, k: float = 2.0):
    return x * k
`)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Call(context.Background(), "fib", 50)
	if err != nil || v.Int() != 12586269025 {
		t.Errorf("fib(50) is %v, %v", v.Int(), err)
	}
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	v, err = p.Call(context.Background(), "scale", x)
	if err != nil || v.Tensor().At(1).Float64() != 4 {
		t.Errorf("scale: %v", err)
	}
	for _, args := range [][]any{{}, {1.5}, {1, 2}, {"a"}} {
		if _, err := p.Call(context.Background(), "fib", args...); err == nil {
			t.Errorf("fib took %v", args)
		}
	}
}

func TestErrorsShowTheLine(t *testing.T) {
	_, err := gojit.Compile("bad.py", "def f(x: int):\n    return x.nothing\n")
	if err == nil || !strings.Contains(err.Error(), "File \"bad.py\", line 2") || !strings.Contains(err.Error(), "~~~~~~~~~ <--- HERE") {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	p, err := gojit.Compile("spin.py", "def spin():\n    n = 0\n    while True:\n        n += 1\n    return n\n")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Call(ctx, "spin"); err == nil {
		t.Error("the loop ended by itself")
	}
}

// A context is seen inside an operator, not only between operators.
func TestCancelWithinAnOperator(t *testing.T) {
	p, err := gojit.Compile("product.py", "def f(x):\n    return torch.mm(x, x)\n")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x, err := tensor.Full([]int{768, 768}, tensor.Int(1), tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(ctx, "f", x); !errors.Is(err, context.Canceled) {
		t.Errorf("a large product of a cancelled call gives %v", err)
	}
}

// One loaded module serves many goroutines at once.
func TestLoadAndRunInParallel(t *testing.T) {
	m, err := gojit.Load(data + "char_lstm_lm.pt")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			v, err := m.Call(context.Background(), "generate", "the c", 40)
			if err != nil {
				t.Error(err)
			} else if got, want := v.Str(), "the cat sat on the mat and the cat ran to the"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}()
	}
	wait.Wait()
	if _, err := m.Call(context.Background(), "nothing"); err == nil {
		t.Error("a method that is not there was called")
	}
}

func TestLoadRefusesWhatIsNoArchive(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("PK\x03\x04"), []byte(strings.Repeat("x", 1000))} {
		if _, err := gojit.LoadBytes(b); err == nil {
			t.Errorf("%q was loaded", b)
		}
	}
	if _, err := gojit.Load(data + "nothing.pt"); err == nil {
		t.Error("a file that is not there was loaded")
	}
}

func BenchmarkCallIdentity(b *testing.B) {
	p, err := gojit.Compile("id.py", "def f(x):\n    return x\n")
	if err != nil {
		b.Fatal(err)
	}
	f := p.Function("f")
	x := value.OfTensor(tensor.FromScalar(tensor.Float(1), tensor.Float32))
	for b.Loop() {
		if _, err := gojit.Run(context.Background(), f, x); err != nil {
			b.Fatal(err)
		}
	}
}
