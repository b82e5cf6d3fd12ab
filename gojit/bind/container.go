package bind

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// containerMembers are lists and dictionaries of programs that Python holds: a compiled function that is
// given one sees, and changes, the same container.
var containerMembers = []function{
	{schema: "_C._stream_text(any item) -> str", doc: "A value as text, strings without quotes.", run: bind(prim.Display)},
	{schema: "_C._script_list(any items, Type elem) -> ScriptList", doc: "A list of a program with the items.", run: bind(newScriptList)},
	{schema: "ScriptList.__len__(ScriptList self) -> int", doc: "The number of elements.", run: bind(func(l *value.List) int { return len(l.Items) })},
	{schema: "ScriptList._text(ScriptList self) -> str", doc: "The elements as text.", run: bind(func(l *value.List) string { return prim.Display(value.OfList(l)) })},
	{schema: "ScriptList._items(ScriptList self) -> list", doc: "The elements.", run: bind(func(l *value.List) value.Value { return value.OfList(l) })},
	{schema: "ScriptList._item(ScriptList self, int index) -> any", doc: "One element.", run: bind(scriptListItem)},
	{schema: "ScriptList._part(ScriptList self, tuple indices) -> ScriptList", doc: "A list with some of the elements.", run: bind(scriptListPart)},
	{schema: "ScriptList._replace(ScriptList self, int start, int stop, any items) -> None", doc: "Puts items in the place of a part.", run: bind(scriptListReplace)},
	{schema: "_C._script_dict(any items, Type key, Type elem) -> ScriptDict", doc: "A dictionary of a program with the items.", run: bind(newScriptDict)},
	{schema: "ScriptDict.__len__(ScriptDict self) -> int", doc: "The number of keys.", run: bind(func(d *value.Dict) int { return d.Len() })},
	{schema: "ScriptDict._text(ScriptDict self) -> str", doc: "The keys and values as text.", run: bind(func(d *value.Dict) string { return prim.Display(value.OfDict(d)) })},
	{schema: "ScriptDict._items(ScriptDict self) -> dict", doc: "The keys and values.", run: bind(func(d *value.Dict) value.Value { return value.OfDict(d) })},
	{schema: "ScriptDict.__getitem__(ScriptDict self, any key) -> any", doc: "The value at a key.", run: bind(scriptDictGet)},
	{schema: "ScriptDict.__contains__(ScriptDict self, any key) -> bool", doc: "Whether there is a value at a key.", run: bind(scriptDictHas)},
	{schema: "ScriptDict.__setitem__(ScriptDict self, any key, any item) -> None", doc: "Sets the value at a key.", run: bind(scriptDictSet)},
	{schema: "ScriptDict.__delitem__(ScriptDict self, any key) -> None", doc: "Removes a key.", run: bind(scriptDictDelete)},
}

// heldValue reads an object as a value of a type that Python keeps on holding.
func heldValue(w *Word, t types.Type) (value.Value, error) {
	v, ok, err := programValue(w, t)
	if err == nil && !ok {
		err = typeErrorf("expected a value of type %s, not a %s", t.Annotation(nil), w.kindName())
	}
	if err == nil && w.tensor() != nil {
		w.keep()
	}
	return v, err
}

func heldItems(w *Word, elem types.Type) ([]value.Value, error) {
	v, err := heldValue(w, &types.List{Elem: elem})
	if err != nil {
		return nil, err
	}
	return v.List().Items, nil
}

func newScriptList(items *Word, elem types.Type) (*value.List, error) {
	held, err := heldItems(items, elem)
	return value.NewList(elem, held...), err
}

func scriptListItem(l *value.List, index int) (value.Value, error) {
	if index < 0 || index >= len(l.Items) {
		return value.None, indexErrorf("list index out of range")
	}
	return l.Items[index], nil
}

func scriptListPart(l *value.List, indices []int) (*value.List, error) {
	part := value.NewList(l.Elem)
	for _, i := range indices {
		v, err := scriptListItem(l, i)
		if err != nil {
			return nil, err
		}
		part.Items = append(part.Items, v)
	}
	return part, nil
}

func scriptListReplace(l *value.List, start, stop int, items *Word) error {
	if start < 0 || start > stop || stop > len(l.Items) {
		return indexErrorf("list index out of range")
	}
	held, err := heldItems(items, l.Elem)
	if err != nil {
		return err
	}
	l.Items = slices.Replace(l.Items, start, stop, held...)
	return nil
}

func newScriptDict(items *Word, key, elem types.Type) (*value.Dict, error) {
	t, err := newDictType(key, elem)
	if err != nil {
		return nil, err
	}
	v, err := heldValue(items, t)
	if err != nil {
		return nil, err
	}
	return v.Dict(), nil
}

// dictKey reads a key; one of another type is one that is not there.
func dictKey(d *value.Dict, w *Word) (value.Value, bool, error) { return programValue(w, d.Key) }

func scriptDictGet(d *value.Dict, key *Word) (value.Value, error) {
	k, ok, err := dictKey(d, key)
	if err != nil {
		return value.None, err
	}
	if ok {
		if v, found := d.Get(k); found {
			return v, nil
		}
	}
	return value.None, keyErrorf("there is no such key")
}

func scriptDictHas(d *value.Dict, key *Word) (bool, error) {
	k, ok, err := dictKey(d, key)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, keyErrorf("the keys are of type %s", d.Key.Annotation(nil))
	}
	_, found := d.Get(k)
	return found, nil
}

func scriptDictSet(d *value.Dict, key, item *Word) error {
	k, err := heldValue(key, d.Key)
	if err != nil {
		return err
	}
	v, err := heldValue(item, d.Elem)
	if err != nil {
		return err
	}
	d.Set(k, v)
	return nil
}

func scriptDictDelete(d *value.Dict, key *Word) error {
	k, err := heldValue(key, d.Key)
	if err != nil {
		return err
	}
	if !d.Delete(k) {
		return keyErrorf("there is no such key")
	}
	return nil
}
