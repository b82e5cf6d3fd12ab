"""Losses."""

from collections.abc import Callable
from typing import Optional

from torchjit import Tensor
from torchjit.nn import _reduction
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module

# ruff: noqa: UP045, A002


class _Loss(Module):
    reduction: str

    def __init__(
        self, size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        if size_average is not None or reduce is not None:
            self.reduction = _reduction.legacy_get_string(size_average, reduce)
        else:
            self.reduction = reduction


class _WeightedLoss(_Loss):
    def __init__(
        self, weight: Optional[Tensor] = None, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.weight: Optional[Tensor]


class L1Loss(_Loss):
    """Absolute differences.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 2.0])
    >>> nn.L1Loss()(x, torch.tensor([1.5, 2.0]))
    tensor(0.2500)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared differences.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 2.0])
    >>> nn.MSELoss()(x, torch.tensor([1.5, 2.0]))
    tensor(0.1250)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Negative log likelihood.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.log_softmax(torch.tensor([[2.0, 0.5, 0.1]]), 1)
    >>> nn.NLLLoss()(x, torch.tensor([0]))
    tensor(0.3168)
    """

    __constants__ = ["ignore_index", "reduction"]  # type: list[str]
    ignore_index: int

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        ignore_index: int = -100,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of NLLLoss.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.log_softmax(torch.rand(1, 3, 2, 2), 1)
    >>> nn.NLLLoss2d()(x, torch.zeros(1, 2, 2, dtype=torch.int64)).shape
    torch.Size([])
    """

    def __init__(
        self, weight: Optional[Tensor] = None, size_average: Optional[bool] = None, ignore_index: int = -100,
        reduce: Optional[bool] = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        import warnings

        warnings.warn("NLLLoss2d has been deprecated. Please use NLLLoss instead as a drop-in replacement and see https://pytorch.org/docs/master/nn.html#torch.nn.NLLLoss for more details.", stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of Poisson counts.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.0, 1.0])
    >>> nn.PoissonNLLLoss()(x, torch.tensor([1.0, 2.0]))
    tensor(0.8591)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]  # type: list[str]
    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Optional[bool] = None,
        eps: float = 1e-8,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of a normal distribution.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.0, 1.0])
    >>> nn.GaussianNLLLoss()(x, torch.tensor([1.0, 2.0]), torch.ones(2))
    tensor(0.5000)
    """

    __constants__ = ["full", "eps", "reduction"]  # type: list[str]
    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.log(torch.tensor([[0.5, 0.5]]))
    >>> nn.KLDivLoss(reduction="batchmean")(x, torch.tensor([[0.9, 0.1]]))
    tensor(0.3681)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def __init__(
        self, size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = "mean",
        log_target: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of class scores.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[2.0, 0.5, 0.1], [0.1, 3.0, 0.2]])
    >>> nn.CrossEntropyLoss()(x, torch.tensor([0, 1]))
    tensor(0.2132)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]  # type: list[str]
    ignore_index: int
    label_smoothing: float

    def __init__(
        self, weight: Optional[Tensor] = None, size_average: Optional[bool] = None, ignore_index: int = -100,
        reduce: Optional[bool] = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities of two classes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.9, 0.2])
    >>> nn.BCELoss()(x, torch.tensor([1.0, 0.0]))
    tensor(0.1643)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of scores of two classes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([2.0, -1.0])
    >>> nn.BCEWithLogitsLoss()(x, torch.tensor([1.0, 0.0]))
    tensor(0.2201)
    """

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        pos_weight: Optional[Tensor] = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.weight: Optional[Tensor]
        self.pos_weight: Optional[Tensor]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class SmoothL1Loss(_Loss):
    """Squares of small differences, absolute values of large ones.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 5.0])
    >>> nn.SmoothL1Loss()(x, torch.tensor([1.5, 2.0]))
    tensor(1.3125)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def __init__(
        self, size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squares of differences below delta, lines above.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 5.0])
    >>> nn.HuberLoss(delta=2.0)(x, torch.tensor([1.5, 2.0]))
    tensor(2.0625)
    """

    __constants__ = ["reduction", "delta"]  # type: list[str]

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SoftMarginLoss(_Loss):
    """Logistic loss of labels 1 and -1.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([2.0, -1.0])
    >>> nn.SoftMarginLoss()(x, torch.tensor([1.0, -1.0]))
    tensor(0.2201)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """How far other classes come near any of the right ones.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
    >>> nn.MultiLabelMarginLoss()(x, torch.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Cross entropy of independent labels.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[2.0, -1.0]])
    >>> nn.MultiLabelSoftMarginLoss()(x, torch.tensor([[1.0, 0.0]]))
    tensor(0.2201)
    """

    __constants__ = ["reduction"]  # type: list[str]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """How far other classes come near the right one.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.1, 0.2, 0.8]])
    >>> nn.MultiMarginLoss()(x, torch.tensor([2]))
    tensor(0.2333)
    """

    __constants__ = ["p", "margin", "reduction"]  # type: list[str]
    margin: float
    p: int

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p != 1 and p != 2:
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"weight must be None or 1-dimensional, but got a tensor of {weight.dim()} dimensions")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """How much farther than margin the negative is than the positive, by a distance of the caller's.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.0, 0.0]])
    >>> nn.TripletMarginWithDistanceLoss()(x, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.5]]))
    tensor(0.5000)
    """

    __constants__ = ["margin", "swap", "reduction"]  # type: list[str]

    def __init__(
        self, *, distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.distance_function: Callable[[Tensor, Tensor], Tensor] = F.pairwise_distance if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MarginRankingLoss(_Loss):
    """How far two scores are from being in order.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.5, 0.2])
    >>> nn.MarginRankingLoss(margin=0.1)(x, torch.tensor([0.4, 0.4]), torch.tensor([1.0, 1.0]))
    tensor(0.1500)
    """

    __constants__ = ["margin", "reduction"]  # type: list[str]
    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """The distance of similar pairs, what dissimilar ones lack to a margin.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.5, 0.2])
    >>> nn.HingeEmbeddingLoss()(x, torch.tensor([1.0, -1.0]))
    tensor(0.6500)
    """

    __constants__ = ["margin", "reduction"]  # type: list[str]
    margin: float

    def __init__(
        self, margin: float = 1.0, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """Cosine distance of similar pairs, cosine of dissimilar ones.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[1.0, 0.0]])
    >>> nn.CosineEmbeddingLoss()(x, torch.tensor([[1.0, 1.0]]), torch.tensor([1]))
    tensor(0.2929)
    """

    __constants__ = ["margin", "reduction"]  # type: list[str]
    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """What the distance to a negative lacks to that to a positive plus a margin.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.0, 0.0]])
    >>> nn.TripletMarginLoss()(x, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.5]]))
    tensor(0.5000)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]  # type: list[str]
    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification loss.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.full((4, 1, 3), -1.0986)
    >>> nn.CTCLoss()(x, torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2]))
    tensor(0.8432)
    """

    __constants__ = ["blank", "reduction"]  # type: list[str]
    blank: int
    zero_infinity: bool

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
