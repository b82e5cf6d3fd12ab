"""Modules that tests load by their files."""
