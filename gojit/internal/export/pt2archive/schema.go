package pt2archive

import (
	"encoding/json"
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The records of an archive. NAME is that of a model.
const (
	formatRecord     = "archive_format"
	modelFolder      = "models/"
	modelEnd         = ".json"
	weightFolder     = "data/weights/"
	constantFolder   = "data/constants/"
	weightsConfig    = "_weights_config.json"
	constantsConfig  = "_constants_config.json"
	exampleFolder    = "data/sample_inputs/"
	exampleEnd       = ".pt"
	extraFolder      = "extra/"
	defaultModelName = "model"
)

// exportedProgram is what the record of a model holds.
type exportedProgram struct {
	Module       graphModule         `json:"graph_module"`
	Opsets       map[string]int      `json:"opset_version"`
	Ranges       map[string]interval `json:"range_constraints"`
	Schema       schemaVersion       `json:"schema_version"`
	Verifiers    []string            `json:"verifiers"`
	TorchVersion string              `json:"torch_version"`
	Guards       []string            `json:"guards_code"`
}

type schemaVersion struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
}

// interval is the range of a symbol; an end that is nil is open.
type interval struct {
	Min *int `json:"min_val"`
	Max *int `json:"max_val"`
}

type graphModule struct {
	Graph       *graph                `json:"graph"`
	Signature   signature             `json:"signature"`
	Calls       []moduleCall          `json:"module_call_graph"`
	Metadata    map[string]string     `json:"metadata"`
	NamedTuples map[string]namedTuple `json:"treespec_namedtuple_fields"` // by the names of their classes
}

type signature struct {
	Inputs  []union `json:"input_specs"`
	Outputs []union `json:"output_specs"`
}

// moduleCall describes the containers of a module's call. The first one is that of the whole program.
type moduleCall struct {
	Path      string         `json:"fqn"`
	Signature *callSignature `json:"signature"`
}

type callSignature struct {
	Inputs  []union  `json:"inputs"`
	Outputs []union  `json:"outputs"`
	InSpec  string   `json:"in_spec"`
	OutSpec string   `json:"out_spec"`
	Names   []string `json:"forward_arg_names"`
}

type namedTuple struct {
	Fields []string `json:"field_names"`
}

type graph struct {
	Inputs  []union               `json:"inputs"`
	Outputs []union               `json:"outputs"`
	Nodes   []node                `json:"nodes"`
	Tensors map[string]tensorMeta `json:"tensor_values"`
	Ints    map[string]union      `json:"sym_int_values"`
	Bools   map[string]union      `json:"sym_bool_values"`
	Floats  map[string]union      `json:"sym_float_values"`
	Objects map[string]union      `json:"custom_obj_values"`
	// SingleReturn says that the graph gives a tensor, not a tuple of one.
	SingleReturn bool `json:"is_single_tensor_return"`
}

// node is a call. What it gives are its outputs: a list of tensors is one of them.
type node struct {
	Target   string            `json:"target"`
	Inputs   []namedArgument   `json:"inputs"`
	Outputs  []union           `json:"outputs"`
	Metadata map[string]string `json:"metadata"`
	// SingleReturn says of a higher-order operator whether it gives a tensor, not a tuple of one.
	SingleReturn *bool  `json:"is_hop_single_tensor_return"`
	Name         string `json:"name"`
}

type namedArgument struct {
	Name     string `json:"name"`
	Argument union  `json:"arg"`
	Kind     int    `json:"kind"`
}

// The kinds of arguments: those that are given by their places, as any of another kind is, and by their names.
const (
	byPlace = 1
	byName  = 2
)

// graphArgument is the content of an argument that is a graph.
type graphArgument struct {
	Name  string `json:"name"`
	Graph *graph `json:"graph"`
}

// named is the content of an argument that is a value of the graph.
type named struct {
	Name string `json:"name"`
}

type tensorMeta struct {
	DType        int     `json:"dtype"`
	Sizes        []union `json:"sizes"`
	RequiresGrad bool    `json:"requires_grad"`
	Device       device  `json:"device"`
	Strides      []union `json:"strides"`
	Offset       union   `json:"storage_offset"`
	Layout       int     `json:"layout"`
}

// symExpr is a number that depends on symbols: a text of sympy, and what it was when the program was captured.
type symExpr struct {
	Text string `json:"expr_str"`
	Hint *union `json:"hint"`
}

type device struct {
	Type  string `json:"type"`
	Index *int   `json:"index"`
}

func (d device) String() string {
	if d.Index == nil {
		return d.Type
	}
	return fmt.Sprintf("%s:%d", d.Type, *d.Index)
}

// payload says where the bytes of tensors are, by the paths of the tensors.
type payload struct {
	Config map[string]payloadEntry `json:"config"`
}

type payloadEntry struct {
	Record      string      `json:"path_name"`
	IsParameter bool        `json:"is_param"`
	UsePickle   bool        `json:"use_pickle"`
	Meta        *tensorMeta `json:"tensor_meta"`
}

// union is a value of one of several kinds: an object with one member, whose name is the kind.
type union struct {
	kind    string
	content json.RawMessage
}

// UnmarshalJSON reads an object with one member.
func (u *union) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if len(members) != 1 {
		return fmt.Errorf("an object has %d members, where the name of its one member says what it is", len(members))
	}
	for u.kind, u.content = range members {
	}
	return nil
}

// MarshalJSON writes an object with one member.
func (u union) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]json.RawMessage{u.kind: u.content})
}

// read reads the content as what the kind says that it is.
func (u union) read(content any) error {
	if u.kind == "" {
		return exportir.Violation("a value is missing")
	}
	if err := json.Unmarshal(u.content, content); err != nil {
		return exportir.Violation("a value of the kind %s cannot be read: %s", u.kind, err)
	}
	return nil
}

// dtypes are the element types by the numbers that archives have for them, also those that there are not here.
var dtypes = map[int]string{
	1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 9: "complex32", 10: "complex64",
	11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn", 30: "float8_e5m2", 31: "float8_e4m3fnuz",
	32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
}

var layouts = map[int]string{
	1: "sparse_coo", 2: "sparse_csr", 3: "sparse_csc", 4: "sparse_bsr", 5: "sparse_bsc", 6: "_mkldnn", 7: "strided",
}

// stridedLayout is the layout of tensors that are not sparse.
const stridedLayout = 7

var memoryFormats = map[int]string{1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}

// dtypeOf returns the element type of a number.
func dtypeOf(number int) (tensor.DType, error) {
	d, known := tensor.ParseDType(dtypes[number])
	switch {
	case dtypes[number] == "":
		return d, exportir.Violation("the number %d stands for no element type that is known here", number)
	case !known:
		return d, exportir.Violation("there is no element type %s here", dtypes[number])
	}
	return d, nil
}

// nameOf returns what a number stands for in a table.
func nameOf(table map[int]string, what string, number int) (string, error) {
	if table[number] == "" {
		return "", exportir.Violation("the number %d stands for no %s that is known here", number, what)
	}
	return table[number], nil
}
