"""Batch normalization."""

from typing import Any, Optional

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn import init
from torchjit.nn.modules.lazy import LazyModuleMixin
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from torchjit.types import Device

# ruff: noqa: UP045, A002


class _NormBase(Module):
    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]  # type: list[str]
    num_features: int
    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options: Any = {"device": device, "dtype": dtype}
        if self.affine:
            self.weight: Parameter = Parameter(torch.empty([num_features], **options))
            self.bias: Parameter = Parameter(torch.empty([num_features], **options))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if self.track_running_stats:
            self.register_buffer("running_mean", torch.zeros([num_features], **options))
            self.register_buffer("running_var", torch.ones([num_features], **options))
            self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.long))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                state_dict[key] = torch.tensor(0, dtype=torch.long)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        if self.momentum is None:
            exponential_average_factor = 0.0
        else:
            exponential_average_factor = self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    exponential_average_factor = 1.0 / float(self.num_batches_tracked)
                else:
                    exponential_average_factor = self.momentum
        if self.training:
            bn_training = True
        else:
            bn_training = (self.running_mean is None) and (self.running_var is None)
        return F.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            bn_training,
            exponential_average_factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of 2D or 3D input.

    Takes floats, halves and complex numbers, of 2 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError or ValueError
    for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.BatchNorm1d(3)
    >>> x = torch.rand(4, 3)
    >>> m(x).mean(0).abs() < 1e-5
    tensor([True, True, True])
    """

    def _check_input_dim(self, input):
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))  # noqa: UP032


class BatchNorm2d(_BatchNorm):
    """Batch normalization of planes.

    Takes floats, halves and complex numbers, of 4 dimensions. Gradients flow to the input and the parameters. Raises ValueError for other
    numbers of dimensions and RuntimeError for other types.

    >>> m = nn.BatchNorm2d(3)
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4])
    """

    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError("expected 4D input (got {}D input)".format(input.dim()))  # noqa: UP032


class BatchNorm3d(_BatchNorm):
    """Batch normalization of volumes.

    Takes floats, halves and complex numbers, of 5 dimensions. Gradients flow to the input and the parameters. Raises ValueError for other
    numbers of dimensions and RuntimeError for other types.

    >>> m = nn.BatchNorm3d(3)
    >>> x = torch.rand(2, 3, 4, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    def _check_input_dim(self, input):
        if input.dim() != 5:
            raise ValueError("expected 5D input (got {}D input)".format(input.dim()))  # noqa: UP032


class SyncBatchNorm(_BatchNorm):
    """Batch normalization; on one process, the only process_group, the same as the others.

    >>> m = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))
    >>> m[0]
    SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: object = None, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """A module whose batch normalizations are of this class, with the same parameters. What is no such module keeps its place."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group)
            converted.__dict__.update(_parameters=module._parameters, _buffers=module._buffers, training=module.training)
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError("expected at least 2D input (got {}D input)".format(input.dim()))  # noqa: UP032


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """What lazy normalizations share: num_features is the size of the first input's channels."""

    def __init__(
        self, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self._begin(affine, track_running_stats, {"device": device, "dtype": dtype})

    def _begin(self, affine: bool, track_running_stats: bool, options) -> None:
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight: Tensor = UninitializedParameter(**options)  # type: ignore[assignment]
            self.bias: Tensor = UninitializedParameter(**options)  # type: ignore[assignment]
        if track_running_stats:
            self.running_mean: Tensor = UninitializedBuffer(**options)
            self.running_var: Tensor = UninitializedBuffer(**options)
            self.num_batches_tracked: Tensor = torch.tensor(0, dtype=torch.long)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if not self.has_uninitialized_params():
            return
        self.num_features: int = input.shape[self._channels(input)]
        if self.affine:
            self.weight.materialize((self.num_features,))  # type: ignore[attr-defined]
            self.bias.materialize((self.num_features,))  # type: ignore[attr-defined]
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))  # type: ignore[attr-defined]
            self.running_var.materialize((self.num_features,))  # type: ignore[attr-defined]
        self.reset_parameters()

    def _channels(self, input) -> int:
        return 1


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises IndexError or
    ValueError for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyBatchNorm1d()
    >>> x = torch.rand(4, 3)
    >>> m(x).shape
    torch.Size([4, 3])
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 4 dimensions. Gradients flow to the input and the parameters. Raises IndexError or ValueError
    for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyBatchNorm2d()
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that learns num_features from its first input.

    Takes floats, halves and complex numbers, of 5 dimensions. Gradients flow to the input and the parameters. Raises IndexError or ValueError
    for other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyBatchNorm3d()
    >>> x = torch.rand(2, 3, 4, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim
