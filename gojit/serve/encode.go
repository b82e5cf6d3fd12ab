package serve

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// answer is an answer that is ready to be written.
type answer struct {
	head   []byte
	binary [][]byte
}

// output is an output in JSON.
type output struct {
	Name       string          `json:"name"`
	DataType   string          `json:"datatype"`
	Shape      []int           `json:"shape"`
	Parameters map[string]int  `json:"parameters,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// encode makes the answer to a request from the outputs of the model.
func encode(name string, q *request, outputs []gojit.Output) (*answer, error) {
	chosen, err := q.choose(outputs)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	list := make([]*output, len(chosen))
	for i, c := range chosen {
		o, elements, err := encodeOutput(c.name, c.Value, c.binary)
		if err != nil {
			return nil, err
		}
		list[i] = o
		if c.binary {
			a.binary = append(a.binary, elements)
		}
	}
	body := map[string]any{"model_name": name, "model_version": "1", "outputs": list}
	if q.id != "" {
		body["id"] = q.id
	}
	a.head, err = json.Marshal(body)
	return a, err
}

// chosenOutput is an output with the name that the request has for it.
type chosenOutput struct {
	gojit.Output
	name   string
	binary bool
}

// choose returns the outputs that the request names, by their names or, as OUTPUT__0 and so on, by their places.
func (q *request) choose(outputs []gojit.Output) ([]chosenOutput, error) {
	var chosen []chosenOutput
	if len(q.wanted) == 0 {
		for _, o := range outputs {
			chosen = append(chosen, chosenOutput{o, o.Name, q.binary})
		}
		return chosen, nil
	}
	for _, w := range q.wanted {
		at := -1
		for i, o := range outputs {
			if o.Name == w.name {
				at = i
			}
		}
		if number, ok := strings.CutPrefix(w.name, "OUTPUT__"); at < 0 && ok {
			if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(outputs) {
				at = n
			}
		}
		if at < 0 {
			var names []string
			for _, o := range outputs {
				names = append(names, o.Name)
			}
			return nil, badRequest("the model has no output %q: it gives %s", w.name, strings.Join(names, ", "))
		}
		chosen = append(chosen, chosenOutput{outputs[at], w.name, w.binary})
	}
	return chosen, nil
}

// encodeOutput returns an output, with its elements apart where they are binary.
func encodeOutput(name string, v gojit.Value, isBinary bool) (*output, []byte, error) {
	if texts, ok := textsIn(v); ok {
		return encodeTexts(name, texts, isBinary)
	}
	t, err := tensorIn(v)
	if err != nil {
		return nil, nil, problemf(http.StatusUnprocessableEntity, "the output %q has no form in the protocol: %w", name, err)
	}
	dataType := ""
	for d, dtype := range dataTypes {
		if dtype == t.DType() {
			dataType = d
		}
	}
	if dataType == "" {
		return nil, nil, problemf(http.StatusUnprocessableEntity, "the output %q has elements of type %s, which the protocol does not have", name, t.DType())
	}
	o := &output{Name: name, DataType: dataType, Shape: append([]int{}, t.Shape()...)}
	if isBinary {
		elements, err := t.Bytes()
		o.Parameters = map[string]int{"binary_data_size": len(elements)}
		return o, elements, err
	}
	o.Data, err = dataOf(name, t)
	return o, nil, err
}

// textsIn returns the texts of a text or of a list of texts.
func textsIn(v gojit.Value) ([]string, bool) {
	if text, err := gojit.As[string](v); err == nil {
		return []string{text}, true
	}
	texts, err := gojit.As[[]string](v)
	return texts, err == nil && len(texts) > 0
}

// tensorIn returns the tensor that a value is, without quantization, or that holds its numbers, of which a single one is a vector here.
func tensorIn(v gojit.Value) (*tensor.Tensor, error) {
	t, err := gojit.AsTensor(v)
	switch {
	case err != nil:
		return nil, err
	case t.DType().IsQuantized():
		return tensor.Dequantize(t)
	case !v.IsTensor() && t.Dim() == 0:
		return t.Unsqueeze(0)
	}
	return t, nil
}

func encodeTexts(name string, texts []string, isBinary bool) (*output, []byte, error) {
	o := &output{Name: name, DataType: "BYTES", Shape: []int{len(texts)}}
	if !isBinary {
		data, err := json.Marshal(texts)
		o.Data = data
		return o, nil, err
	}
	var elements []byte
	for _, text := range texts {
		elements = append(binary.LittleEndian.AppendUint32(elements, uint32(len(text))), text...)
	}
	o.Parameters = map[string]int{"binary_data_size": len(elements)}
	return o, elements, nil
}

// dataOf writes the elements as one list.
func dataOf(name string, t *tensor.Tensor) (json.RawMessage, error) {
	t, err := t.Contiguous()
	if err != nil {
		return nil, err
	}
	if t, err = t.View(-1); err != nil {
		return nil, err
	}
	bits := 64
	if t.DType().Size() < 8 {
		bits = 32
	}
	data := []byte{'['}
	for i := range t.Numel() {
		if i > 0 {
			data = append(data, ',')
		}
		switch s := t.At(i); s.Kind {
		case tensor.BoolScalar:
			data = strconv.AppendBool(data, s.Bool())
		case tensor.IntScalar:
			data = strconv.AppendInt(data, s.Int64(), 10)
		default:
			f := s.Float64()
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, problemf(http.StatusUnprocessableEntity, "the output %q has the element %g, which JSON cannot hold: ask for binary data", name, f)
			}
			data = strconv.AppendFloat(data, f, 'g', -1, bits)
		}
	}
	return append(data, ']'), nil
}

// write writes the answer.
func (a *answer) write(w http.ResponseWriter) {
	length := len(a.head)
	w.Header().Set("Content-Type", "application/json")
	if len(a.binary) > 0 {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set(inferenceHeader, strconv.Itoa(len(a.head)))
		for _, b := range a.binary {
			length += len(b)
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(a.head) // the caller may have gone
	for _, b := range a.binary {
		_, _ = w.Write(b)
	}
}
