"""torch.onnx.symbolic_opset9: nothing is exported, so no operator is described here."""
