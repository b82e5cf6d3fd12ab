"""Descriptions of operators with sample inputs, for tests that go through operators."""

from torchjit.testing._internal.opinfo import core as core
from torchjit.testing._internal.opinfo import definitions as definitions
