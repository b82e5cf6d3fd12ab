"""Instance normalization."""

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.batchnorm import _LazyNormBase, _NormBase
from torchjit.types import Device

# ruff: noqa: A002


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def _get_no_batch_dim(self):
        raise NotImplementedError

    def _handle_no_batch_input(self, input):
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input):
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum,
            self.eps,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        if input.dim() == self._get_no_batch_dim():
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of lines.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises ValueError for other numbers of
    dimensions and RuntimeError for other types.

    >>> m = nn.InstanceNorm1d(3)
    >>> x = torch.rand(2, 3, 8)
    >>> m(x).shape
    torch.Size([2, 3, 8])
    """

    def _get_no_batch_dim(self):
        return 2

    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))  # noqa: UP032


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of planes.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises ValueError for other numbers of
    dimensions and RuntimeError for other types.

    >>> m = nn.InstanceNorm2d(3)
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4])
    """

    def _get_no_batch_dim(self):
        return 3

    def _check_input_dim(self, input):
        if input.dim() not in (3, 4):
            raise ValueError("expected 3D or 4D input (got {}D input)".format(input.dim()))  # noqa: UP032


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input. Raises ValueError for other numbers of
    dimensions and RuntimeError for other types.

    >>> m = nn.InstanceNorm3d(3)
    >>> x = torch.rand(2, 3, 4, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    def _get_no_batch_dim(self):
        return 4

    def _check_input_dim(self, input):
        if input.dim() not in (4, 5):
            raise ValueError("expected 4D or 5D input (got {}D input)".format(input.dim()))  # noqa: UP032


class _LazyInstanceNorm(_LazyNormBase, _InstanceNorm):
    def __init__(
        self, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype)

    def _channels(self, input) -> int:
        return 0 if input.dim() == self._get_no_batch_dim() else 1


class LazyInstanceNorm1d(_LazyInstanceNorm):
    """An InstanceNorm1d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises IndexError or
    ValueError for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyInstanceNorm1d()
    >>> x = torch.rand(2, 3, 8)
    >>> m(x).shape
    torch.Size([2, 3, 8])
    """

    cls_to_become = InstanceNorm1d
    _get_no_batch_dim, _check_input_dim = InstanceNorm1d._get_no_batch_dim, InstanceNorm1d._check_input_dim


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """An InstanceNorm2d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input and the parameters. Raises IndexError or
    ValueError for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyInstanceNorm2d()
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d
    _get_no_batch_dim, _check_input_dim = InstanceNorm2d._get_no_batch_dim, InstanceNorm2d._check_input_dim


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """An InstanceNorm3d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input and the parameters. Raises IndexError or
    ValueError for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyInstanceNorm3d()
    >>> x = torch.rand(2, 3, 4, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = InstanceNorm3d
    _get_no_batch_dim, _check_input_dim = InstanceNorm3d._get_no_batch_dim, InstanceNorm3d._check_input_dim
