"""Modes that see every operator below autograd: TorchDispatchMode."""

from torchjit._dispatch_modes import BaseTorchDispatchMode as BaseTorchDispatchMode
from torchjit._dispatch_modes import TorchDispatchMode as TorchDispatchMode
from torchjit._dispatch_modes import no_modes as no_modes
