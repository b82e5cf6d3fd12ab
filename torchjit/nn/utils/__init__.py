"""Helpers around modules."""

from torchjit.nn.utils import rnn as rnn
