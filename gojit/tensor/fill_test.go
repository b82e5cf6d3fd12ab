package tensor

import "testing"

// TestRowsAreFilled copies a column that is expanded to rows, into rows that begin anywhere in a line of the cache.
func TestRowsAreFilled(t *testing.T) {
	check := func(v *Tensor, err error) *Tensor { return mustT(t, v, err) }
	numbers := make([]float64, 300)
	for i := range numbers {
		numbers[i] = float64(i % 2)
	}
	for _, d := range []DType{Bool, Int16, Float32, Int64, Complex64, Complex128} {
		column := check(check(FromSlice(numbers, 300, 1)).To(d))
		whole := check(Full([]int{300, 261}, Int(1), d))
		if err := Copy(check(whole.Slice(1, 1, 260, 1)), check(column.Expand(300, 259))); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			for j := range 261 {
				want := numbers[i]
				if j == 0 || j == 260 {
					want = 1
				}
				if got := whole.At(i, j).Float64(); got != want {
					t.Fatalf("%v: element %d, %d is %v, want %v", d, i, j, got, want)
				}
			}
		}
	}
}
