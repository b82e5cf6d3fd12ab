"""Modules whose functions tests compile."""
