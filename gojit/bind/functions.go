package bind

import (
	"slices"
	"sync"
)

// registered are the functions that Python sees, by the file that has them.
var registered = slices.Concat(
	libraryFunctions, commandFunctions, optimizerFunctions,
	hostFunctions,
	operatorFunctions,
	defineFunctions,
	tensorFunctions,
	indexFunctions,
	makeFunctions,
	dlpackFunctions,
	typeFunctions,
	gradFunctions, gradNodeFunctions, profilerFunctions, cudaFunctions, drawFunctions, adviceFunctions, statisticsFunctions,
	programFunctions,
	scriptMembers,
	moduleFunctions,
	serializeFunctions,
	dispatchFunctions,
	decomposeFunctions,
	preserveFunctions,
	safeTensorsFunctions,
	exportFunctions,
	traceFunctions, tracingMembers,
	profileFunctions, lineProfileFunctions,
	memberFunctions,
	graphMembers,
	nodeMembers,
	attributeMembers,
	valueMembers,
	typeMembers,
	schemaMembers,
	unitMembers,
	containerMembers,
	aliasMembers,
	logged(passMembers),
	fileCheckMembers,
	inferMembers,
	freezeMembers, quantizationMembers, shapeMembers, cloneMembers,
)

// registeredSchemas are the schemas of all functions. It is filled by init because a function
// replies it; registeredMembers likewise.
var (
	registeredSchemas []string
	registeredMembers func() []*function
)

func init() {
	registeredMembers = sync.OnceValue(func() []*function {
		return slices.DeleteFunc(slices.Clone(functions()), func(f *function) bool { return !f.isMember() })
	})
	for _, f := range registered {
		registeredSchemas = append(registeredSchemas, f.schema)
	}
}
