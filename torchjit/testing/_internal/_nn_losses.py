"""Losses by their definitions, element by element, for tests to hold those of torch.nn.functional to."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torchjit as torch


def _reduced(losses: Any, reduction: str, count: Any = None) -> Any:
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / (losses.numel() if count is None else count)


def kldivloss_reference(input: Any, target: Any, reduction: str = "mean") -> Any:
    """KLDivLoss: target * (log(target) - input)."""
    return _reduced(torch.where(target > 0, target * (target.clamp(min=1e-45).log() - input), torch.zeros_like(input)), reduction)


def kldivloss_log_target_reference(input: Any, target: Any, reduction: str = "mean") -> Any:
    """KLDivLoss of a target that is a logarithm."""
    return _reduced(target.exp() * (target - input), reduction)


def nlllossNd_reference(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:  # noqa: N802
    """NLLLoss of inputs with dimensions behind that of the classes."""
    assert input.dim() >= 3
    return _nll(input, target, weight, ignore_index, reduction)


def nllloss_reference(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """NLLLoss of a batch or of one sample."""
    if input.dim() == 1:
        made = _nll(input.unsqueeze(0), target.unsqueeze(0), weight, ignore_index, reduction)
        return made.squeeze(0) if reduction == "none" else made
    return _nll(input, target, weight, ignore_index, reduction)


def _nll(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    losses, total = torch.zeros_like(target, dtype=input.dtype), torch.zeros((), dtype=input.dtype)
    for place in itertools.product(*map(range, target.shape)):
        label = int(target[place])
        if label != ignore_index:
            factor = 1.0 if weight is None else float(weight[label])
            losses[place] = -factor * input[tuple((place[0], label, *place[1:]))]
            total += factor
    return _reduced(losses, reduction, total)


def cross_entropy_loss_prob_target_reference(input: Any, target: Any, weight: Any = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """CrossEntropyLoss of a target of probabilities."""
    classes = input.size(1)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    logs = torch.log_softmax(input, 1)
    if weight is not None:
        logs = logs * weight.reshape(1, classes, *(1,) * (input.dim() - 2))
    return _reduced(-(logs * target).sum(1), reduction, input.numel() // classes)


def cross_entropy_loss_indices_target_reference(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
) -> Any:
    """CrossEntropyLoss of a target of classes."""
    logs = torch.log_softmax(input, 1)
    plain = nllloss_reference(logs, target, weight, ignore_index, reduction)
    if label_smoothing <= 0:
        return plain
    factors = torch.ones(input.size(1), dtype=input.dtype) if weight is None else weight
    smooth = -(logs * factors.reshape(1, -1, *(1,) * (input.dim() - 2))).sum(1)
    kept = target != ignore_index
    smooth = torch.where(kept, smooth, torch.zeros_like(smooth))
    count = factors[target.clamp(min=0)].where(kept, torch.zeros((), dtype=factors.dtype)).sum()
    return (1 - label_smoothing) * plain + label_smoothing / input.size(1) * _reduced(smooth, reduction, count)


def cross_entropy_loss_reference(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
) -> Any:
    """CrossEntropyLoss."""
    if input.shape == target.shape:
        return cross_entropy_loss_prob_target_reference(input, target, weight, reduction, label_smoothing)
    return cross_entropy_loss_indices_target_reference(input, target, weight, ignore_index, reduction, label_smoothing)


def smoothl1loss_reference(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """SmoothL1Loss: a parabola near 0, else straight."""
    apart = (input - target).abs()
    return _reduced(torch.where(apart < beta, apart**2 / (2 * beta) if beta else apart, apart - beta / 2), reduction)


def huberloss_reference(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """HuberLoss."""
    apart = (input - target).abs()
    return _reduced(torch.where(apart <= delta, apart**2 / 2, delta * (apart - delta / 2)), reduction)


def hingeembeddingloss_reference(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """HingeEmbeddingLoss: the distance of pairs that belong together, what is missing to the margin of others."""
    return _reduced(torch.where(target == 1, input, (margin - input).clamp(min=0)), reduction)


def softmarginloss_reference(input: Any, target: Any, reduction: str = "mean") -> Any:
    """SoftMarginLoss."""
    return _reduced((-target * input).exp().log1p(), reduction)


def multilabelmarginloss_reference(input: Any, target: Any, reduction: str = "mean") -> Any:
    """MultiLabelMarginLoss: the classes of a sample end before the first -1."""
    rows, labels = input.reshape(-1, input.size(-1)), target.reshape(-1, target.size(-1))
    losses = []
    for row, given in zip(rows, labels, strict=True):
        wanted = list(itertools.takewhile(lambda i: i >= 0, given.tolist()))
        others = [j for j in range(row.numel()) if j not in wanted]
        losses.append(sum(max(0.0, 1 - float(row[i]) + float(row[j])) for i in wanted for j in others) / row.numel())
    made = torch.tensor(losses, dtype=input.dtype)
    return _reduced(made if input.dim() > 1 else made.squeeze(), reduction)


def multimarginloss_reference(input: Any, target: Any, p: int = 1, margin: float = 1, weight: Any = None, reduction: str = "mean") -> Any:
    """MultiMarginLoss."""
    losses = []
    for row, label in zip(input.reshape(-1, input.size(-1)), target.reshape(-1).tolist(), strict=True):
        factor = 1.0 if weight is None else float(weight[label])
        losses.append(sum(factor * max(0.0, margin - float(row[label]) + float(x)) ** p for j, x in enumerate(row) if j != label) / row.numel())
    made = torch.tensor(losses, dtype=input.dtype)
    return _reduced(made if input.dim() > 1 else made.squeeze(), reduction)


def cosineembeddingloss_reference(input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean") -> Any:
    """CosineEmbeddingLoss."""
    cosine = (input1 * input2).sum(-1) / (input1.norm(dim=-1) * input2.norm(dim=-1))
    return _reduced(torch.where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0)), reduction)


def tripletmarginloss_reference(anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: int = 2, eps: float = 1e-6, swap: bool = False, reduction: str = "mean") -> Any:
    """TripletMarginLoss."""
    near, far = torch.pairwise_distance(anchor, positive, p, eps), torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + near - far).clamp(min=0), reduction)


def marginrankingloss_reference(input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean") -> Any:
    """MarginRankingLoss."""
    return _reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def ctcloss_reference(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean") -> Any:
    """CTCLoss: the probability of all ways to read the labels, with blanks between them."""
    lengths = torch.as_tensor(target_lengths, dtype=torch.long)
    losses, start = [], 0
    for i, (steps, count) in enumerate(zip(torch.as_tensor(input_lengths).tolist(), lengths.tolist(), strict=True)):
        labels = (targets[i, :count] if targets.dim() > 1 else targets[start : start + count]).tolist()
        start += count
        states = [blank, *(x for label in labels for x in (label, blank))]
        row = log_probs[:steps, i].double()
        alpha = [float(row[0, states[s]]) if s < 2 else -math.inf for s in range(len(states))]
        for t in range(1, steps):
            before, alpha = alpha, []
            for s, state in enumerate(states):
                ways = [before[s], *([before[s - 1]] if s else []), *([before[s - 2]] if s > 1 and state not in (blank, states[s - 2]) else [])]
                top = max(ways)
                alpha.append(-math.inf if top == -math.inf else top + math.log(sum(math.exp(w - top) for w in ways)) + float(row[t, state]))
        ends = alpha[-2:]
        top = max(ends)
        losses.append(math.inf if top == -math.inf else -(top + math.log(sum(math.exp(w - top) for w in ends))))
    made = torch.tensor(losses, dtype=log_probs.dtype)
    if reduction == "mean":
        return (made / lengths.to(made.dtype).clamp(min=1)).mean()
    return made.sum() if reduction == "sum" else made


loss_reference_fns = {
    "KLDivLoss": kldivloss_reference, "KLDivLoss_log_target": kldivloss_log_target_reference, "NLLLoss": nllloss_reference, "NLLLossNd": nlllossNd_reference,
    "SmoothL1Loss": smoothl1loss_reference, "HuberLoss": huberloss_reference, "MultiLabelMarginLoss": multilabelmarginloss_reference,
    "HingeEmbeddingLoss": hingeembeddingloss_reference, "SoftMarginLoss": softmarginloss_reference, "MultiMarginLoss": multimarginloss_reference,
    "CosineEmbeddingLoss": cosineembeddingloss_reference, "TripletMarginLoss": tripletmarginloss_reference, "MarginRankingLoss": marginrankingloss_reference,
    "CTCLoss": ctcloss_reference, "CrossEntropyLoss": cross_entropy_loss_reference,
}  # fmt: skip
