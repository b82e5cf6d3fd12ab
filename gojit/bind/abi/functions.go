package abi

import (
	"slices"
	"sync"
)

// registered are the functions that Python sees.
var registered []Function

// Register adds tables to the functions that Python sees. The packages that have them do this when they are linked.
func Register(tables ...[]Function) { registered = append(registered, slices.Concat(tables...)...) }

func init() { Register(memberFunctions, hostFunctions) }

// Schemas returns the schemas of all functions.
func Schemas() []string {
	var all []string
	for _, f := range functions() {
		all = append(all, f.Schema)
	}
	return all
}

// allMembers returns the functions that are members of classes.
var allMembers = sync.OnceValue(func() []*Function {
	return slices.DeleteFunc(slices.Clone(functions()), func(f *Function) bool { return !f.isMember() })
})
