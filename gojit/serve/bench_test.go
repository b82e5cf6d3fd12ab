package serve_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/torchjit/torchjit/gojit/serve"
)

// What the server does for a request of 512 numbers besides the network and the model: as they lie in memory, and in JSON.
func BenchmarkRequest(b *testing.B) {
	head := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,512],"parameters":{"binary_data_size":2048}}],"parameters":{"binary_data_output":true}}`
	numbers := make([]float32, 512)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range numbers {
		numbers[i] = float32(random.NormFloat64())
	}
	list, err := json.Marshal(numbers)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("binary", func(b *testing.B) { benchmarkRequest(b, append([]byte(head), make([]byte, 2048)...), len(head)) })
	b.Run("JSON", func(b *testing.B) {
		body := append(append([]byte(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,512],"data":`), list...), "}]}"...)
		benchmarkRequest(b, body, len(body))
	})
}

func benchmarkRequest(b *testing.B, body []byte, head int) {
	model := modelOf(b, "def f(x):\n    return x\n")
	s, err := serve.New(serve.Config{Models: []serve.ModelConfig{{Name: "f", Model: model}}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/v2/models/f/infer", bytes.NewReader(body))
		r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(head))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
