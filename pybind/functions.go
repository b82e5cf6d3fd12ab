package main

import "slices"

// registered are the functions that Python sees, by the file that has them.
var registered = slices.Concat(
	libraryFunctions,
	hostFunctions,
	operatorFunctions,
	tensorFunctions,
	indexFunctions,
	makeFunctions,
	dlpackFunctions,
	typeFunctions,
	gradFunctions,
	programFunctions,
	scriptFunctions,
	moduleFunctions,
	serializeFunctions,
	traceFunctions,
	profileFunctions,
)

// registeredSchemas are the schemas of all functions. It is filled by init because a function
// replies it.
var registeredSchemas []string

func init() {
	for _, f := range registered {
		registeredSchemas = append(registeredSchemas, f.schema)
	}
}
