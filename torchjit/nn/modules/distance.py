"""Distances between vectors."""

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module


class PairwiseDistance(Module):
    """The norm of the difference of two vectors.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.0, 0.0]])
    >>> nn.PairwiseDistance(p=2)(x, torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    __constants__ = ["norm", "eps", "keepdim"]  # type: list[str]
    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between two vectors.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> nn.CosineSimilarity(dim=1)(x, torch.tensor([[2.0, 0.0], [1.0, -1.0]]))
    tensor([1., 0.])
    """

    __constants__ = ["dim", "eps"]  # type: list[str]
    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
