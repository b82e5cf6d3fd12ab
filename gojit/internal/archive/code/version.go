package code

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// MinimalVersion is that of archives whose operators mean what they have meant since PyTorch 1.4.
const MinimalVersion = 3

// Upgrade is a change of what an operator, given with its overload, means.
type Upgrade struct {
	Operator string
	// Version is that of archives from which on readers give the operator the meaning that it has now.
	Version int
	// Name is how PyTorch calls what gives the operator of an older archive its old meaning, and OldSchema what it was called with.
	Name, OldSchema string
}

// Upgrades are all changes since version 3. An archive has the least version at which all of its operators are read as they are meant.
var Upgrades = []Upgrade{
	{"aten::div.Scalar", 4, "div_Scalar_0_3", "aten::div.Scalar(Tensor self, Scalar other) -> Tensor"},
	{"aten::div.Scalar_mode", 4, "div_Scalar_mode_0_3", "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"},
	{"aten::div.Tensor", 4, "div_Tensor_0_3", "aten::div.Tensor(Tensor self, Tensor other) -> Tensor"},
	{"aten::div.Tensor_mode", 4, "div_Tensor_mode_0_3", "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"},
	{"aten::div.out", 4, "div_out_0_3", "aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"},
	{"aten::div.out_mode", 4, "div_out_mode_0_3", "aten::div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)"},
	{"aten::div_.Scalar", 4, "div__Scalar_0_3", "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"},
	{"aten::div_.Scalar_mode", 4, "div__Scalar_mode_0_3", "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)"},
	{"aten::div_.Tensor", 4, "div__Tensor_0_3", "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"},
	{"aten::div_.Tensor_mode", 4, "div__Tensor_mode_0_3", "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)"},
	{aten.Full, 5, "full_0_4", "aten::full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"},
	{"aten::full.names", 5, "full_names_0_4", "aten::full.names(int[] size, Scalar fill_value, *, Dimname[]? names, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"},
	{"aten::full.out", 5, "full_out_0_4", "aten::full.out(int[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)"},
	{aten.Gelu, 10, "gelu_0_9", "aten::gelu(Tensor self) -> Tensor"},
	{"aten::gelu.out", 10, "gelu_out_0_9", "aten::gelu.out(Tensor self, *, Tensor(a!) out) -> Tensor"},
	{aten.Linspace, 8, "linspace_0_7", "aten::linspace(Scalar start, Scalar end, int? steps=None, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"},
	{"aten::linspace.out", 8, "linspace_out_0_7", "aten::linspace.out(Scalar start, Scalar end, int? steps=None, *, Tensor(a!) out) -> Tensor(a!)"},
	{aten.Logspace, 9, "logspace_0_8", "aten::logspace(Scalar start, Scalar end, int? steps=None, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"},
	{"aten::logspace.out", 9, "logspace_out_0_8", "aten::logspace.out(Scalar start, Scalar end, int? steps=None, float base=10.0, *, Tensor(a!) out) -> Tensor(a!)"},
}

var operatorVersions = func() map[string]int {
	versions := map[string]int{}
	for _, u := range Upgrades {
		versions[u.Operator] = u.Version
	}
	return versions
}()

// versionOf returns the least version that the operators of a block, and of those inside it, need.
func versionOf(b *ir.Block) int {
	version := MinimalVersion
	b.Walk(func(n *ir.Node) {
		if n.Is(prim.Fork, prim.Awaitable) {
			version = max(version, versionOf(n.GraphAttr("Subgraph").Block()))
		}
		if o := n.Operator(); o != nil {
			version = max(version, operatorVersions[o.Schema().QualifiedName()])
		}
	})
	return version
}
