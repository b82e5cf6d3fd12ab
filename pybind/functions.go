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
	typeFunctions,
	gradFunctions,
	programFunctions,
	scriptFunctions,
	moduleFunctions,
)
