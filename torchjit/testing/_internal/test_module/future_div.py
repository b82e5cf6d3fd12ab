"""Functions of a file that asks for true division."""

from __future__ import division  # noqa: UP010  (what these functions are for)


def div_int_future():
    return 1 / 2


def div_float_future():
    return 3.14 / 0.125
