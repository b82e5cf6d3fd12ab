package pickle_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
)

// Any bytes give a value or an error.
func FuzzDecode(f *testing.F) {
	e := pickle.NewEncoder()
	e.Mark()
	e.Int(1 << 40)
	e.Float(2.5)
	e.String("text")
	e.EmptyList()
	e.Mark()
	e.Bool(true)
	e.Append()
	e.EmptyDict()
	e.Mark()
	e.String("text")
	e.None()
	e.SetItems()
	e.Global("__torch__", "M")
	e.EmptyTuple()
	e.NewObject()
	e.EmptyDict()
	e.Build()
	e.Tuple()
	f.Add(e.Finish())
	f.Add([]byte("\x80\x02ccollections\nOrderedDict\n)Rq\x00."))
	f.Add([]byte("\x80\x02((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQK\x00K\x02K\x03\x86K\x03K\x01\x86t."))
	f.Add([]byte("\x80\x02]q\x00h\x00a."))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := pickle.Decode(data); err != nil && v != nil {
			t.Errorf("a value and an error: %v, %v", v, err)
		}
	})
}
