"""How sparsity changes with epochs."""
