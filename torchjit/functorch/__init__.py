"""functorch, of which there is control flow alone: `from functorch.experimental.control_flow import cond`."""
