package pickle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
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
		"empty":     {"", "Unexpected end of pickler archive."},
		"protocol":  {"\x80\x04N.", "Only Pickle protocol 2 is supported, found protocol = 4"},
		"unknown":   {"N.", "Expected PROTO opcode at the start of pickle archive, found 78"},
		"twice":     {"\x80\x02\x80\x02N.", "opcode 0x80 is not allowed"},
		"frame":     {"\x80\x02\x95\x02\x00\x00\x00\x00\x00\x00\x00N.", "opcode 0x95 is not allowed"},
		"memoize":   {"\x80\x02N\x94.", "opcode 0x94 is not allowed"},
		"long":      {"\x80\x02\x8a\x02\x05\x00.", "Expected length to be 8, got 2"},
		"left":      {"\x80\x02NN.", "expected 1 element on the stack, but found 2"},
		"group":     {"\x80\x02(N.", "expected 1 element on the stack, but found 2"},
		"put group": {"\x80\x02(q\x00Nt.", "where a group begins"},
		"get":       {"\x80\x02h\x00.", "nothing is remembered under the number 0"},
		"call":      {"\x80\x02ccollections\nOrderedDict\n)RNb.", "state is set in what is no object"},
		"built":     {"\x80\x02c__torch__\nM\n)\x81NbNb.", "state of an object is set twice"},
		"new":       {"\x80\x02c__torch__\nM\nN\x85\x81Nb.", "a new object of __torch__.M has arguments"},
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
	if _, err := pickle.Decode([]byte("\x80\x02(" + strings.Repeat("(NN\x86t", 1000) + strings.Repeat("N", pickle.MaxTuple-1000) + "t.")); err != nil {
		t.Error(err)
	}
}
