package graphs

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() {
	abi.Register(drawFunctions, graphMembers, nodeMembers, attributeMembers, valueMembers, typeMembers, schemaMembers, aliasMembers, logged(passMembers), fileCheckMembers, inferMembers,
		shapeMembers)
}
