package ops

import (
	_ "embed"
	"sort"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

//go:embed schemas.txt
var schemaTable string

// registry is the process-wide table of operators.
var registry = struct {
	sync.RWMutex
	byBase map[string][]*Operator // overloads in the order in which they are tried
	byKey  map[string]*Operator
	loaded bool
}{}

// load fills the registry from the table. The lock is held.
func load() {
	if registry.loaded {
		return
	}
	registry.loaded = true
	registry.byBase = make(map[string][]*Operator, 2500)
	registry.byKey = make(map[string]*Operator, 4500)
	all := make([]Operator, strings.Count(schemaTable, "\n"))
	rest := schemaTable
	for i := range all {
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		o := &all[i]
		if at := strings.IndexByte(line, '#'); at >= 0 {
			line, o.tags = line[:at-1], tagsOf(line[at+1:])
		}
		o.text, o.Name = line, keyOfSchemaText(line)
		insert(o)
	}
}

// tagsOf reads the tags behind a schema.
func tagsOf(text string) (tags Tags) {
	for rest := text; rest != ""; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		for i := range tagNames {
			if tagNames[i] == word && word != "" {
				tags |= 1 << i
			}
		}
	}
	return tags
}

func insert(o *Operator) {
	base := BaseName(o.Name)
	registry.byBase[base] = append(registry.byBase[base], o)
	registry.byKey[o.Name] = o
}

// lock lets the caller read the registry until it calls RUnlock.
func lock() {
	registry.RLock()
	if !registry.loaded {
		registry.RUnlock()
		registry.Lock()
		load()
		registry.Unlock()
		registry.RLock()
	}
}

// Overloads returns the operators of a name such as "aten::add", in the order in which they are
// tried. The slice must not be changed.
func Overloads(base string) []*Operator {
	lock()
	defer registry.RUnlock()
	return registry.byBase[base]
}

// Find returns the operator "ns::name.overload", or nil.
func Find(key string) *Operator {
	lock()
	defer registry.RUnlock()
	return registry.byKey[key]
}

// Names returns the names of all operators, without overloads, sorted.
func Names() []string {
	lock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.byBase))
	for name := range registry.byBase {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Register adds operators: an implementation for a schema of the table, or a new operator where
// Name is the whole text of a schema. It fails on a name that is not known, a text that is no
// schema, and an operator that is implemented already.
func Register(operators ...[]Operator) error {
	registry.Lock()
	defer registry.Unlock()
	load()
	for _, family := range operators {
		for i := range family {
			if err := register(&family[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Define adds an operator without an implementation by the text of its schema, which must not be known.
func Define(text string, alias AliasKind) (*Operator, error) {
	s, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	registry.Lock()
	defer registry.Unlock()
	load()
	key := s.QualifiedName()
	if registry.byKey[key] != nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "Tried to register an operator (%s) with the same name and overload name multiple times", s)
	}
	o := &Operator{Name: key, Alias: alias, text: text}
	insert(o)
	return o, nil
}

// Implement gives a known operator its implementation, or another one.
func Implement(key string, run Operation) (*Operator, error) {
	registry.Lock()
	defer registry.Unlock()
	load()
	o := registry.byKey[key]
	if o == nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "There is no schema for the operator %s", key)
	}
	o.Run = run
	return o, nil
}

func register(o *Operator) error {
	key := keyOfSchemaText(o.Name)
	if known := registry.byKey[key]; known != nil {
		if o.Record != nil {
			known.Record = o.Record
		}
		if o.Run == nil {
			return nil
		}
		if known.Run != nil {
			return source.Errorf(source.RuntimeError, source.Range{}, "Tried to register an operator (%s) twice", key)
		}
		known.Run, known.Check = o.Run, o.Check
		return nil
	}
	if key == o.Name {
		return source.Errorf(source.RuntimeError, source.Range{}, "There is no schema for the operator %s", key)
	}
	if _, err := schema.Parse(o.Name); err != nil {
		return err
	}
	o.text, o.Name = o.Name, key
	insert(o)
	return nil
}
