package decimal_test

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		f                        float64
		python, general, pointed string // six digits
	}{
		{0, "0.0", "0", "0."},
		{math.Copysign(0, -1), "-0.0", "-0", "-0."},
		{1, "1.0", "1", "1."},
		{-120, "-120.0", "-120", "-120."},
		{0.1, "0.1", "0.1", "0.1"},
		{1.0 / 3, "0.3333333333333333", "0.333333", "0.333333"},
		{0.0001, "0.0001", "0.0001", "0.0001"},
		{0.00001, "1e-05", "1e-05", "1e-05"},
		{999999, "999999.0", "999999", "999999."},
		{999999.5, "999999.5", "1e+06", "1e+06"},
		{1e15, "1000000000000000.0", "1e+15", "1e+15"},
		{1e16, "1e+16", "1e+16", "1e+16"},
		{2.5e100, "2.5e+100", "2.5e+100", "2.5e+100"},
		{math.Inf(1), "inf", "inf", "inf"},
		{math.Inf(-1), "-inf", "-inf", "-inf"},
		{math.NaN(), "nan", "nan", "nan"},
	} {
		if got := decimal.Python(c.f); got != c.python {
			t.Errorf("Python(%g) = %s, want %s", c.f, got, c.python)
		}
		if got := decimal.General(c.f, 6); got != c.general {
			t.Errorf("General(%g, 6) = %s, want %s", c.f, got, c.general)
		}
		if got := decimal.Pointed(c.f, 6); got != c.pointed {
			t.Errorf("Pointed(%g, 6) = %s, want %s", c.f, got, c.pointed)
		}
	}
	if got := decimal.General(0.1, 17); got != "0.10000000000000001" {
		t.Errorf("0.1 with 17 digits: %s", got)
	}
}
