"""Parts of modules with quantized weights."""
