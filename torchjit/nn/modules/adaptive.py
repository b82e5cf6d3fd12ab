"""A softmax for many classes, most of which are rare."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.container import ModuleList, Sequential
from torchjit.nn.modules.linear import Linear
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: A002



class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes in clusters: the frequent ones in the head, rarer ones in smaller and smaller tails.

    in_features is the size of the last dimension of the input, n_classes the number of classes, cutoffs their ends: labels
    below the first cutoff are in the head. The width of a tail is in_features divided by a power of div_value.
    Raises ValueError for cutoffs that do not grow, or are not between 1 and n_classes - 1.

    >>> m = nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10])
    >>> out = m(torch.rand(4, 8), torch.tensor([0, 6, 12, 19]))
    >>> out.output.shape, out.loss.shape
    (torch.Size([4]), torch.Size([]))
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options: Any = {"device": device, "dtype": dtype}
        cutoffs = list(cutoffs)
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                "between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size: int = self.cutoffs[0]
        self.n_clusters: int = len(self.cutoffs) - 1
        self.head_size: int = self.shortlist_size + self.n_clusters
        self.head: Linear = Linear(self.in_features, self.head_size, bias=self.head_bias, **options)
        self.tail: ModuleList = ModuleList()
        for i in range(self.n_clusters):
            width = int(self.in_features // self.div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(self.in_features, width, bias=False, **options), Linear(width, classes, bias=False, **options))
            )

    def reset_parameters(self) -> None:
        self.head.reset_parameters()
        for first, second in self.tail:  # type: ignore[attr-defined]
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """(output, loss) of input (N x in_features) or (in_features) and target (N) or (): output has the target's shape and
        holds the log-probabilities of the targets, loss their negative mean.
        """
        is_batched = target_.dim() > 0
        self._check(input_, target_)
        input = input_ if is_batched else input_.unsqueeze(0)
        target = target_ if is_batched else target_.unsqueeze(0)
        used = 0
        output = input.new_zeros(target.size(0))
        gathered = target.new_empty(target.size(0))
        ends = [0, *self.cutoffs]
        for i in range(len(ends) - 1):
            mask = (target >= ends[i]) & (target < ends[i + 1])
            rows = mask.nonzero().squeeze()
            if rows.numel() == 0:
                continue
            if i == 0:
                gathered.index_copy_(0, rows, target[mask])
            else:
                relative = target[mask] - ends[i]
                logits = self.tail[i - 1](input.index_select(0, rows))
                gathered.index_fill_(0, rows, self.shortlist_size + i - 1)
                found = F.log_softmax(logits, dim=1).gather(1, relative.unsqueeze(1))
                output.index_copy_(0, rows, found.squeeze(1))
            used += rows.numel()
        if used != target.numel():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, {target.max().item()}] were found. "
            )
        output = output + F.log_softmax(self.head(input), dim=1).gather(1, gathered.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}"
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i in range(self.n_clusters):
            cluster = F.log_softmax(self.tail[i](input), dim=1)
            out[:, self.cutoffs[i] : self.cutoffs[i + 1]] = cluster + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities of all classes (N x n_classes) of an input (N x in_features)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row of an input (N x in_features)."""
        head_output = self.head(input)
        output = torch.argmax(head_output, dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        if rare.all():
            return torch.argmax(self._get_full_log_prob(input, head_output), dim=1)
        output[rare] = torch.argmax(self._get_full_log_prob(input[rare], head_output[rare]), dim=1)
        return output
