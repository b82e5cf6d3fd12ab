package kernel

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestPhilox has the published answers of the generator's authors.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]int64
		key     [2]int64
		want    [4]int64
	}{
		{want: [4]int64{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]int64{lowWord, lowWord, lowWord, lowWord}, [2]int64{lowWord, lowWord}, [4]int64{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]int64{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]int64{0xa4093822, 0x299f31d0}, [4]int64{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		b := NewBuilder()
		x := b.Input(tensor.Int64, tensor.Int64)
		var counter [4]Value
		for i, w := range c.counter {
			counter[i] = b.int64Number(w)
		}
		words := b.Philox(counter, [2]Value{b.int64Number(c.key[0]), b.int64Number(c.key[1])})
		word := words[3]
		for i := range 3 { // element i has word i
			word = b.Select(b.Binary(Eq, x, b.int64Number(int64(i))), words[i], word)
		}
		b.Output(word, tensor.Int64)
		for i, got := range run[int64](t, b.Kernel(), vector(t, []int64{0, 1, 2, 3})) {
			if got != c.want[i] {
				t.Errorf("word %d of %x, %x is %x, want %x", i, c.counter, c.key, got, c.want[i])
			}
		}
	}
}

// draws returns n numbers of a distribution.
func draws[D Float](t *testing.T, n int, seed int64, draw func(b *Builder, d tensor.DType, seed, offset Value) Value) []D {
	t.Helper()
	var like D
	d := vector(t, []D{like}).DType()
	b := NewBuilder()
	b.Output(draw(b, d, b.Param(tensor.Int64), b.Param(tensor.Int64)), d)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	out, _ := tensor.Empty([]int{n}, d)
	p.Run([]*tensor.Tensor{out}, []tensor.Scalar{tensor.Int(seed), tensor.Int(-5)})
	return tensor.Data[D](out)
}

func checkMoments[D Float](t *testing.T, x []D, mean, variance float64) {
	t.Helper()
	sum, squares, pairs := 0.0, 0.0, 0.0
	for i, v := range x {
		d := float64(v) - mean
		sum += d
		squares += d * d
		pairs += d * (float64(x[(i+1)%len(x)]) - mean)
	}
	n := float64(len(x))
	limit := 5 * variance / math.Sqrt(n)
	if m := sum / n; math.Abs(m) > 5*math.Sqrt(variance/n) {
		t.Errorf("mean is %v off", m)
	}
	if v := squares/n - variance; math.Abs(v) > 2*limit {
		t.Errorf("variance is %v off", v)
	}
	if c := pairs / n; math.Abs(c) > limit {
		t.Errorf("covariance of neighbours is %v", c)
	}
}

func TestDistributions(t *testing.T) {
	const n = 1 << 16
	uniform, normal := (*Builder).Uniform, (*Builder).Normal
	checkMoments(t, draws[float32](t, n, 1, uniform), 0.5, 1.0/12)
	checkMoments(t, draws[float64](t, n, 1, uniform), 0.5, 1.0/12)
	checkMoments(t, draws[float32](t, n, 2, normal), 0, 1)
	checkMoments(t, draws[float64](t, n, 2, normal), 0, 1)
	for i, v := range draws[float32](t, n, 3, uniform) {
		if v < 0 || v >= 1 {
			t.Fatalf("number %d is %v", i, v)
		}
	}
	a, b := draws[float32](t, 8, 1, uniform), draws[float32](t, 8, 1+1<<32, uniform)
	for i := range a {
		if a[i] == b[i] {
			t.Errorf("the upper half of the seed does not count for number %d", i)
		}
	}
}
