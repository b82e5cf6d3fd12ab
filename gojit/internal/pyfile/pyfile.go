// Package pyfile compiles what is TorchScript in a file of Python, without Python: its functions, script classes, named tuples, enumerations and
// interfaces, with the names that its imports give to torch, math and typing.
//
// Compile reads all of a file. A statement that is no part of a program (an assignment, a class of modules, a function of which a
// decorator or a statement needs Python) is passed over and named in File.Skipped; the package never guesses what such a statement would do.
package pyfile

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Skipped is a statement that did not become part of the program.
type Skipped struct {
	Name   string `json:"name"` // of the function or class, else what the statement is
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Err is the error where the statement was tried, else nil.
	Err error `json:"-"`
	// Asked says that the statement is decorated as part of a program, so that skipping it is an error.
	Asked bool `json:"asked,omitempty"`
}

// File is what a file has become.
type File struct {
	Unit    *ir.Unit
	Skipped []Skipped

	names    *names
	defining sync.Mutex
	asked    []*ir.Function // functions that a decorator asks for
	lines    map[*ir.Function]source.Range
	classes  []*types.Class
	ranges   map[*types.Class]source.Range
}

// Compile compiles a file. It fails where the text is no Python, and with the error of a definition that a decorator of torch.jit asks for.
func Compile(text *source.Text) (*File, error) {
	statements, err := syntax.ParseModule(text)
	if err != nil {
		return nil, err
	}
	f := &File{Unit: ir.NewUnit(), lines: map[*ir.Function]source.Range{}, ranges: map[*types.Class]source.Range{}}
	f.names = &names{unit: f.Unit, imported: map[string]string{}, skipped: map[string]outside{}}
	for i := range statements {
		if t := statements[i].Tree; t != nil && t.Kind == syntax.KindImport {
			f.names.add(t.Text)
		}
	}
	for i := range statements {
		f.statement(&statements[i], i == 0)
	}
	f.define()
	for _, s := range f.Skipped {
		if s.Asked && s.Err != nil {
			return nil, s.Err
		}
	}
	return f, nil
}

// Qualified returns the name that a definition of a file has in its program.
func Qualified(name string) string { return "__torch__." + name }

func (f *File) skip(name string, at source.Range, err error, reason string, args ...any) {
	line := 0
	if at.IsValid() {
		_, line, _, _ = at.FileLineCol()
	}
	f.Skipped = append(f.Skipped, Skipped{Name: name, Line: line, Reason: fmt.Sprintf(reason, args...), Err: err})
}

// statement takes one statement of the file into the program, or skips it.
func (f *File) statement(s *syntax.Statement, isFirst bool) {
	if s.Err != nil {
		f.unreadable(s)
		return
	}
	switch s.Tree.Kind {
	case syntax.KindImport:
		for _, name := range f.names.unknown(s.Tree.Text) {
			f.skip("import "+name, s.Range, nil, "only torch, math and typing have names here")
		}
	case syntax.KindDef:
		f.function(s)
	case syntax.KindClassDef:
		f.class(s)
	case syntax.KindExprStmt:
		if isString := strings.HasPrefix(strings.TrimLeft(s.Range.String(), "rRuU"), `"`) || strings.HasPrefix(s.Range.String(), "'"); !isString {
			f.skip(firstLine(s.Range.String()), s.Range, nil, "a statement outside of functions runs in Python alone")
		}
	case syntax.KindAssign, syntax.KindAugAssign:
		f.names.assigned(s.Tree)
		f.skip(firstLine(s.Range.String()), s.Range, nil, "programs cannot read global variables: pass the value as an argument")
	case syntax.KindPass:
	default:
		f.skip(firstLine(s.Range.String()), s.Range, nil, "a statement outside of functions runs in Python alone")
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.TrimSpace(line), ":")
}

// unreadable skips a statement with what the parser said of it. A definition that is decorated as part of a program is an error.
func (f *File) unreadable(s *syntax.Statement) {
	text := s.Range.String()
	f.skip(firstLine(lastDecorated(text)), s.Range, s.Err, "%s", reasonOf(s.Err))
	f.Skipped[len(f.Skipped)-1].Asked = strings.HasPrefix(text, "@torch.jit.script") || strings.HasPrefix(text, "@script")
}

// lastDecorated returns the text of a definition behind its decorators.
func lastDecorated(text string) string {
	for strings.HasPrefix(text, "@") {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		text = rest
	}
	return text
}

// reasonOf returns the first line of an error.
func reasonOf(err error) string {
	var e *source.Error
	if errors.As(err, &e) {
		return firstLine(e.Text)
	}
	return firstLine(err.Error())
}

// decorated says whether decorators ask for a definition, and which needs Python, "" for none.
func (f *File) decorated(decorators []string, harmless ...string) (asked bool, needsPython string) {
	for _, d := range decorators {
		name, _, _ := strings.Cut(d, "(")
		switch name = f.names.expand(name); name {
		case "torch.jit.script", "torch.jit.export":
			asked = true
		default:
			known := false
			for _, h := range harmless {
				known = known || name == h
			}
			if !known {
				needsPython = d
			}
		}
	}
	return asked, needsPython
}

func (f *File) options() frontend.Options {
	return frontend.Options{Resolver: f.names, Unit: f.Unit, FromText: true, FromFile: true}
}

func (f *File) function(s *syntax.Statement) {
	def := syntax.AsDef(s.Tree)
	name := def.Name().Name()
	asked, needs := f.decorated(s.Decorators)
	if needs != "" {
		f.skip(name, s.Range, nil, "its decorator @%s needs Python", needs)
		f.names.skipped[name] = outside{reason: "its decorator @" + needs + " needs Python"}
		return
	}
	if f.Unit.Function(Qualified(name)) != nil {
		f.skip(name, s.Range, nil, "the file defines it before; Python would use this one: give it another name")
		return
	}
	function := ir.NewLazyFunction(Qualified(name), &f.defining, func(function *ir.Function) error {
		return frontend.Compile(function, def, f.options())
	})
	f.Unit.AddFunction(function)
	f.lines[function] = s.Range
	if asked {
		f.asked = append(f.asked, function)
	}
}

// define compiles all functions and classes. Those that fail are skipped.
func (f *File) define() {
	asked := map[*ir.Function]bool{}
	for _, function := range f.asked {
		asked[function] = true
	}
	for _, class := range f.classes {
		f.defining.Lock()
		failed, err := frontend.CompileMethods(class)
		f.defining.Unlock()
		if err != nil {
			f.skip(failed.ShortName(), f.ranges[class], err, "%s", reasonOf(err))
		}
	}
	for _, function := range f.Unit.Functions() {
		if err := function.EnsureDefined(); err != nil && !function.IsMethod {
			f.skip(function.ShortName(), f.lines[function], err, "%s", reasonOf(err))
			f.Skipped[len(f.Skipped)-1].Asked = asked[function]
		}
	}
}

func (f *File) class(s *syntax.Statement) {
	def := syntax.AsClassDef(s.Tree)
	name, base := def.Name().Name(), ""
	if b := def.Superclass(); b != nil {
		base = f.names.expand(frontend.DottedName(b))
	}
	_, needs := f.decorated(s.Decorators, "torch.jit.interface", "torch.jit.final")
	isInterface := len(s.Decorators) > 0 && f.names.expand(s.Decorators[0]) == "torch.jit.interface"
	var err error
	switch {
	case needs != "":
		f.skip(name, s.Range, nil, "its decorator @%s needs Python", needs)
	case isInterface:
		err = f.interfaceType(def)
	case base == "typing.NamedTuple":
		err = f.namedTuple(def)
	case base == "enum.Enum" || base == "enum.IntEnum":
		err = f.enum(def)
	case base == "" || base == "object":
		err = f.scriptClass(s, def)
	case base == "torch.nn.Module" || strings.HasPrefix(base, "torch.nn."):
		f.skip(name, s.Range, nil, "a module has the attributes that Python gives it: script an instance there, save it and load the archive")
	default:
		f.skip(name, s.Range, nil, "it inherits from %s, which programs cannot", base)
	}
	if err != nil {
		f.skip(name, s.Range, err, "%s", reasonOf(err))
	}
}

// scriptClass adds a class whose instances programs make. Its methods are compiled with the functions.
func (f *File) scriptClass(s *syntax.Statement, def syntax.ClassDef) error {
	name := Qualified(def.Name().Name())
	class := types.NewClass(name, false)
	f.Unit.AddType(name, class)
	for _, stmt := range def.Body() {
		if stmt.Kind == syntax.KindDef {
			if err := f.method(class, syntax.AsDef(stmt), s.Methods[syntax.AsDef(stmt).Name().Name()]); err != nil {
				return err
			}
			continue
		}
		isText := stmt.Kind == syntax.KindExprStmt || stmt.Kind == syntax.KindPass
		if a := stmt; a.Kind == syntax.KindAssign && syntax.AsAssign(a).RHS() == nil {
			isText = true // an annotation alone
		}
		if !isText {
			f.skip(def.Name().Name(), stmt.Range, nil, "an attribute of a class itself is not part of a program: %s", firstLine(stmt.Range.String()))
		}
	}
	f.classes = append(f.classes, class)
	f.ranges[class] = s.Range
	return nil
}

func (f *File) method(class *types.Class, def syntax.Def, decorators []string) error {
	short := def.Name().Name()
	_, needs := f.decorated(decorators, "staticmethod", "property")
	if needs != "" {
		f.skip(class.Name[len(Qualified("")):]+"."+short, def.Range, nil, "its decorator @%s needs Python", needs)
		return nil
	}
	o := f.options()
	isStatic := len(decorators) > 0 && decorators[len(decorators)-1] == "staticmethod"
	if !isStatic {
		o.Self = &frontend.Self{Type: class}
	}
	m := ir.NewLazyFunction(class.Name+"."+short, &f.defining, func(m *ir.Function) error { return frontend.Compile(m, def, o) })
	m.IsMethod = true
	f.Unit.AddFunction(m)
	switch {
	case isStatic:
		class.AddStaticMethod(short, m)
	case len(decorators) > 0 && decorators[len(decorators)-1] == "property":
		class.AddMethod(short, m)
		class.Properties = append(class.Properties, types.Property{Name: short, Getter: m})
	default:
		class.AddMethod(short, m)
	}
	class.Uncompiled = append(class.Uncompiled, m)
	return nil
}

func (f *File) namedTuple(def syntax.ClassDef) error {
	t := &types.Tuple{Name: Qualified(def.Name().Name()), Fields: []string{}}
	for _, s := range def.Body() {
		if s.Kind != syntax.KindAssign || syntax.AsAssign(s).Type() == nil {
			if s.Kind == syntax.KindExprStmt || s.Kind == syntax.KindPass {
				continue
			}
			return source.Errorf(source.RuntimeError, s.Range, "a named tuple of a program has fields alone, expected NAME: TYPE")
		}
		a := syntax.AsAssign(s)
		elem, err := frontend.TypeOf(a.Type(), f.options())
		if err != nil {
			return err
		}
		t.Fields, t.Elems = append(t.Fields, frontend.DottedName(a.LHS())), append(t.Elems, elem)
		if a.RHS() == nil {
			continue
		}
		v, err := frontend.ConstantOf(a.RHS(), elem, f.options())
		if err != nil {
			return err
		}
		t.Defaults = append(t.Defaults, v)
	}
	f.Unit.AddType(t.Name, t)
	return nil
}

func (f *File) enum(def syntax.ClassDef) error {
	t := &types.Enum{Name: Qualified(def.Name().Name()), Value: types.Int}
	for _, s := range def.Body() {
		if s.Kind == syntax.KindExprStmt || s.Kind == syntax.KindPass {
			continue
		}
		if s.Kind != syntax.KindAssign || syntax.AsAssign(s).RHS() == nil {
			return source.Errorf(source.RuntimeError, s.Range, "an enumeration of a program has members alone, expected NAME = VALUE")
		}
		a := syntax.AsAssign(s)
		v, err := frontend.ConstantOf(a.RHS(), nil, f.options())
		if err != nil {
			return err
		}
		if len(t.Members) == 0 {
			t.Value = value.TypeOf(v)
		}
		t.Members = append(t.Members, types.EnumMember{Name: frontend.DottedName(a.LHS()), Value: v})
	}
	f.Unit.AddType(t.Name, t)
	return nil
}

func (f *File) interfaceType(def syntax.ClassDef) error {
	t := frontend.NewInterface(Qualified(def.Name().Name()), false)
	f.Unit.AddType(t.Name, t)
	o := f.options()
	o.Self = &frontend.Self{Type: t}
	for _, s := range def.Body() {
		if s.Kind != syntax.KindDef {
			continue
		}
		schema, err := frontend.SchemaOf(syntax.AsDef(s), o)
		if err != nil {
			return err
		}
		frontend.AddInterfaceMethod(t, schema)
	}
	return nil
}
