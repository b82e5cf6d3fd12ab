"""torch.ao.ns: comparisons of quantized models with the models that they were."""
