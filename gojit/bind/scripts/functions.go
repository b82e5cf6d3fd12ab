package scripts

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() {
	abi.Register(engineFunctions, programFunctions, scriptMembers, profileFunctions, lineProfileFunctions, statisticsFunctions)
}
