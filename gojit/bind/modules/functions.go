package modules

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() {
	abi.Register(moduleFunctions, serializeFunctions, unitMembers, containerMembers, freezeMembers, quantizationMembers, cloneMembers)
}
