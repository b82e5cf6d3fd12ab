package bind

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// aliasMembers answer questions about the memory of a graph's values.
var aliasMembers = []function{
	{schema: "Graph.alias_db(Graph self, bool isFrozen=False, bool descend_function_calls=False) -> AliasDb", doc: "Which values of the graph may share memory; isFrozen says that nobody changes attributes of modules, descend_function_calls looks into the bodies of called functions.", run: bind(analyze)},
	{schema: "Graph.dump_alias_db(Graph self) -> None", doc: "Prints the alias database.", run: bind(dumpAliases)},
	{schema: "AliasDb.__str__(AliasDb self) -> str", doc: "The graph, what each value may point to and contain, and what each node writes.", run: bind((*alias.Db).String)},
	{schema: "AliasDb.dump(AliasDb self) -> None", doc: "Prints the database.", run: bind(func(db *alias.Db) { fmt.Print(db) })},
	{schema: "AliasDb.to_graphviz_str(AliasDb self) -> str", doc: "The memory as a graph in the language of dot.", run: bind((*alias.Db).Graphviz)},
	{schema: "AliasDb.may_contain_alias(AliasDb self, any v1, any v2) -> bool", doc: "Whether two values, or lists of values, or anything in them may be the same memory.", run: bind(mayContainAlias)},
	{schema: "AliasDb.may_alias(AliasDb self, Value v1, Value v2) -> bool", doc: "Whether two values may be the same memory.", run: bind((*alias.Db).MayAlias)},
	{schema: "AliasDb.has_writers(AliasDb self, any v) -> bool", doc: "Whether any node may write a value, or an input or output of a node.", run: bind(hasWriters)},
	{schema: "AliasDb.move_after_topologically_valid(AliasDb self, Node node, Node after) -> bool", doc: "Moves a node behind another, with the nodes that must go along, where the graph then still does the same; returns whether it has.", run: bind(func(db *alias.Db, n, other *ir.Node) bool {
		return !isHidden(n) && !isHidden(other) && db.MoveAfter(n, other)
	})},
	{schema: "AliasDb.move_before_topologically_valid(AliasDb self, Node node, Node before) -> bool", doc: "Moves a node before another, with the nodes that must go along, where the graph then still does the same; returns whether it has.", run: bind(func(db *alias.Db, n, other *ir.Node) bool {
		return !isHidden(n) && !isHidden(other) && db.MoveBefore(n, other)
	})},
}

func analyze(g *ir.Graph, frozen, descend bool) (*alias.Db, error) {
	if err := prepared(g); err != nil {
		return nil, err
	}
	return alias.Analyze(g, alias.Options{Frozen: frozen, Descend: descend}), nil
}

func dumpAliases(g *ir.Graph) error {
	db, err := analyze(g, false, false)
	if err == nil {
		fmt.Print(db)
	}
	return err
}

// valuesOf returns the value, or the values of a list, that an argument is.
func valuesOf(w *Word) ([]*ir.Value, error) {
	if v, ok := w.content().(*ir.Value); ok {
		return []*ir.Value{v}, destroyed(v)
	}
	if !w.isSequence() {
		return nil, typeErrorf("expected a Value or a list of Values, not a %s", w.kindName())
	}
	var vs []*ir.Value
	for x := range w.items {
		v, ok := x.content().(*ir.Value)
		if !ok {
			return nil, typeErrorf("expected a list of Values, but an element is a %s", x.kindName())
		}
		if err := destroyed(v); err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

func mayContainAlias(db *alias.Db, a, b *Word) (bool, error) {
	as, err := valuesOf(a)
	if err != nil {
		return false, err
	}
	bs, err := valuesOf(b)
	return err == nil && db.MayContainAlias(as, bs), err
}

func hasWriters(db *alias.Db, x *Word) (bool, error) {
	if n, ok := x.content().(*ir.Node); ok {
		return db.HasNodeWriters(n), destroyed(n)
	}
	vs, err := valuesOf(x)
	for _, v := range vs {
		if db.HasWriters(v) {
			return true, nil
		}
	}
	return false, err
}
