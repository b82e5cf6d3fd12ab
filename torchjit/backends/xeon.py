"""torch.backends.xeon: PyTorch's launcher has no counterpart here."""
