package pt2archive

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// tensorsKind is the kind of an argument, or of what a call gives, that is a list of tensors.
const tensorsKind = "as_tensors"

// lists are the kinds of lists, with the kind of their items: "" where each item says its own.
var lists = map[string]string{
	"as_ints": "as_int", "as_floats": "as_float", "as_bools": "as_bool", "as_strings": "as_string", tensorsKind: "as_tensor",
	"as_int_lists": "as_ints", "as_float_lists": "as_floats", "as_nested_tensors": tensorsKind,
	"as_sym_ints": "", "as_sym_bools": "", "as_sym_floats": "", "as_optional_tensors": "",
}

// argument reads an argument of a call.
func (s *scope) argument(u union) exportir.Argument {
	switch u.kind {
	case "as_tensor", "as_name":
		name := valueName(u)
		if other, ok := s.renamed[name]; ok {
			return other
		}
		return exportir.Ref(name)
	case "as_sym_int", "as_sym_bool", "as_sym_float", "as_optional_tensor": // a value of the graph, or a constant
		return s.argument(read[union](u))
	case "as_graph":
		return s.graphArgument(read[graphArgument](u))
	}
	if of, isList := lists[u.kind]; isList {
		items := []exportir.Argument{}
		for _, item := range itemsOf(u, of) {
			items = append(items, s.argument(item))
		}
		return exportir.OfList(items)
	}
	return plain(u)
}

// itemsOf are the items of a list, each of that kind, or of the kind that it says where that is "".
func itemsOf(u union, kind string) []union {
	if kind == "" {
		return read[[]union](u)
	}
	var items []union
	for _, content := range read[[]json.RawMessage](u) {
		items = append(items, union{kind, content})
	}
	return items
}

// graphArgument reads a graph that a control flow operator runs, which a node names.
func (s *scope) graphArgument(g graphArgument) exportir.Argument {
	s.to.Graphs = append(s.to.Graphs, exportir.Subgraph{Name: g.Name, Graph: s.subgraph(g)})
	s.add(&exportir.Node{Op: exportir.GetAttr, Name: g.Name, Target: g.Name})
	return exportir.Ref(g.Name)
}

func (s *scope) subgraph(g graphArgument) *exportir.Graph {
	if g.Graph == nil {
		source.Throw(exportir.Violation("the graph %q is missing", g.Name))
	}
	names := make([]string, len(g.Graph.Inputs))
	for i, in := range g.Graph.Inputs {
		names[i] = valueName(in)
	}
	return s.graph(g.Graph, names, s.depth+1)
}

// valueName is the name of the value of the graph that an argument is, "" where it is a constant.
func valueName(u union) string {
	switch u.kind {
	case "as_tensor":
		return read[named](u).Name
	case "as_name":
		return read[string](u)
	case "as_sym_int", "as_sym_bool", "as_sym_float", "as_optional_tensor":
		return valueName(read[union](u))
	}
	return ""
}

// plain reads an argument that is a constant.
func plain(u union) exportir.Argument {
	text := func(kind exportir.ArgumentKind, text string) exportir.Argument {
		return exportir.Argument{Kind: kind, Text: text}
	}
	switch u.kind {
	case "as_none":
		return exportir.None
	case "as_int":
		return exportir.OfInt(read[int64](u))
	case "as_bool":
		return exportir.OfBool(read[bool](u))
	case "as_float":
		return exportir.Argument{Kind: exportir.FloatArgument, Float: float64(read[float](u))}
	case "as_complex":
		parts := read[struct{ Real, Imag float }](u)
		return exportir.Argument{Kind: exportir.ComplexArgument, Complex: complex(float64(parts.Real), float64(parts.Imag))}
	case "as_string":
		return text(exportir.StringArgument, read[string](u))
	case "as_scalar_type":
		return text(exportir.DTypeArgument, source.Must(dtypeOf(read[int](u))).String())
	case "as_layout":
		return text(exportir.LayoutArgument, source.Must(nameOf(layouts, "layout", read[int](u))))
	case "as_memory_format":
		return text(exportir.FormatArgument, source.Must(nameOf(memoryFormats, "memory format", read[int](u))))
	case "as_device":
		return text(exportir.DeviceArgument, read[device](u).String())
	}
	source.Throw(exportir.Violation("the program has an argument of the kind %q, which there is not here", u.kind))
	return exportir.None
}

// float is a number, or a text for what JSON has no number of: "Infinity", "-Infinity", "NaN".
type float float64

// UnmarshalJSON reads the number.
func (f *float) UnmarshalJSON(data []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	*f = float(x)
	return err
}

// MarshalJSON writes it.
func (f float) MarshalJSON() ([]byte, error) {
	x := float64(f)
	switch {
	case math.IsNaN(x):
		return json.Marshal("NaN")
	case math.IsInf(x, 1):
		return json.Marshal("Infinity")
	case math.IsInf(x, -1):
		return json.Marshal("-Infinity")
	case x == math.Trunc(x) && math.Abs(x) < 1e15: // with a point: PyTorch tells floats from integers by it
		return []byte(strconv.FormatFloat(x, 'f', 1, 64)), nil
	}
	return json.Marshal(x)
}

// checks are operators that check what follows from the inputs, which are checked when the program is called.
var checks = map[string]bool{aten.AssertTensorMetadata: true, "aten::sym_constrain_range": true, "aten::sym_constrain_range_for_size": true}

// functions are those of PyTorch for numbers that are no operators.
var functions = map[string]string{"torch.sym_max": "max", "torch.sym_min": "min"}

// targetOf returns what a call calls, as this library names it.
func targetOf(text string) string {
	if name, ok := strings.CutPrefix(text, "_operator."); ok || functions[text] != "" {
		if !ok {
			name = functions[text]
		}
		if symbolic.OperationOf(func(o *symbolic.Operation) bool { return o.Name == name }) != nil {
			return "operator::" + name
		}
	}
	if path, ok := strings.CutPrefix(text, "torch.ops."); ok {
		parts := append(strings.Split(path, "."), "default")
		target := parts[0] + "::" + parts[1]
		if overload := parts[min(2, len(parts)-1)]; overload != "default" {
			target += "." + overload
		}
		if len(parts) <= 4 && (parts[0] == "higher_order" || checks[target] || ops.Find(target) != nil) {
			return target
		}
	}
	source.Throw(exportir.Violation("the program calls %s, which there is not here", text))
	return ""
}
