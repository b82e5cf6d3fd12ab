package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Numbers are those that strconv reads, to the bit, however many digits and whichever exponent they have.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{
		"0", "-0", "0.0", "1e22", "1e23", "-1e-22", "1e-23", "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993e-3", "1000000000000000000", "10000000000000000000",
		"99999999999999999999", "0.1", "0.30000000000000004", "123456789012345678901234567890", "0.000000000000000000000000000001", "1e-400", "4.9e-324", "1.7976931348623157e308", "1e0000000000000000000001",
	}
	for range 2000 {
		bits := random.Uint64()
		f := math.Float64frombits(bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		words = append(words, strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(random.NormFloat64(), 'f', random.IntN(20), 64), strconv.FormatFloat(float64(float32(random.NormFloat64())), 'g', -1, 32))
	}
	for _, word := range words {
		want, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readNumber(tensor.Float64, []byte(word))
		if err != nil || math.Float64bits(got.Float64()) != math.Float64bits(want) {
			t.Errorf("%s: found %v (%v), expected %v", word, got.Float64(), err, want)
		}
	}
	for _, word := range []string{"", "-", "01", "-01", ".5", "5.", "1.e1", "1e", "1e+", "e1", "+1", "0x1", "1_0", "Inf", "nan", "1e400", "1 ", "--1", "1e99999999999999999999", "١"} {
		if got, err := readNumber(tensor.Float64, []byte(word)); err == nil {
			t.Errorf("%q was read as %v", word, got.Float64())
		}
	}
}

// A request whose lists were taken out says what it said with them in their places.
func FuzzTakeLists(f *testing.F) {
	for _, text := range []string{
		`{"inputs":[{"name":"x","data":[1,2,3]}]}`,
		`{"inputs":[{"data":[[1,2],[3,4]],"name":"a"},{"name":"b"},{"data": [ ] }],"id":"7"}`,
		`{"id":"data","inputs":[{"name":"\"data\":[1]","shape":[3],"data":[true,false]},{"data":["a"]}]}`,
		`{"outputs":[{"data":[1]}],"inputs":[{"parameters":{"data":[1]},"data":[1],"data":[2]}]}`,
		`{"inputs":[{"data":[1}]}`, `{"inputs":[{"data":[1,]}]}`, `{"inputs":[{"data":[1]]}`, `{"inputs":[[{"data":[1]}]]}`, `{"inputs":[],"inputs":[{"data":[1]}]}`, `[`, `{"inputs":[{"data":[`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rest, lists := takeLists(bytes.Clone(text))
		var want, got message
		wantErr, gotErr := json.Unmarshal(text, &want), json.Unmarshal(rest, &got)
		if (wantErr == nil) != (gotErr == nil) {
			for _, list := range lists {
				if list != nil && !json.Valid(list) {
					return // what reads its elements refuses it
				}
			}
			t.Fatalf("%q: %v with the lists, %v without", text, wantErr, gotErr)
		}
		if wantErr != nil {
			return
		}
		for i := range got.Inputs {
			if i < len(lists) && lists[i] != nil {
				got.Inputs[i].Data = lists[i]
			}
		}
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		if !bytes.Equal(w, g) {
			t.Fatalf("%q: %s with the lists, %s without", text, w, g)
		}
	})
}
