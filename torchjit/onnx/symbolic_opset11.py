"""torch.onnx.symbolic_opset11: nothing is exported, so no operator is described here."""
