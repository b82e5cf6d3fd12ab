package archive

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Report says what an archive contains, and what is wrong with it. Nothing in the archive has run.
type Report struct {
	Version int            `json:"version"`
	Records []RecordReport `json:"records"`
	// Module is the class of the module.
	Module string `json:"module"`
	// Methods are the signatures of all methods and functions, by qualified name.
	Methods map[string]string `json:"methods"`
	Tensors []TensorReport    `json:"tensors"`
	// Operators are the operators that the program calls; Missing those of them that cannot run here.
	Operators []string `json:"operators"`
	Missing   []string `json:"missing"`
	// Restored are the classes whose __setstate__ runs when the archive is loaded.
	Restored []string `json:"restored"`
	// Extra are the names of the extra files.
	Extra []string `json:"extra"`
	// Problems say what would make loading or running fail, or is damaged: each names its record.
	Problems []string `json:"problems"`
}

// RecordReport describes one record.
type RecordReport struct {
	Name   string `json:"name"`
	Size   uint64 `json:"size"`
	Packed bool   `json:"packed"` // deflated, not stored as it is
}

// TensorReport describes a tensor in the module's state.
type TensorReport struct {
	Name    string  `json:"name"`
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Storage string  `json:"storage"` // the record of its numbers
}

// Inspect reports on an archive in memory. It fails only where data is no archive at all.
func Inspect(data []byte) (*Report, error) { return inspect(data) }

// InspectFile is Inspect of a file.
func InspectFile(path string) (*Report, error) {
	data, err := safefile.ReadFile(path, nil)
	if err != nil {
		return nil, archiveError("%s cannot be read: %s", path, err)
	}
	return inspect(data)
}

func inspect(data []byte) (*Report, error) {
	a, err := OpenArchive(data)
	if err != nil {
		return nil, err
	}
	in := &inspector{a: a, r: &Report{Version: a.Version, Methods: map[string]string{}}, seen: map[any]bool{}, operators: map[string]bool{}}
	in.records()
	in.state()
	in.program()
	sort.Strings(in.r.Missing)
	return in.r, nil
}

type inspector struct {
	a         *Archive
	r         *Report
	seen      map[any]bool
	operators map[string]bool
}

func (in *inspector) problem(record string, err error) {
	if err != nil {
		in.r.Problems = append(in.r.Problems, fmt.Sprintf("%s: %s", record, strings.TrimSpace(err.Error())))
	}
}

// records reads every record, which compares checksums.
func (in *inspector) records() {
	names := in.a.Names()
	slices.Sort(names)
	for _, name := range names {
		f := in.a.records[name]
		in.r.Records = append(in.r.Records, RecordReport{name, f.UncompressedSize64, f.Method != 0})
		_, err := in.a.Read(name)
		in.problem(name, err)
		if extra, ok := strings.CutPrefix(name, "extra/"); ok {
			in.r.Extra = append(in.r.Extra, extra)
		}
	}
}

// state lists the tensors in data.pkl.
func (in *inspector) state() {
	b, err := in.a.Read("data.pkl")
	if err != nil {
		if !in.a.Has("data.pkl") {
			in.problem("data.pkl", err)
		}
		return
	}
	tree, err := pickle.Decode(b)
	if err != nil {
		in.problem("data.pkl", err)
		return
	}
	if o, ok := tree.(*pickle.Object); ok {
		in.r.Module = o.Class.String()
	} else {
		in.problem("data.pkl", fmt.Errorf("it holds no module"))
	}
	in.tensors(tree, "", 0)
}

func (in *inspector) tensors(x any, path string, depth int) {
	switch x.(type) {
	case *pickle.Object, *pickle.Dict, *pickle.Tuple, *pickle.List:
		if in.seen[x] || depth > maxDepth {
			return
		}
		in.seen[x] = true
	}
	join := func(name any) string { return strings.TrimPrefix(fmt.Sprintf("%s.%v", path, name), ".") }
	switch x := x.(type) {
	case *pickle.Object:
		in.tensors(x.State, path, depth+1)
	case *pickle.Dict:
		for i, key := range x.Keys {
			in.tensors(x.Values[i], join(key), depth+1)
		}
	case *pickle.Tuple:
		for i, item := range x.Items {
			in.tensors(item, join(i), depth+1)
		}
	case *pickle.List:
		for i, item := range x.Items {
			in.tensors(item, join(i), depth+1)
		}
	case *pickle.Call:
		in.call(x, path, depth)
	}
}

// call describes a tensor, or looks into what else a call builds.
func (in *inspector) call(x *pickle.Call, path string, depth int) {
	args := items(x.Args)
	if !strings.HasPrefix(x.Callee.String(), "torch._utils._rebuild_") || len(args) < 3 {
		for _, a := range args {
			in.tensors(a, path, depth+1)
		}
		return
	}
	if x.Callee.Name == "_rebuild_sparse_tensor" && len(args) > 4 {
		in.sparse(args, path, depth)
		return
	}
	id, _ := args[0].(*pickle.PersistentID)
	if id == nil {
		in.tensors(args[0], path, depth+1)
		return
	}
	t := TensorReport{Name: path, Shape: []int64{}}
	if storage := items(id.ID); len(storage) >= 5 {
		class, _ := storage[1].(pickle.Global)
		key, _ := storage[2].(string)
		t.Storage = "data/" + key
		if dtype, ok := storageTypes[class.Name]; ok {
			t.DType = dtype.String()
		}
	}
	for _, n := range items(args[2]) {
		size, _ := n.(int64)
		t.Shape = append(t.Shape, size)
	}
	in.r.Tensors = append(in.r.Tensors, t)
}

// program compiles what the archive defines.
func (in *inspector) program() {
	l := &loader{a: in.a, unit: ir.NewUnit()}
	l.importer = frontend.NewImporter(l.unit, l.source, nil)
	l.importer.Version = in.a.Version
	if in.a.Has("constants.pkl") {
		constants, err := l.unpickler("constants").read("constants.pkl")
		in.problem("constants.pkl", err)
		if constants.Kind() == value.KindTuple {
			l.importer.Constants = constants.Tuple().Items
		}
		in.problem("constants.pkl", in.a.Checked())
	}
	for _, record := range in.r.Records {
		path, isCode := strings.CutPrefix(record.Name, "code/")
		path, isText := strings.CutSuffix(path, ".py")
		if isCode && isText {
			in.definitions(l, record.Name, strings.ReplaceAll(path, "/", "."))
		}
	}
	in.object(l)
	in.r.Operators = make([]string, 0, len(in.operators))
	for name := range in.operators {
		in.r.Operators = append(in.r.Operators, name)
	}
	sort.Strings(in.r.Operators)
}

// object makes the module, but for what __setstate__ would do.
func (in *inspector) object(l *loader) {
	if in.r.Module == "" {
		return
	}
	u := l.unpickler("data")
	u.setState = func(*value.Object, value.Value) (bool, error) { return true, nil }
	if _, err := u.read("data.pkl"); err != nil {
		in.problem("data.pkl", err)
	}
	in.problem("data.pkl", in.a.Checked())
}

// definitions compiles what a record defines.
func (in *inspector) definitions(l *loader, record, prefix string) {
	text, err := l.source(prefix)
	if err != nil {
		return // reported with the records
	}
	if text == nil {
		in.problem(record, fmt.Errorf("no name refers to the record"))
		return
	}
	trees, err := syntax.ParseArchive(text)
	if err != nil {
		in.problem(record, err)
		return
	}
	for _, t := range trees {
		switch t.Kind {
		case syntax.KindDef:
			f, err := l.importer.Function(prefix + "." + syntax.AsDef(t).Name().Name())
			in.problem(record, err)
			if f != nil {
				in.function(record, f)
			}
		case syntax.KindClassDef:
			name := prefix + "." + syntax.AsClassDef(t).Name().Name()
			defined, err := l.importer.Type(name)
			in.problem(record, err)
			c, ok := defined.(*types.Class)
			if !ok {
				continue
			}
			for _, m := range c.MethodNames() {
				if m == "__setstate__" {
					in.r.Restored = append(in.r.Restored, name)
				}
				if f, ok := c.FindMethod(m).(*ir.Function); ok {
					in.function(record, f)
				}
			}
		}
	}
}

func (in *inspector) function(record string, f *ir.Function) {
	if err := f.EnsureDefined(); err != nil {
		in.problem(record, err)
		return
	}
	in.r.Methods[f.Name] = f.Schema.String()
	in.operatorsOf(f.Graph())
}

func (in *inspector) operatorsOf(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			in.operatorsOf(inner)
		}
		o := n.Operator()
		if o == nil {
			return
		}
		name := o.Schema().QualifiedName()
		if !in.operators[name] {
			in.operators[name] = true
			if o.Run == nil && !strings.HasPrefix(name, "prim::") { // the interpreter has instructions for those
				in.r.Missing = append(in.r.Missing, name)
			}
		}
	})
}
