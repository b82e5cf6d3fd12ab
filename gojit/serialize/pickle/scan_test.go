package pickle_test

import (
	"strings"
	"testing"
	"time"

	"torchjit/gojit/serialize/pickle"
)

// What has more than the limits is refused before anything is made of it, and so is what follows the end.
func TestPicklesOutsideOfTheLimits(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"values":    {"\x80\x02](" + strings.Repeat("]", pickle.MaxValues) + "e.", "more than 16777216 values"},
		"tuple":     {"\x80\x02(" + strings.Repeat("N", pickle.MaxTuple+1) + "t.", "a tuple of 262145 values"},
		"inner":     {"\x80\x02((NN)](" + strings.Repeat("N", 300000) + "e" + strings.Repeat("K\x01", pickle.MaxTuple) + "tt.", "a tuple of 262148 values"},
		"behind":    {"\x80\x02N.N", "1 bytes follow its stop"},
		"no stop":   {"\x80\x02N", "ends before its stop"},
		"no opcode": {"\x80\x02\xff.", "opcode 0xff is not allowed"},
		"length":    {"\x80\x02X\xff\xff\xff\xff.", "a string of 4294967295 bytes is announced"},
	} {
		start := time.Now()
		_, err := pickle.Decode([]byte(test.data))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: refused after %s", name, took)
		}
	}
	if _, err := pickle.Decode([]byte("\x80\x02(" + strings.Repeat("(NN00t0", 1000) + strings.Repeat("N", pickle.MaxTuple) + "t.")); err != nil {
		t.Error(err)
	}
}
