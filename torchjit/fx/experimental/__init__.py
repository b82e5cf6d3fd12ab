"""Parts of torch.fx that PyTorch may change."""
