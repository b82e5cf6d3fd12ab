"""torch.onnx._internal: what symbolic functions are called with."""
