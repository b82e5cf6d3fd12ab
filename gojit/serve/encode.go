package serve

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// answer is an answer that is ready to be written: JSON, which is written as it is made, and the elements that follow it.
type answer struct {
	head   []byte
	binary [][]byte
}

// encode makes the answer to a request from the outputs of the model.
func encode(name string, q *request, outputs []gojit.Output) (*answer, error) {
	chosen, err := q.choose(outputs)
	if err != nil {
		return nil, err
	}
	a := &answer{head: make([]byte, 0, 256)}
	a.add(`{"model_name":`)
	a.addText(name)
	a.add(`,"model_version":"1",`)
	if q.id != "" {
		a.add(`"id":`)
		a.addText(q.id)
		a.add(",")
	}
	a.add(`"outputs":[`)
	for i, c := range chosen {
		if i > 0 {
			a.add(",")
		}
		if err := a.addOutput(c); err != nil {
			return nil, err
		}
	}
	a.add("]}")
	return a, nil
}

func (a *answer) add(json string) { a.head = append(a.head, json...) }

// addText adds a text in quotes.
func (a *answer) addText(text string) {
	quoted, _ := json.Marshal(text) // a text has a form in JSON
	a.head = append(a.head, quoted...)
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

// dataTypeNames are the protocol's names of element types.
var dataTypeNames = func() map[tensor.DType]string {
	names := map[tensor.DType]string{}
	for name, dtype := range dataTypes {
		names[dtype] = name
	}
	return names
}()

// addOutput adds an output, whose elements are apart where they are binary.
func (a *answer) addOutput(c chosenOutput) error {
	if texts, ok := textsIn(c.Value); ok {
		return a.addTexts(c, texts)
	}
	t, err := tensorIn(c.Value)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "the output %q has no form in the protocol: %w", c.name, err)
	}
	dataType := dataTypeNames[t.DType()]
	if dataType == "" {
		return problemf(http.StatusUnprocessableEntity, "the output %q has elements of type %s, which the protocol does not have", c.name, t.DType())
	}
	a.describe(c.name, dataType, t.Shape())
	if c.binary {
		elements, err := t.Bytes()
		a.addBinary(elements)
		return err
	}
	a.add(`,"data":`)
	if err := a.addElements(c.name, t); err != nil {
		return err
	}
	a.add("}")
	return nil
}

// describe begins an output.
func (a *answer) describe(name, dataType string, shape []int) {
	a.add(`{"name":`)
	a.addText(name)
	a.add(`,"datatype":"` + dataType + `","shape":[`)
	for i, n := range shape {
		if i > 0 {
			a.add(",")
		}
		a.head = strconv.AppendInt(a.head, int64(n), 10)
	}
	a.add("]")
}

// addBinary ends an output whose elements follow the JSON.
func (a *answer) addBinary(elements []byte) {
	a.add(`,"parameters":{"binary_data_size":`)
	a.head = strconv.AppendInt(a.head, int64(len(elements)), 10)
	a.add("}}")
	a.binary = append(a.binary, elements)
}

// textsIn returns the texts of a text or of a list of texts.
func textsIn(v gojit.Value) ([]string, bool) {
	if v.IsTensor() {
		return nil, false
	}
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

func (a *answer) addTexts(c chosenOutput, texts []string) error {
	a.describe(c.name, "BYTES", []int{len(texts)})
	if c.binary {
		var elements []byte
		for _, text := range texts {
			elements = append(binary.LittleEndian.AppendUint32(elements, uint32(len(text))), text...)
		}
		a.addBinary(elements)
		return nil
	}
	data, err := json.Marshal(texts)
	a.add(`,"data":`)
	a.head = append(append(a.head, data...), '}')
	return err
}

// addElements adds the elements as one list.
func (a *answer) addElements(name string, t *tensor.Tensor) error {
	t, err := t.Contiguous()
	if err != nil {
		return err
	}
	if t, err = t.View(-1); err != nil {
		return err
	}
	bits := 64
	if t.DType().Size() < 8 {
		bits = 32
	}
	data := append(slices.Grow(a.head, 12*t.Numel()), '[')
	if t.DType() == tensor.Float32 {
		return a.addFloats(name, data, tensor.Data[float32](t))
	}
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
				return notInJSON(name, f)
			}
			data = strconv.AppendFloat(data, f, 'g', -1, bits)
		}
	}
	a.head = append(data, ']')
	return nil
}

// addFloats adds the elements of an output to the list that data begins.
func (a *answer) addFloats(name string, data []byte, elements []float32) error {
	for i, x := range elements {
		if i > 0 {
			data = append(data, ',')
		}
		f := float64(x)
		if f-f != 0 {
			return notInJSON(name, f)
		}
		data = strconv.AppendFloat(data, f, 'g', -1, 32)
	}
	a.head = append(data, ']')
	return nil
}

func notInJSON(name string, f float64) error {
	return problemf(http.StatusUnprocessableEntity, "the output %q has the element %g, which JSON cannot hold: ask for binary data", name, f)
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
