"""torch.backends.xnnpack: kernels for phones, which are not here."""

# Whether XNNPACK computes: it does not.
enabled = False
