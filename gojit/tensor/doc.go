// Package tensor holds n-dimensional arrays and what needs no operator: element types and their
// promotion, devices, storages, shapes, views, indexing, copies and printing.
//
// Central types: Tensor, a strided view into a Storage; DType, numbered as PyTorch numbers its
// scalar types; Scalar, a Python number; Loop, the walk over several tensors of one shape.
//
// Invariant: every element that a Tensor's shape and strides can reach lies inside its Storage.
// Tensors that share a Storage share its version. The package knows no operator and no graph.
package tensor
