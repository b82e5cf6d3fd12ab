"""torch.ao.quantization.fx: passes over graphs of modules that make them quantized ones.

    trace -> fuse -> prepare (observers) -> convert (quantize and dequantize around them) -> lower (quantized operators)

`patterns` says which nodes a pattern of a backend configuration is, `qconfigs` which configuration a node has.
"""
