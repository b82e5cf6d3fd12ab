package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/npy"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// inputHelp says what an input on the command line may be.
const inputHelp = `An input is
  x.npy, x.npz, x.json   a file; an .npz gives each array to the parameter of its name, or in order (arr_0 and so on);
                         a .json with an object gives each item to the parameter of its name
  -                      the same from the standard input, whichever it is
  2x3, ones:2x3          a tensor of ones; zeros:2x3, rand:2x3 (uniform), randn:2x3 (normal)
  3, true, "text", [1,2] JSON
and with NAME= before it for the parameter of that name.`

// call is what a model is called with.
type call struct {
	file    string
	method  string
	inputs  []string
	seed    int64
	dtype   string
	threads int
}

// flags adds the options of a call to a verb.
func (c *call) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.method, "method", "m", "forward", "the method to call")
	f.StringArrayVarP(&c.inputs, "input", "i", nil, "an input, as the arguments behind the model")
	f.Int64Var(&c.seed, "seed", 0, "where random numbers begin: those of rand: and randn:, and those of the model")
	f.StringVar(&c.dtype, "dtype", "", "convert inputs of floating-point numbers to this type, such as float16")
	f.IntVar(&c.threads, "threads", 0, "threads of each operation (0: as many as there are processors)")
	cmd.Long += "\n\n" + inputHelp
}

// open loads the model and reads its inputs.
func (c *call) open(s *Session, args []string) (gojit.Model, []any, error) {
	if c.threads < 0 {
		return nil, nil, usagef("--threads %d: expected no less than 0", c.threads)
	}
	c.file = args[0]
	model, err := s.openModel(c.file)
	if err != nil {
		return nil, nil, named(c.file, err)
	}
	signature, err := model.Signature(c.method)
	if err != nil {
		return nil, nil, err
	}
	rng.Default().Seed(uint64(c.seed))
	inputs, err := c.read(s, signature, append(slices.Clone(args[1:]), c.inputs...))
	if err != nil {
		return nil, nil, err
	}
	return model, append(inputs, gojit.WithThreads(c.threads)), nil
}

// named puts the file before the message of an error that does not name it.
func named(file string, err error) error {
	if strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// read reads the inputs of a call.
func (c *call) read(s *Session, signature gojit.Signature, texts []string) ([]any, error) {
	var inputs []any
	for _, text := range texts {
		name, rest := "", text
		if before, after, ok := strings.Cut(text, "="); ok && isParameter(signature, before) {
			name, rest = before, after
		}
		read, err := readInput(s, signature, rest, name != "")
		if err != nil {
			return nil, err
		}
		for _, x := range read {
			if t, ok := x.Value.(*tensor.Tensor); ok {
				if x.Value, err = c.convert(t); err != nil {
					return nil, err
				}
			}
			switch {
			case name != "":
				inputs = append(inputs, gojit.Keyword{Name: name, Value: x.Value})
			case x.Name != "":
				inputs = append(inputs, x)
			default:
				inputs = append(inputs, x.Value)
			}
		}
	}
	return inputs, nil
}

func isParameter(s gojit.Signature, name string) bool {
	return slices.ContainsFunc(s.Parameters, func(p gojit.Parameter) bool { return p.Name == name })
}

func isIdentifier(name string) bool {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name)
}

// convert gives a tensor of floating-point numbers the type that was asked for.
func (c *call) convert(t *tensor.Tensor) (*tensor.Tensor, error) {
	if c.dtype == "" || !t.DType().IsFloating() {
		return t, nil
	}
	dtype, ok := tensor.ParseDType(c.dtype)
	if !ok || !dtype.IsFloating() {
		return nil, usagef("--dtype %s: expected a type of floating-point numbers, such as float32", c.dtype)
	}
	return t.To(dtype)
}

// readInput reads what one input stands for. Where it is for one parameter, that is one value without a name.
func readInput(s *Session, signature gojit.Signature, text string, isOne bool) ([]gojit.Keyword, error) {
	if text == "-" {
		data, err := io.ReadAll(s.In)
		if err != nil {
			return nil, fmt.Errorf("the standard input: %w", err)
		}
		return readData(signature, "the standard input", data, isOne)
	}
	if t, err := made(text); t != nil || err != nil {
		return []gojit.Keyword{{Value: t}}, err
	}
	if strings.HasSuffix(text, ".npy") || strings.HasSuffix(text, ".npz") || strings.HasSuffix(text, ".json") {
		data, err := s.readFile(text)
		if err != nil {
			return nil, err
		}
		return readData(signature, text, data, isOne)
	}
	if !json.Valid([]byte(text)) {
		if name, _, ok := strings.Cut(text, "="); ok && isIdentifier(name) {
			return nil, usagef("the input %q is for the parameter %q, which there is not: the method takes %s", text, name, signature)
		}
		return nil, usagef("the input %q is neither a file (.npy, .npz, .json), nor a shape such as 2x3, nor JSON", text)
	}
	return []gojit.Keyword{{Value: json.RawMessage(text)}}, nil
}

// made makes a tensor of a description such as randn:2x3, nil where the text is none.
func made(text string) (*tensor.Tensor, error) {
	kind, sizes, ok := strings.Cut(text, ":")
	if !ok {
		kind, sizes = "ones", text
		if !strings.Contains(text, "x") {
			return nil, nil
		}
	}
	if !slices.Contains(makers, kind) {
		return nil, nil
	}
	shape, err := parseShape(sizes)
	if err != nil {
		if ok || strings.Trim(text, "0123456789x") == "" {
			return nil, err
		}
		return nil, nil
	}
	// By the operator itself, whose random numbers are those that torch.manual_seed gives.
	gojit.LinkOperators()
	args, out := make([]value.Value, 5), make([]value.Value, 1)
	args[0] = shape
	if err := (&autograd.Mode{}).Run(ops.Find("aten::"+kind), args, out); err != nil {
		return nil, usagef("the input %s cannot be made: %w", text, err)
	}
	return out[0].Tensor(), nil
}

// makers are the operators that make tensors of a shape.
var makers = []string{"ones", "zeros", "rand", "randn"}

// parseShape reads "2x3" as a list of sizes; "" is the shape of a number.
func parseShape(text string) (value.Value, error) {
	shape := value.NewList(types.Int)
	if text == "" {
		return value.OfList(shape), nil
	}
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return value.None, usagef("%q is no shape: expected sizes joined by x, as in 2x3", text)
		}
		shape.Items = append(shape.Items, value.Int(int64(n)))
	}
	return value.OfList(shape), nil
}

// readData reads a file by what it begins with.
func readData(signature gojit.Signature, name string, data []byte, isOne bool) ([]gojit.Keyword, error) {
	fail := func(err error) ([]gojit.Keyword, error) {
		return nil, &errs.FileError{Path: name, Err: fmt.Errorf("%s: %w", name, err)}
	}
	switch {
	case npy.IsNPY(data):
		t, err := npy.Read(data)
		if err != nil {
			return fail(err)
		}
		return []gojit.Keyword{{Value: t}}, nil
	case npy.IsNPZ(data):
		arrays, err := npy.ReadArchive(data)
		if err != nil {
			return fail(err)
		}
		if isOne && len(arrays) != 1 {
			return nil, usagef("%s has %d arrays: expected one for one parameter", name, len(arrays))
		}
		return keywordsOf(signature, arrays, isOne)
	}
	var text json.RawMessage
	if err := json.Unmarshal(data, &text); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			err = fmt.Errorf("at byte %d: %w", syntax.Offset, err)
		}
		return fail(fmt.Errorf("the data is none of npy, npz and JSON (as JSON, %w)", err))
	}
	var items map[string]json.RawMessage
	if trimmed := bytes.TrimSpace(data); !isOne && trimmed[0] == '{' && json.Unmarshal(data, &items) == nil && items["dtype"] == nil {
		var keywords []gojit.Keyword
		for key, item := range items {
			keywords = append(keywords, gojit.Keyword{Name: key, Value: item})
		}
		slices.SortFunc(keywords, func(a, b gojit.Keyword) int { return strings.Compare(a.Name, b.Name) })
		return keywords, nil
	}
	return []gojit.Keyword{{Value: json.RawMessage(data)}}, nil
}

// keywordsOf gives arrays to the parameters of their names; those that NumPy has numbered have none.
func keywordsOf(signature gojit.Signature, arrays []npy.Array, isOne bool) ([]gojit.Keyword, error) {
	keywords := make([]gojit.Keyword, len(arrays))
	for i, a := range arrays {
		keywords[i].Value = a.Tensor
		if isNumbered := strings.HasPrefix(a.Name, "arr_"); !isOne && (!isNumbered || isParameter(signature, a.Name)) {
			keywords[i].Name = a.Name
		}
	}
	return keywords, nil
}
