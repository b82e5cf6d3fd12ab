package serve_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/torchjit/torchjit/gojit/serve"
)

// What the server does for a request of 512 numbers besides the network and the model.
func BenchmarkRequest(b *testing.B) {
	model := modelOf(b, "def f(x):\n    return x\n")
	s, err := serve.New(serve.Config{Models: []serve.ModelConfig{{Name: "f", Model: model}}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	head := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,512],"parameters":{"binary_data_size":2048}}],"parameters":{"binary_data_output":true}}`
	body := append([]byte(head), make([]byte, 2048)...)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/v2/models/f/infer", bytes.NewReader(body))
		r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(len(head)))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
