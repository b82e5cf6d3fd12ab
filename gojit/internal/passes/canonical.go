package passes

import (
	"sort"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// CanonicalizeOutputs puts the outputs of each prim::If and prim::Loop into the order of their
// first uses.
func CanonicalizeOutputs(g *ir.Graph) { canonicalizeOutputs(g.Block()) }

func canonicalizeOutputs(b *ir.Block) {
	for n := b.Last(); n != nil; n = n.Prev() {
		switch n.Kind() {
		case "prim::Loop":
			permuteLoop(n, useOrder(n.Outputs()))
		case "prim::If":
			order := useOrder(n.Outputs())
			if sort.IntsAreSorted(order) { // as they are
				break
			}
			for _, inner := range n.Blocks() {
				inner.ReturnNode().PermuteInputs(order)
			}
			n.PermuteOutputs(order)
		}
		for _, inner := range n.Blocks() {
			canonicalizeOutputs(inner)
		}
	}
}

// useOrder returns the positions of vs in the order of their first uses; those without come last.
func useOrder(vs []*ir.Value) []int {
	order := make([]int, len(vs))
	first := make([]*ir.Use, len(vs))
	for i, v := range vs {
		order[i] = i
		for k := range v.Uses() {
			u := v.Uses()[k]
			if first[i] == nil || useBefore(u, *first[i]) {
				first[i] = &u
			}
		}
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := first[order[i]], first[order[j]]
		if a == nil || b == nil {
			return a != nil
		}
		return useBefore(*a, *b)
	})
	return order
}

func useBefore(a, b ir.Use) bool {
	if a.User == b.User {
		return a.Index < b.Index
	}
	return a.User.IsBefore(b.User)
}

// permuteLoop reorders the carried values of a loop.
func permuteLoop(n *ir.Node, order []int) {
	shifted := func(by int) []int {
		out := make([]int, 0, len(order)+by)
		for i := range by {
			out = append(out, i)
		}
		for _, i := range order {
			out = append(out, i+by)
		}
		return out
	}
	body := n.Blocks()[0]
	n.PermuteOutputs(order)
	body.ReturnNode().PermuteInputs(shifted(1))
	n.PermuteInputs(shifted(2))
	body.ParamNode().PermuteOutputs(shifted(1))
}

// aliases are the second names of operators.
var aliases = map[string]string{
	"aten::absolute": "aten::abs", "aten::absolute_": "aten::abs_", "aten::clip": "aten::clamp", "aten::clip_": "aten::clamp_",
	"aten::det": "aten::linalg_det", "aten::linalg_det": "aten::linalg_det", "aten::ger": "aten::outer",
	"aten::arccos": "aten::acos", "aten::arccos_": "aten::acos_", "aten::arcsin": "aten::asin", "aten::arcsin_": "aten::asin_",
	"aten::arctan": "aten::atan", "aten::arctan_": "aten::atan_", "aten::arctan2": "aten::atan2", "aten::arctan2_": "aten::atan2_",
	"aten::arccosh": "aten::acosh", "aten::arccosh_": "aten::acosh_", "aten::arcsinh": "aten::asinh", "aten::arcsinh_": "aten::asinh_",
	"aten::arctanh": "aten::atanh", "aten::arctanh_": "aten::atanh_", "aten::fix": "aten::trunc", "aten::fix_": "aten::trunc_",
	"aten::negative": "aten::neg", "aten::negative_": "aten::neg_", "aten::subtract": "aten::sub", "aten::subtract_": "aten::sub_",
	"aten::greater_equal": "aten::ge", "aten::greater_equal_": "aten::ge_", "aten::greater": "aten::gt", "aten::greater_": "aten::gt_",
	"aten::less_equal": "aten::le", "aten::less_equal_": "aten::le_", "aten::less": "aten::lt", "aten::less_": "aten::lt_",
	"aten::not_equal": "aten::ne", "aten::not_equal_": "aten::ne_", "aten::divide": "aten::div", "aten::divide_": "aten::div_",
	"aten::multiply": "aten::mul", "aten::multiply_": "aten::mul_", "aten::linalg_matmul": "aten::matmul",
	"aten::inverse": "aten::linalg_inv", "aten::true_divide": "aten::div", "aten::true_divide_": "aten::div_",
	"aten::concat": "aten::cat", "aten::concatenate": "aten::cat", "aten::row_stack": "aten::vstack",
	"aten::swapaxes": "aten::transpose", "aten::swapaxes_": "aten::transpose_", "aten::swapdims": "aten::transpose",
	"aten::swapdims_": "aten::transpose_", "aten::moveaxis": "aten::movedim", "aten::special_erf": "aten::erf",
	"aten::special_erfc": "aten::erfc", "aten::special_erfinv": "aten::erfinv", "aten::special_expit": "aten::sigmoid",
	"aten::special_exp2": "aten::exp2", "aten::special_expm1": "aten::expm1", "aten::special_logit": "aten::logit",
	"aten::special_logsumexp": "aten::logsumexp", "aten::special_round": "aten::round", "aten::special_log1p": "aten::log1p",
	"aten::special_sinc": "aten::sinc", "aten::special_digamma": "aten::digamma", "aten::special_psi": "aten::digamma",
	"aten::special_i0": "aten::i0", "aten::special_xlogy": "aten::xlogy", "aten::special_gammaln": "aten::lgamma",
	"aten::special_polygamma": "aten::polygamma", "aten::special_softmax": "aten::softmax",
	"aten::special_log_softmax": "aten::log_softmax", "aten::special_multigammaln": "aten::mvlgamma",
	"aten::special_gammainc": "aten::igamma", "aten::special_gammaincc": "aten::igammac",
	"aten::orgqr": "aten::linalg_householder_product", "aten::adjoint": "aten::mH",
	"aten::_linalg_svd": "aten::_linalg_svd", "aten::matrix_exp": "aten::linalg_matrix_exp", "aten::matrix_power": "aten::linalg_matrix_power",
}

// NormalizedName returns the name that NormalizeOps gives to calls of an operator.
func NormalizedName(name string) string {
	if kind, ok := aliases[name]; ok {
		return kind
	}
	return name
}

// NormalizeOps gives operators with several names one of them, turns aten::rsub into aten::sub and
// tests of truth values for identity into tests for equality.
func NormalizeOps(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		kind, ok := aliases[n.Kind()]
		switch {
		case ok && kind != n.Kind():
			rename(n, kind)
		case n.Kind() == "aten::rsub" && len(n.Inputs()) == 3 && n.Input(1).Type().Kind() == types.KindTensor:
			n.PermuteInputs([]int{1, 0, 2})
			rename(n, "aten::sub")
		case n.Is("aten::__is__", "aten::__isnot__") && isBool(n.Input(0)) && isBool(n.Input(1)):
			if n.Kind() == "aten::__is__" {
				rename(n, "aten::eq")
			} else {
				rename(n, "aten::ne")
			}
		}
	})
}

func isBool(v *ir.Value) bool { return v.Type().Kind() == types.KindBool }

// rename replaces n by a node of another kind that is the same in all else.
func rename(n *ir.Node, kind string) {
	g := n.Graph()
	m := g.Create(kind, n.Inputs(), 0).SetRange(n.Range).InsertBefore(n)
	for _, out := range n.Outputs() {
		out.ReplaceAllUsesWith(m.AddOutput().CopyMetadata(out))
	}
	n.Destroy()
}

// AnnotateWarnings numbers the calls of aten::warn, so that each place warns once.
func AnnotateWarnings(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == "aten::warn" {
			if _, ok := n.Attr("warn_id"); !ok {
				n.SetAttr("warn_id", nextWarning.Add(1)-1)
			}
		}
	})
}
