"""Passes over graphs of any operators."""
