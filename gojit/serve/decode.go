package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// inferenceHeader is the header of the extension for binary tensors: how many bytes of the body are JSON. The elements follow them.
const inferenceHeader = "Inference-Header-Content-Length"

// dataTypes are the protocol's element types; BYTES, texts, has none.
var dataTypes = map[string]tensor.DType{
	"BOOL": tensor.Bool, "UINT8": tensor.Uint8, "INT8": tensor.Int8, "INT16": tensor.Int16, "INT32": tensor.Int32, "INT64": tensor.Int64,
	"FP16": tensor.Float16, "BF16": tensor.BFloat16, "FP32": tensor.Float32, "FP64": tensor.Float64,
}

// parameters are the extensions that a request, an input or an output may name.
type parameters struct {
	BinarySize   *int   `json:"binary_data_size"`
	Binary       *bool  `json:"binary_data"`
	BinaryOutput bool   `json:"binary_data_output"`
	Timeout      uint64 `json:"timeout"`
}

// message is a request in JSON.
type message struct {
	ID         string     `json:"id"`
	Parameters parameters `json:"parameters"`
	Inputs     []struct {
		Name       string          `json:"name"`
		DataType   string          `json:"datatype"`
		Shape      []int           `json:"shape"`
		Parameters parameters      `json:"parameters"`
		Data       json.RawMessage `json:"data"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	} `json:"outputs"`
}

// request is a request that has been read.
type request struct {
	id      string
	timeout time.Duration
	inputs  []gojit.Keyword
	wanted  []wanted // empty: all
	binary  bool     // outputs are binary unless they say otherwise
}

// wanted is an output that a request names.
type wanted struct {
	name   string
	binary bool
}

// messages has requests in JSON, without their lists of numbers, that were read: a client asks for the same again and again. They are not written to.
type messages struct {
	mutex sync.RWMutex
	known map[string]*message
}

// Bounds of what is kept: a longer text, or one more than so many, is not.
const (
	longestMessage = 2 << 10
	mostMessages   = 256
)

// of reads a message.
func (k *messages) of(text []byte) (*message, error) {
	k.mutex.RLock()
	m := k.known[string(text)]
	k.mutex.RUnlock()
	if m != nil {
		return m, nil
	}
	m = &message{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	if len(text) <= longestMessage && m.ID == "" {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		if k.known == nil || len(k.known) == mostMessages {
			k.known = map[string]*message{}
		}
		k.known[string(text)] = m
	}
	return m, nil
}

// expected are the forms that values of a message have in JSON, by their kinds in Go.
var expected = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "true or false",
	reflect.Int: "a whole number", reflect.Uint64: "a whole number, not below 0",
}

// readable returns an error of encoding/json without Go's names.
func readable(err error) error {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) || expected[e.Type.Kind()] == "" {
		return err
	}
	if e.Field == "" {
		return fmt.Errorf("found the JSON %s, expected %s", e.Value, expected[e.Type.Kind()])
	}
	return fmt.Errorf("%s: found the JSON %s, expected %s", e.Field, e.Value, expected[e.Type.Kind()])
}

// bodies has buffers for bodies of requests, of which nothing is kept: tensors and texts are copies.
var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// keptBody is the size of the largest buffer that is used again.
const keptBody = 1 << 20

// decode reads a request for a model.
func (s *Server) decode(w http.ResponseWriter, r *http.Request, l *loaded) (*request, error) {
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= keptBody {
			bodies.Put(buffer)
		}
	}()
	body, err := s.body(w, r, buffer)
	if err != nil {
		return nil, err
	}
	head, elements := body, []byte(nil)
	if text := r.Header.Get(inferenceHeader); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > len(body) {
			return nil, badRequest("the header %s is %q: expected a number of bytes, at most the %d of the body", inferenceHeader, text, len(body))
		}
		head, elements = body[:n], body[n:]
	}
	rest, lists := takeLists(head)
	m, err := s.known.of(rest)
	if err != nil {
		return nil, badRequest("the request is no JSON of the protocol: %w", readable(err))
	}
	q := &request{id: m.ID, binary: m.Parameters.BinaryOutput, timeout: timeoutOf(m.Parameters.Timeout)}
	for i := range m.Inputs {
		in := &m.Inputs[i]
		data := []byte(in.Data)
		if i < len(lists) && lists[i] != nil {
			data = lists[i]
		}
		var v any
		switch size := in.Parameters.BinarySize; {
		case size == nil && data == nil:
			err = badRequest("there are no elements: expected data, or the parameter binary_data_size")
		case size == nil:
			v, err = fromJSON(in.DataType, in.Shape, data)
		case *size < 0 || *size > len(elements):
			err = badRequest("binary_data_size is %d, and %d bytes are left in the body", *size, len(elements))
		default:
			v, err = fromBinary(in.DataType, in.Shape, elements[:*size])
			elements = elements[*size:]
		}
		if err != nil {
			return nil, badRequest("the input %q: %w", in.Name, err)
		}
		if err := q.add(l.signature, in.Name, v); err != nil {
			return nil, err
		}
	}
	if len(elements) > 0 {
		return nil, badRequest("%d bytes of the body belong to no input", len(elements))
	}
	for _, o := range m.Outputs {
		binary := q.binary
		if o.Parameters.Binary != nil {
			binary = *o.Parameters.Binary
		}
		q.wanted = append(q.wanted, wanted{o.Name, binary})
	}
	return q, nil
}

// timeoutOf converts a number of microseconds, at most a day.
func timeoutOf(microseconds uint64) time.Duration {
	return time.Duration(min(microseconds, uint64(24*time.Hour/time.Microsecond))) * time.Microsecond
}

// body reads the body of a request, unpacked and bounded, into a buffer.
func (s *Server) body(w http.ResponseWriter, r *http.Request, b *bytes.Buffer) ([]byte, error) {
	b.Reset()
	limited := http.MaxBytesReader(w, r.Body, s.config.MaxBody)
	var reader io.Reader = limited
	var err error
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		reader, err = gzip.NewReader(limited)
	case "deflate":
		reader, err = zlib.NewReader(limited)
	default:
		return nil, problemf(http.StatusUnsupportedMediaType, "Content-Encoding: found %q, expected gzip, deflate or identity", encoding)
	}
	if err != nil {
		return nil, badRequest("the body is not packed as it says: %w", err)
	}
	if n := r.ContentLength; n > 0 && n <= s.config.MaxBody {
		b.Grow(int(n) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(reader, s.config.MaxBody+1)); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, s.tooLarge()
		}
		return nil, badRequest("the body cannot be read: %w", err)
	}
	if int64(b.Len()) > s.config.MaxBody {
		return nil, s.tooLarge()
	}
	return b.Bytes(), nil
}

func (s *Server) tooLarge() error {
	return problemf(http.StatusRequestEntityTooLarge, "the body has more than the %d bytes that a request may have", s.config.MaxBody)
}

// add gives an input to the parameter of its name, or, as INPUT__0 and so on, of its place.
func (q *request) add(s gojit.Signature, name string, v any) error {
	at := slices.IndexFunc(s.Parameters, func(p gojit.Parameter) bool { return p.Name == name })
	if number, ok := strings.CutPrefix(name, "INPUT__"); at < 0 && ok {
		if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(s.Parameters) {
			at = n
		}
	}
	if at < 0 {
		return badRequest("the model has no input %q: its method takes %s", name, s)
	}
	p := s.Parameters[at]
	for _, in := range q.inputs {
		if in.Name == p.Name {
			return badRequest("the input %q is given twice", p.Name)
		}
	}
	v, err := suit(v, p.Type)
	if err != nil {
		return badRequest("the input %q: %w", name, err)
	}
	q.inputs = append(q.inputs, gojit.Keyword{Name: p.Name, Value: v})
	return nil
}

// suit makes numbers and texts of what is given for parameters that are no tensors.
func suit(v any, annotation string) (any, error) {
	plain := strings.TrimSuffix(strings.TrimPrefix(annotation, "Optional["), "]")
	switch v := v.(type) {
	case *tensor.Tensor:
		given, err := gojit.ValueOf(v)
		if err != nil {
			return nil, err
		}
		switch plain {
		case "int":
			return gojit.As[int64](given)
		case "float":
			return gojit.As[float64](given)
		case "bool":
			return gojit.As[bool](given)
		case "List[int":
			return gojit.As[[]int64](given)
		case "List[float":
			return gojit.As[[]float64](given)
		case "List[bool":
			return gojit.As[[]bool](given)
		}
	case []string:
		switch {
		case plain == "str" && len(v) == 1:
			return v[0], nil
		case plain == "List[str":
			return v, nil
		}
	}
	return v, nil
}

// fromJSON makes a tensor, or texts, of elements in JSON: a list of all, or lists nested as the shape says.
func fromJSON(dataType string, shape []int, data json.RawMessage) (any, error) {
	count, err := countOf(shape)
	if err != nil {
		return nil, err
	}
	if dataType == "BYTES" {
		var texts []string
		if err := json.Unmarshal(data, &texts); err != nil {
			return nil, fmt.Errorf("the elements are no list of texts: %w", err)
		}
		if len(texts) != count {
			return nil, fmt.Errorf("%d elements for the shape %v, which has %d", len(texts), shape, count)
		}
		return texts, nil
	}
	dtype, err := elementTypeOf(dataType)
	if err != nil {
		return nil, err
	}
	if count > len(data) { // a number takes a byte at least: no memory is taken for less
		return nil, fmt.Errorf("%d bytes of JSON hold no %d elements, which the shape %v has", len(data), count, shape)
	}
	t, err := tensor.Empty(shape, dtype)
	if err != nil {
		return nil, err
	}
	return t, readElements(t, count, data)
}

// countOf returns the number of elements of a shape.
func countOf(shape []int) (int, error) {
	if len(shape) > 64 {
		return 0, fmt.Errorf("the shape has %d dimensions: expected 64 at most", len(shape))
	}
	count, err := tensor.Numel(shape)
	if err != nil {
		return 0, fmt.Errorf("the shape %v: %w", shape, err)
	}
	return count, nil
}

func elementTypeOf(dataType string) (tensor.DType, error) {
	dtype, ok := dataTypes[dataType]
	if !ok {
		return 0, fmt.Errorf("the datatype is %q: expected BOOL, UINT8, INT8, INT16, INT32, INT64, FP16, BF16, FP32, FP64 or BYTES", dataType)
	}
	return dtype, nil
}

// fromBinary makes a tensor, or texts, of elements as they lie in memory; each text has its length before it, in four bytes.
func fromBinary(dataType string, shape []int, data []byte) (any, error) {
	count, err := countOf(shape)
	if err != nil {
		return nil, err
	}
	if dataType == "BYTES" {
		return textsOf(data, count)
	}
	dtype, err := elementTypeOf(dataType)
	if err != nil {
		return nil, err
	}
	if want := count * dtype.Size(); want != len(data) {
		return nil, fmt.Errorf("%d bytes for the shape %v of %s, which has %d", len(data), shape, dataType, want)
	}
	return tensor.FromBytes(data, shape, dtype)
}

func textsOf(data []byte, count int) ([]string, error) {
	texts := []string{}
	for len(data) > 0 {
		if len(data) < 4 {
			return nil, errors.New("the length of a text is cut off")
		}
		n := int(binary.LittleEndian.Uint32(data))
		if data = data[4:]; n > len(data) {
			return nil, fmt.Errorf("a text of %d bytes is cut off behind %d", n, len(data))
		}
		texts, data = append(texts, string(data[:n])), data[n:]
	}
	if len(texts) != count {
		return nil, fmt.Errorf("%d texts, expected %d", len(texts), count)
	}
	return texts, nil
}
