package pt2archive

import "strings"

// gone are operators of 1.13 that PyTorch 2.15 does not have, without those of named dimensions.
const gone = ` _flash_scaled_dot_product_attention _scaled_dot_product_attention_forward _nested_tensor_layer_norm _nested_tensor_offsets
 _sparse_mask_helper _symeig_helper align_as align_tensors align_to cholesky diag_backward frobenius_norm prelu_backward qr refine_names rename symeig `

// isGone reports whether PyTorch 2.15 does not have an operator of aten.
func isGone(target string) bool {
	name, isAten := strings.CutPrefix(target, "aten::")
	base, overload, _ := strings.Cut(name, ".")
	overload = strings.ToLower(overload)
	named := strings.Contains(overload, "names") || strings.Contains(overload, "dimname")
	return isAten && (named || strings.Contains(strings.ReplaceAll(gone, "\n", ""), " "+base+" ") || strings.HasSuffix(base, "_backward") && overload == "vec")
}
