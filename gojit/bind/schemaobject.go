package bind

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// schemaMembers are the properties of schemas and the look-ups of operators' schemas.
var schemaMembers = []function{
	{schema: "FunctionSchema.__str__(FunctionSchema self) -> str", doc: "The text form.", run: bind((*schema.FunctionSchema).String)},
	{schema: "FunctionSchema.name(FunctionSchema self) -> str", doc: "The name with its namespace.", property: true, run: bind(func(s *schema.FunctionSchema) string { return s.Name })},
	{schema: "FunctionSchema.overload_name(FunctionSchema self) -> str", doc: "The name of the overload.", property: true, run: bind(func(s *schema.FunctionSchema) string { return s.Overload })},
	{schema: "FunctionSchema.arguments(FunctionSchema self) -> list", doc: "The arguments.", property: true, run: bind(func(s *schema.FunctionSchema) []*schema.Argument { return pointers(s.Arguments) })},
	{schema: "FunctionSchema.returns(FunctionSchema self) -> list", doc: "The returns.", property: true, run: bind(func(s *schema.FunctionSchema) []*schema.Argument { return pointers(s.Returns) })},
	{schema: "FunctionSchema.is_mutable(FunctionSchema self) -> bool", doc: "Whether the function writes any of its arguments.", property: true, run: bind((*schema.FunctionSchema).IsMutable)},
	{schema: "FunctionSchema.is_backward_compatible_with(FunctionSchema self, FunctionSchema old) -> bool", doc: "Whether every call of a function with the old schema is one of a function with this schema.", run: bind((*schema.FunctionSchema).IsBackwardCompatibleWith)},
	{schema: "FunctionSchema.check_forward_compatible_with(FunctionSchema self, FunctionSchema old) -> tuple", doc: "Whether calls of a function with this schema can be served by one with the old schema, and why not.", run: bind((*schema.FunctionSchema).IsForwardCompatibleWith)},

	{schema: "Argument.name(Argument self) -> str", doc: "The name.", property: true, run: bind(func(a *schema.Argument) string { return a.Name })},
	{schema: "Argument.type(Argument self) -> Type", doc: "The type.", property: true, run: bind(func(a *schema.Argument) types.Type { return a.Type })},
	{schema: "Argument.real_type(Argument self) -> Type", doc: "The type that was written; type has int for those that are numbers when a program runs.", property: true, run: bind(realType)},
	{schema: "Argument.N(Argument self) -> int", doc: "The length of a list that a single number may stand for, else None.", property: true, run: bind(func(a *schema.Argument) *int {
		if a.ListSize < 0 {
			return nil
		}
		return &a.ListSize
	})},
	{schema: "Argument.default_value(Argument self) -> any", doc: "The default, None where there is none.", property: true, run: bind(defaultOf)},
	{schema: "Argument.has_default_value(Argument self) -> bool", doc: "Whether there is a default.", run: bind(func(a *schema.Argument) bool { return a.HasDefault })},
	{schema: "Argument.kwarg_only(Argument self) -> bool", doc: "Whether the argument is given by name only.", property: true, run: bind(func(a *schema.Argument) bool { return a.KwargOnly })},
	{schema: "Argument.is_out(Argument self) -> bool", doc: "Whether the function writes its result into the argument.", property: true, run: bind((*schema.Argument).IsOut)},
	{schema: "Argument.alias_info(Argument self) -> _AliasInfo?", doc: "The alias annotation, None where there is none.", property: true, run: bind(func(a *schema.Argument) *schema.Alias { return a.Alias })},

	{schema: "_AliasInfo.is_write(_AliasInfo self) -> bool", doc: "Whether the function writes the memory, or that of the elements where only they are annotated.", property: true, run: bind((*schema.Alias).ShownWrite)},
	{schema: "_AliasInfo.before_names(_AliasInfo self) -> list", doc: "The sets before the call.", run: bind(func(a *schema.Alias) []string { return a.Before })},
	{schema: "_AliasInfo.after_names(_AliasInfo self) -> list", doc: "The sets after the call.", run: bind(func(a *schema.Alias) []string { return a.After })},

	{schema: "_C.parse_schema(str schema) -> FunctionSchema", doc: "The schema of a text.", run: bind(schemaOfText)},
	{schema: "_C._jit_get_all_schemas() -> list", doc: "The schemas of all operators.", run: bind(allSchemas)},
	{schema: "_C._jit_get_schemas_for_operator(str name) -> list", doc: "The schemas of an operator's overloads.", run: bind(schemasOf)},
	{schema: "_C._get_schema(str name, str overload_name) -> FunctionSchema", doc: "The schema of an overload; \"default\" or \"\" is the one without a name.", run: bind(schemaOf)},
	{schema: "_C._overload_names(str name) -> list", doc: "The names of an operator's overloads.", run: bind(overloadNames)},
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

func schemaOfText(text string) (*schema.FunctionSchema, error) {
	s, err := schema.Parse(text)
	if err != nil {
		return nil, runtimeErrorf("%s", err)
	}
	return s, nil
}

func allSchemas() []*schema.FunctionSchema {
	linkOperators()
	var all []*schema.FunctionSchema
	for _, name := range ops.Names() {
		all = append(all, schemasOf(name)...)
	}
	return all
}

func schemasOf(name string) []*schema.FunctionSchema {
	linkOperators()
	all := []*schema.FunctionSchema{}
	for _, o := range ops.Overloads(name) {
		all = append(all, o.Schema())
	}
	return all
}

func schemaOf(name, overload string) (*schema.FunctionSchema, error) {
	if overload == "default" {
		overload = ""
	}
	for _, s := range schemasOf(name) {
		if s.Overload == overload {
			return s, nil
		}
	}
	return nil, runtimeErrorf("Found no matching schema")
}

func overloadNames(name string) ([]string, error) {
	var names []string
	for _, s := range schemasOf(name) {
		names = append(names, s.Overload)
	}
	if names == nil {
		return nil, runtimeErrorf("No such operator %s", name)
	}
	return names, nil
}

// lastPart returns what stands behind the last dot of a qualified name.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// defaultOf returns the default of an argument; that of a device is written as a text.
func defaultOf(a *schema.Argument) value.Value {
	if a.Default.Kind() == value.KindString && a.Type.Kind() == types.KindDevice {
		if d, err := tensor.ParseDevice(a.Default.Str()); err == nil {
			return value.OfDevice(d)
		}
	}
	return a.Default
}
