"""Passes over FX graphs."""
