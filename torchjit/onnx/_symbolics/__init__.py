"""How operators are exported: a function for each, in a module for each family. torchjit.onnx._registry imports all of them."""
