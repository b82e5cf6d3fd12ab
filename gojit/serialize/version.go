package serialize

import "torchjit/gojit/ir"

// minimalVersion is that of archives whose operators mean what they have meant since PyTorch 1.4.
const minimalVersion = 3

// operatorVersions are the versions from which on readers give operators the meaning that they have now. An
// archive has the least version at which all of its operators are read as they are meant.
var operatorVersions = map[string]int{
	"aten::div.Tensor": 4, "aten::div.Tensor_mode": 4, "aten::div.Scalar": 4, "aten::div.Scalar_mode": 4,
	"aten::div.out": 4, "aten::div.out_mode": 4, "aten::div_.Tensor": 4, "aten::div_.Tensor_mode": 4,
	"aten::div_.Scalar": 4, "aten::div_.Scalar_mode": 4, "aten::full": 5, "aten::full.names": 5, "aten::full.out": 5,
	"aten::linspace": 8, "aten::linspace.out": 8, "aten::logspace": 9, "aten::logspace.out": 9,
	"aten::gelu": 10, "aten::gelu.out": 10,
}

// versionOf returns the least version that the operators of a block, and of those inside it, need.
func versionOf(b *ir.Block) int {
	version := minimalVersion
	b.Walk(func(n *ir.Node) {
		if n.Kind() == "prim::fork" {
			version = max(version, versionOf(n.GraphAttr("Subgraph").Block()))
		}
		if o := n.Operator(); o != nil {
			version = max(version, operatorVersions[o.Schema().QualifiedName()])
		}
	})
	return version
}
