package modules

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/graphs"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// containerMembers are lists and dictionaries of programs that Python holds: a compiled function that is
// given one sees, and changes, the same container.
var containerMembers = []abi.Function{
	{Schema: "_C._stream_text(any item) -> str", Doc: "A value as text, strings without quotes.", Run: abi.Bind(prim.Display)},
	{Schema: "_C._script_list(any items, Type elem) -> ScriptList", Doc: "A list of a program with the items.", Run: abi.Bind(newScriptList)},
	{Schema: "ScriptList.__len__(ScriptList self) -> int", Doc: "The number of elements.", Run: abi.Bind(func(l *value.List) int { return len(l.Items) })},
	{Schema: "ScriptList._text(ScriptList self) -> str", Doc: "The elements as text.", Run: abi.Bind(func(l *value.List) string { return prim.Display(value.OfList(l)) })},
	{Schema: "ScriptList._items(ScriptList self) -> list", Doc: "The elements.", Run: abi.Bind(func(l *value.List) value.Value { return value.OfList(l) })},
	{Schema: "ScriptList._item(ScriptList self, int index) -> any", Doc: "One element.", Run: abi.Bind(scriptListItem)},
	{Schema: "ScriptList._part(ScriptList self, tuple indices) -> ScriptList", Doc: "A list with some of the elements.", Run: abi.Bind(scriptListPart)},
	{Schema: "ScriptList._replace(ScriptList self, int start, int stop, any items) -> None", Doc: "Puts items in the place of a part.", Run: abi.Bind(scriptListReplace)},
	{Schema: "_C._script_dict(any items, Type key, Type elem) -> ScriptDict", Doc: "A dictionary of a program with the items.", Run: abi.Bind(newScriptDict)},
	{Schema: "ScriptDict.__len__(ScriptDict self) -> int", Doc: "The number of keys.", Run: abi.Bind(func(d *value.Dict) int { return d.Len() })},
	{Schema: "ScriptDict._text(ScriptDict self) -> str", Doc: "The keys and values as text.", Run: abi.Bind(func(d *value.Dict) string { return prim.Display(value.OfDict(d)) })},
	{Schema: "ScriptDict._items(ScriptDict self) -> dict", Doc: "The keys and values.", Run: abi.Bind(func(d *value.Dict) value.Value { return value.OfDict(d) })},
	{Schema: "ScriptDict.__getitem__(ScriptDict self, any key) -> any", Doc: "The value at a key.", Run: abi.Bind(scriptDictGet)},
	{Schema: "ScriptDict.__contains__(ScriptDict self, any key) -> bool", Doc: "Whether there is a value at a key.", Run: abi.Bind(scriptDictHas)},
	{Schema: "ScriptDict.__setitem__(ScriptDict self, any key, any item) -> None", Doc: "Sets the value at a key.", Run: abi.Bind(scriptDictSet)},
	{Schema: "ScriptDict.__delitem__(ScriptDict self, any key) -> None", Doc: "Removes a key.", Run: abi.Bind(scriptDictDelete)},
}

// heldValue reads an object as a value of a type that Python keeps on holding.
func heldValue(w *abi.Word, t types.Type) (value.Value, error) {
	v, ok, err := abi.ProgramValue(w, t)
	if err == nil && !ok {
		err = abi.TypeErrorf("expected a value of type %s, not a %s", t.Annotation(nil), w.KindName())
	}
	if err == nil && w.Tensor() != nil {
		w.Keep()
	}
	return v, err
}

func heldItems(w *abi.Word, elem types.Type) ([]value.Value, error) {
	v, err := heldValue(w, &types.List{Elem: elem})
	if err != nil {
		return nil, err
	}
	return v.List().Items, nil
}

func newScriptList(items *abi.Word, elem types.Type) (*value.List, error) {
	held, err := heldItems(items, elem)
	return value.NewList(elem, held...), err
}

func scriptListItem(l *value.List, index int) (value.Value, error) {
	if index < 0 || index >= len(l.Items) {
		return value.None, abi.IndexErrorf("list index out of range")
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

func scriptListReplace(l *value.List, start, stop int, items *abi.Word) error {
	if start < 0 || start > stop || stop > len(l.Items) {
		return abi.IndexErrorf("list index out of range")
	}
	held, err := heldItems(items, l.Elem)
	if err != nil {
		return err
	}
	l.Items = slices.Replace(l.Items, start, stop, held...)
	return nil
}

func newScriptDict(items *abi.Word, key, elem types.Type) (*value.Dict, error) {
	t, err := graphs.NewDictType(key, elem)
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
func dictKey(d *value.Dict, w *abi.Word) (value.Value, bool, error) {
	return abi.ProgramValue(w, d.Key)
}

func scriptDictGet(d *value.Dict, key *abi.Word) (value.Value, error) {
	k, ok, err := dictKey(d, key)
	if err != nil {
		return value.None, err
	}
	if ok {
		if v, found := d.Get(k); found {
			return v, nil
		}
	}
	return value.None, abi.KeyErrorf("there is no such key")
}

func scriptDictHas(d *value.Dict, key *abi.Word) (bool, error) {
	k, ok, err := dictKey(d, key)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, abi.KeyErrorf("the keys are of type %s", d.Key.Annotation(nil))
	}
	_, found := d.Get(k)
	return found, nil
}

func scriptDictSet(d *value.Dict, key, item *abi.Word) error {
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

func scriptDictDelete(d *value.Dict, key *abi.Word) error {
	k, err := heldValue(key, d.Key)
	if err != nil {
		return err
	}
	if !d.Delete(k) {
		return abi.KeyErrorf("there is no such key")
	}
	return nil
}
