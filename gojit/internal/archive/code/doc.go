// Package code prints programs as the Python source that archives hold, and notes where in the program's own text each
// part of it comes from.
//
// An Exporter prints the definitions that were asked for and all that these refer to, each into the Printer of its record;
// origins.go writes the places; version.go holds which operators have changed their meaning, from which the version of an
// archive follows.
package code
