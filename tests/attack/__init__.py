"""Attacks the library: hostile arguments, files, programs and threads, each in processes that may die.

`python -m tests.attack` (or `.ci/run attack`) runs all parts for some minutes; `--help` tells the rest.
"""
