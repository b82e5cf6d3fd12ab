"""functorch.experimental: see control_flow."""
