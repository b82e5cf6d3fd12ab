package graphs

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// schemaMembers are the properties of schemas and the look-ups of operators' schemas.
var schemaMembers = []abi.Function{
	{Schema: "FunctionSchema.__str__(FunctionSchema self) -> str", Doc: "The text form.", Run: abi.Bind((*schema.FunctionSchema).String)},
	{Schema: "FunctionSchema.name(FunctionSchema self) -> str", Doc: "The name with its namespace.", Property: true, Run: abi.Bind(func(s *schema.FunctionSchema) string { return s.Name })},
	{Schema: "FunctionSchema.overload_name(FunctionSchema self) -> str", Doc: "The name of the overload.", Property: true, Run: abi.Bind(func(s *schema.FunctionSchema) string { return s.Overload })},
	{Schema: "FunctionSchema.arguments(FunctionSchema self) -> list", Doc: "The arguments.", Property: true, Run: abi.Bind(func(s *schema.FunctionSchema) []*schema.Argument { return pointers(s.Arguments) })},
	{Schema: "FunctionSchema.returns(FunctionSchema self) -> list", Doc: "The returns.", Property: true, Run: abi.Bind(func(s *schema.FunctionSchema) []*schema.Argument { return pointers(s.Returns) })},
	{Schema: "FunctionSchema._is_view_op(FunctionSchema self) -> bool", Doc: "Whether an argument is annotated as memory that may be met again and is not written.", Run: abi.Bind(isViewOp)},
	{Schema: "FunctionSchema.is_mutable(FunctionSchema self) -> bool", Doc: "Whether the function writes any of its arguments.", Property: true, Run: abi.Bind((*schema.FunctionSchema).IsMutable)},
	{Schema: "FunctionSchema.is_backward_compatible_with(FunctionSchema self, FunctionSchema old) -> bool", Doc: "Whether every call of a function with the old schema is one of a function with this schema.", Run: abi.Bind((*schema.FunctionSchema).IsBackwardCompatibleWith)},
	{Schema: "FunctionSchema.check_forward_compatible_with(FunctionSchema self, FunctionSchema old) -> tuple", Doc: "Whether calls of a function with this schema can be served by one with the old schema, and why not.", Run: abi.Bind((*schema.FunctionSchema).IsForwardCompatibleWith)},

	{Schema: "Argument.name(Argument self) -> str", Doc: "The name.", Property: true, Run: abi.Bind(func(a *schema.Argument) string { return a.Name })},
	{Schema: "Argument.type(Argument self) -> Type", Doc: "The type.", Property: true, Run: abi.Bind(func(a *schema.Argument) types.Type { return a.Type })},
	{Schema: "Argument.real_type(Argument self) -> Type", Doc: "The type that was written; type has int for those that are numbers when a program runs.", Property: true, Run: abi.Bind(abi.RealType)},
	{Schema: "Argument.N(Argument self) -> int", Doc: "The length of a list that a single number may stand for, else None.", Property: true, Run: abi.Bind(func(a *schema.Argument) *int {
		if a.ListSize < 0 {
			return nil
		}
		return &a.ListSize
	})},
	{Schema: "Argument.default_value(Argument self) -> any", Doc: "The default, None where there is none.", Property: true, Run: abi.Bind(defaultOf)},
	{Schema: "Argument.has_default_value(Argument self) -> bool", Doc: "Whether there is a default.", Run: abi.Bind(func(a *schema.Argument) bool { return a.HasDefault })},
	{Schema: "Argument.kwarg_only(Argument self) -> bool", Doc: "Whether the argument is given by name only.", Property: true, Run: abi.Bind(func(a *schema.Argument) bool { return a.KwargOnly })},
	{Schema: "Argument.is_out(Argument self) -> bool", Doc: "Whether the function writes its result into the argument.", Property: true, Run: abi.Bind((*schema.Argument).IsOut)},
	{Schema: "Argument.is_write(Argument self) -> bool", Doc: "Whether the function writes the argument.", Property: true, Run: abi.Bind(func(a *schema.Argument) bool { return a.Alias != nil && a.Alias.IsWrite })},
	{Schema: "Argument.alias_info(Argument self) -> _AliasInfo?", Doc: "The alias annotation, None where there is none.", Property: true, Run: abi.Bind(func(a *schema.Argument) *schema.Alias { return a.Alias })},

	{Schema: "_AliasInfo.is_write(_AliasInfo self) -> bool", Doc: "Whether the function writes the memory, or that of the elements where only they are annotated.", Property: true, Run: abi.Bind((*schema.Alias).ShownWrite)},
	{Schema: "_AliasInfo.before_names(_AliasInfo self) -> list", Doc: "The sets before the call.", Run: abi.Bind(func(a *schema.Alias) []string { return a.Before })},
	{Schema: "_AliasInfo.after_names(_AliasInfo self) -> list", Doc: "The sets after the call.", Run: abi.Bind(func(a *schema.Alias) []string { return a.After })},

	{Schema: "_C.parse_schema(str schema) -> FunctionSchema", Doc: "The schema of a text.", Run: abi.Bind(schemaOfText)},
	{Schema: "_C._jit_get_all_schemas() -> list", Doc: "The schemas of all operators.", Run: abi.Bind(allSchemas)},
	{Schema: "_C._jit_get_schemas_for_operator(str name) -> list", Doc: "The schemas of an operator's overloads.", Run: abi.Bind(schemasOf)},
	{Schema: "_C._get_schema(str name, str overload_name) -> FunctionSchema", Doc: "The schema of an overload; \"default\" or \"\" is the one without a name.", Run: abi.Bind(schemaOf)},
	{Schema: "_C._overload_names(str name) -> list", Doc: "The names of an operator's overloads.", Run: abi.Bind(overloadNames)},
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
		return nil, abi.RuntimeErrorf("%s", err)
	}
	return s, nil
}

func allSchemas() []*schema.FunctionSchema {
	gojit.LinkOperators()
	var all []*schema.FunctionSchema
	for _, name := range ops.Names() {
		all = append(all, schemasOf(name)...)
	}
	return all
}

func schemasOf(name string) []*schema.FunctionSchema {
	gojit.LinkOperators()
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
	return nil, abi.RuntimeErrorf("Found no matching schema")
}

func overloadNames(name string) ([]string, error) {
	var names []string
	for _, s := range schemasOf(name) {
		names = append(names, s.Overload)
	}
	if names == nil {
		return nil, abi.RuntimeErrorf("No such operator %s", name)
	}
	return names, nil
}

// LastPart returns what stands behind the last dot of a qualified name.
func LastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// defaultOf returns the default of an argument; that of a device is written as a text.
func defaultOf(a *schema.Argument) value.Value {
	if a.Default.Kind() == value.KindString && a.Type.Kind() == types.KindDevice {
		if d, err := tensor.ParseDevice(a.Default.Str()); err == nil {
			return value.OfDevice(d)
		}
	}
	return a.Default
}

func isViewOp(s *schema.FunctionSchema) bool {
	return slices.ContainsFunc(s.Arguments, func(a schema.Argument) bool { return a.Alias != nil && !a.Alias.IsWrite })
}
