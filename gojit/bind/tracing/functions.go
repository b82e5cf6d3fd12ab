package tracing

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() { abi.Register(traceFunctions, tracingMembers, exportFunctions) }
