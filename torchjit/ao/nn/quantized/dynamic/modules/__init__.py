"""The modules, by theme."""
