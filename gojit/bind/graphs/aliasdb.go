package graphs

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// aliasMembers answer questions about the memory of a graph's values.
var aliasMembers = []abi.Function{
	{Schema: "Graph.alias_db(Graph self, bool isFrozen=False, bool descend_function_calls=False) -> AliasDb", Doc: "Which values of the graph may share memory; isFrozen says that nobody changes attributes of modules, descend_function_calls looks into the bodies of called functions.", Run: abi.Bind(analyze)},
	{Schema: "Graph.dump_alias_db(Graph self) -> None", Doc: "Prints the alias database.", Run: abi.Bind(dumpAliases)},
	{Schema: "AliasDb.__str__(AliasDb self) -> str", Doc: "The graph, what each value may point to and contain, and what each node writes.", Run: abi.Bind((*alias.Db).String)},
	{Schema: "AliasDb.dump(AliasDb self) -> None", Doc: "Prints the database.", Run: abi.Bind(func(db *alias.Db) { fmt.Print(db) })},
	{Schema: "AliasDb.to_graphviz_str(AliasDb self) -> str", Doc: "The memory as a graph in the language of dot.", Run: abi.Bind((*alias.Db).Graphviz)},
	{Schema: "AliasDb.may_contain_alias(AliasDb self, any v1, any v2) -> bool", Doc: "Whether two values, or lists of values, or anything in them may be the same memory.", Run: abi.Bind(mayContainAlias)},
	{Schema: "AliasDb.may_alias(AliasDb self, Value v1, Value v2) -> bool", Doc: "Whether two values may be the same memory.", Run: abi.Bind((*alias.Db).MayAlias)},
	{Schema: "AliasDb.has_writers(AliasDb self, any v) -> bool", Doc: "Whether any node may write a value, or an input or output of a node.", Run: abi.Bind(hasWriters)},
	{Schema: "AliasDb.move_after_topologically_valid(AliasDb self, Node node, Node after) -> bool", Doc: "Moves a node behind another, with the nodes that must go along, where the graph then still does the same; returns whether it has.", Run: abi.Bind(func(db *alias.Db, n, other *ir.Node) bool {
		return !isHidden(n) && !isHidden(other) && db.MoveAfter(n, other)
	})},
	{Schema: "AliasDb.move_before_topologically_valid(AliasDb self, Node node, Node before) -> bool", Doc: "Moves a node before another, with the nodes that must go along, where the graph then still does the same; returns whether it has.", Run: abi.Bind(func(db *alias.Db, n, other *ir.Node) bool {
		return !isHidden(n) && !isHidden(other) && db.MoveBefore(n, other)
	})},
}

func analyze(g *ir.Graph, frozen, descend bool) (*alias.Db, error) {
	if err := Prepared(g); err != nil {
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
func valuesOf(w *abi.Word) ([]*ir.Value, error) {
	if v, ok := w.Content().(*ir.Value); ok {
		return []*ir.Value{v}, abi.Destroyed(v)
	}
	if !w.IsSequence() {
		return nil, abi.TypeErrorf("expected a Value or a list of Values, not a %s", w.KindName())
	}
	var vs []*ir.Value
	for x := range w.Items {
		v, ok := x.Content().(*ir.Value)
		if !ok {
			return nil, abi.TypeErrorf("expected a list of Values, but an element is a %s", x.KindName())
		}
		if err := abi.Destroyed(v); err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

func mayContainAlias(db *alias.Db, a, b *abi.Word) (bool, error) {
	as, err := valuesOf(a)
	if err != nil {
		return false, err
	}
	bs, err := valuesOf(b)
	return err == nil && db.MayContainAlias(as, bs), err
}

func hasWriters(db *alias.Db, x *abi.Word) (bool, error) {
	if n, ok := x.Content().(*ir.Node); ok {
		return db.HasNodeWriters(n), abi.Destroyed(n)
	}
	vs, err := valuesOf(x)
	for _, v := range vs {
		if db.HasWriters(v) {
			return true, nil
		}
	}
	return false, err
}
