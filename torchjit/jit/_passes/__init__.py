"""Passes over graphs that are written in Python."""
