"""Arguments for operators: for one tensor, and for two that broadcast."""
