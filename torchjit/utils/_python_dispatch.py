"""Modes that see every operator below autograd: TorchDispatchMode."""

from torchjit._dispatch_modes import BaseTorchDispatchMode as BaseTorchDispatchMode
from torchjit._dispatch_modes import TorchDispatchMode as TorchDispatchMode
from torchjit._dispatch_modes import _get_current_dispatch_mode as _get_current_dispatch_mode
from torchjit._dispatch_modes import _get_current_dispatch_mode_stack as _get_current_dispatch_mode_stack
from torchjit._dispatch_modes import _get_dispatch_stack_at as _get_dispatch_stack_at
from torchjit._dispatch_modes import _len_torch_dispatch_stack as _len_torch_dispatch_stack
from torchjit._dispatch_modes import _pop_mode as _pop_mode
from torchjit._dispatch_modes import _pop_mode as _pop_torch_dispatch_stack  # noqa: F401
from torchjit._dispatch_modes import _pop_mode_temporarily as _pop_mode_temporarily
from torchjit._dispatch_modes import _push_mode as _push_mode
from torchjit._dispatch_modes import _push_mode as _push_on_torch_dispatch_stack  # noqa: F401
from torchjit._dispatch_modes import no_modes as no_modes
