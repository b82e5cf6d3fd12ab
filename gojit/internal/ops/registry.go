package ops

import (
	_ "embed"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

//go:embed schemas.txt
var schemaTable string

// table has the operators by their names. One that is published does not change.
type table struct {
	byBase map[string][]*Operator // overloads in the order in which they are tried
	byKey  map[string]*Operator
}

// registry is the process-wide table of operators. Whoever reads takes no lock; a change makes a new table, but for those before the first reading.
var registry struct {
	mu        sync.Mutex
	growing   *table
	published atomic.Pointer[table]
}

// published returns the table, which is read from its text first.
func published() *table {
	if t := registry.published.Load(); t != nil {
		return t
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if t := registry.published.Load(); t != nil {
		return t
	}
	t := growing()
	registry.published.Store(t)
	return t
}

// change lets f change the table.
func change(f func(t *table) error) error {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	now := registry.published.Load()
	if now == nil {
		return f(growing())
	}
	next := &table{byBase: maps.Clone(now.byBase), byKey: maps.Clone(now.byKey)}
	err := f(next)
	registry.published.Store(next)
	return err
}

// growing returns the table that nobody has read. The lock is held.
func growing() *table {
	if registry.growing == nil {
		registry.growing = load()
	}
	return registry.growing
}

// load makes a table of its text.
func load() *table {
	t := &table{byBase: make(map[string][]*Operator, 2500), byKey: make(map[string]*Operator, 4500)}
	all := make([]Operator, strings.Count(schemaTable, "\n"))
	rest := schemaTable
	for i := range all {
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		o := &all[i]
		o.describe(line)
		t.insert(o)
	}
	return t
}

// describe takes the schema from a line of the table, and what stands behind it.
func (o *Operator) describe(line string) {
	if at := strings.IndexByte(line, '#'); at >= 0 {
		line, o.words = line[:at-1], line[at+2:]
		o.words, o.sentence, _ = strings.Cut(o.words, "| ")
		o.tags = tagsOf(o.words)
	}
	o.text, o.Name = line, keyOfSchemaText(line)
}

// tagsOf reads the tags behind a schema.
func tagsOf(text string) (tags Tags) {
	for rest := text; rest != ""; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		tags |= tagByName[word]
	}
	return tags
}

var tagByName = func() map[string]Tags {
	tags := make(map[string]Tags, len(tagNames))
	for i, name := range tagNames {
		tags[name] = 1 << i
	}
	return tags
}()

// WithFact returns the operators behind whose schemas a key stands, each with what it says, by their names.
func WithFact(key string) iter.Seq2[*Operator, string] {
	return func(yield func(*Operator, string) bool) {
		var found [][]*Operator // the overloads of a name
		for _, overloads := range published().byBase {
			if slices.ContainsFunc(overloads, func(o *Operator) bool { return strings.Contains(o.words, key) }) {
				found = append(found, overloads)
			}
		}
		slices.SortFunc(found, func(a, b []*Operator) int { return strings.Compare(BaseName(a[0].Name), BaseName(b[0].Name)) })
		for _, o := range slices.Concat(found...) {
			if fact, ok := o.Fact(key); ok && !yield(o, fact) {
				return
			}
		}
	}
}

// Forms returns the overloads that write what this one computes into its first argument and into out=, without the namespace and "" where
// there is none: the fact "forms" of its schema.
func (o *Operator) Forms() (inPlace, out string) {
	fact, _ := o.Fact("forms")
	inPlace, out, _ = strings.Cut(fact, ",")
	return strings.TrimPrefix(inPlace, "-"), out
}

// Forms are those of an operator of the table of schemas. Asking for them publishes nothing, so operators can be made by them.
func Forms(key string) (inPlace, out string) {
	if t := registry.published.Load(); t != nil {
		return t.formsOf(key)
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return growing().formsOf(key)
}

func (t *table) formsOf(key string) (inPlace, out string) {
	if o := t.byKey[key]; o != nil {
		return o.Forms()
	}
	return "", ""
}

// insert adds an operator. Tables before this one share the slice, and see no more of it than they did.
func (t *table) insert(o *Operator) {
	base := BaseName(o.Name)
	t.byBase[base] = append(t.byBase[base], o)
	t.byKey[o.Name] = o
}

// Overloads returns the operators of a name such as "aten::add", in the order in which they are
// tried. The slice must not be changed.
func Overloads(base string) []*Operator { return published().byBase[base] }

// Find returns the operator "ns::name.overload", or nil.
func Find(key string) *Operator { return published().byKey[key] }

// Names returns the names of all operators, without overloads, sorted.
func Names() []string { return slices.Sorted(maps.Keys(published().byBase)) }

// Register adds operators: an implementation for a schema of the table, or a new operator where
// Name is the whole text of a schema. It fails on a name that is not known, a text that is no
// schema, and an operator that is implemented already.
func Register(operators ...[]Operator) error {
	return change(func(t *table) error {
		for _, family := range operators {
			for i := range family {
				if err := t.register(&family[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Define adds an operator without an implementation by the text of its schema, which must not be known.
func Define(text string, alias AliasKind) (*Operator, error) {
	s, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	o := &Operator{Name: s.QualifiedName(), Alias: alias, text: text}
	err = change(func(t *table) error {
		if t.byKey[o.Name] != nil {
			return source.Errorf(source.RuntimeError, source.Range{}, "Tried to register an operator (%s) with the same name and overload name multiple times", s)
		}
		t.insert(o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Implement gives a known operator its implementation, or another one.
func Implement(key string, run Operation) (*Operator, error) {
	o := Find(key)
	if o == nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "There is no schema for the operator %s", key)
	}
	o.Run = run
	return o, nil
}

func (t *table) register(o *Operator) error {
	key := keyOfSchemaText(o.Name)
	if known := t.byKey[key]; known != nil {
		if o.Record != nil {
			known.Record = o.Record
		}
		if o.Run == nil && o.Make == nil {
			return nil
		}
		if known.Run != nil || known.Make != nil {
			return source.Errorf(source.RuntimeError, source.Range{}, "Tried to register an operator (%s) twice", key)
		}
		known.Run, known.Make, known.Check = o.Run, o.Make, o.Check
		return nil
	}
	if key == o.Name {
		return source.Errorf(source.RuntimeError, source.Range{}, "There is no schema for the operator %s", key)
	}
	o.describe(o.Name)
	if _, err := schema.Parse(o.text); err != nil {
		return err
	}
	t.insert(o)
	return nil
}
