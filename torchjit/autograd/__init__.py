"""torch.autograd: what is recorded for gradients."""

from torchjit.autograd.grad_mode import enable_grad as enable_grad
from torchjit.autograd.grad_mode import inference_mode as inference_mode
from torchjit.autograd.grad_mode import no_grad as no_grad
from torchjit.autograd.grad_mode import set_grad_enabled as set_grad_enabled


class Variable:
    """A tensor; kept for old programs."""

    def __new__(cls, data, requires_grad=False):
        return data.requires_grad_(requires_grad) if requires_grad else data
