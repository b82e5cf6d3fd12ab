"""torch.lobpcg: some eigenvalues of large symmetric matrices, by conjugate gradients in blocks (Knyazev)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import Tensor

__all__ = ["lobpcg"]

_MOST_STEPS = 1000


def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None, iK: Tensor | None = None,
    niter: int | None = None, tol: float | None = None, largest: bool | None = None, method: str | None = None,
    tracker: Callable[[LOBPCG], None] | None = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k largest eigenvalues of A x = e B x, in descending order, and their vectors; with largest=False the smallest, in ascending order.

    A (* x m x m) is symmetric, B (m x m, the identity where None) positive definite too. X (m x n) is what the iteration begins with,
    random where None; n is its width, k where None. iK (m x m) is a preconditioner, nearly the inverse of A. The iteration ends when the
    residuals are below tol, relative to the norms, or after niter steps; tracker(worker) is called after each. Returns E (* x k) and
    X (* x m x k). Where a gradient of A or B is wanted the decomposition is a full one, which has gradients for both results.

    Raises ValueError where m < 3 n, RuntimeError where the elements are not real floats. method and the ortho parameters make no difference.
    """
    assert A.shape[-2] == A.shape[-1], A.shape
    if A.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"lobpcg expects float32 or float64, but found {A.dtype}")
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if m < 3 * n:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested eigenpairs (={n})"
        )
    largest = True if largest is None else largest
    if torch.is_grad_enabled() and (A.requires_grad or B is not None and B.requires_grad):
        return _full(A, B, k, largest)
    iterations = _MOST_STEPS if niter is None or niter <= 0 else niter
    tolerance = torch.finfo(A.dtype).eps ** 0.5 if tol is None else tol
    results = []
    for i, a in enumerate(A.reshape(-1, m, m)):
        pick = [None if x is None else x if x.dim() == 2 else x.reshape(-1, *x.shape[-2:])[i] for x in (B, X, iK)]
        start = torch.randn(m, n, dtype=A.dtype) if pick[1] is None else pick[1]
        worker = LOBPCG(a, pick[0], start, pick[2], {"m": m, "n": n, "k": k, "niter": iterations}, {"tol": tolerance}, {"largest": largest}, tracker)
        worker.run()
        results.append((worker.E[:k], worker.X[:, :k]))
    lead = A.shape[:-2]
    return torch.stack([e for e, _ in results]).reshape(*lead, k), torch.stack([x for _, x in results]).reshape(*lead, m, k)


def _full(A: Tensor, B: Tensor | None, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The result of lobpcg by a decomposition of the whole matrix."""
    A = (A + A.mT) / 2
    if B is None:
        values, vectors = torch.linalg.eigh(A)
    else:
        factor = torch.linalg.cholesky(B)
        inner = torch.linalg.solve_triangular(factor, A, upper=False)
        inner = torch.linalg.solve_triangular(factor, inner.mT, upper=False)
        values, vectors = torch.linalg.eigh((inner + inner.mT) / 2)
        vectors = torch.linalg.solve_triangular(factor.mT, vectors, upper=True)
    if largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]


class LOBPCG:
    """The state of an iteration: X and E are the vectors and values so far, R the residuals; ivars has the number of steps and of those converged."""

    def __init__(
        self, A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None, iparams: Any, fparams: Any, bparams: Any, tracker: Any
    ) -> None:
        self.A, self.B, self.iK = A, B, iK
        self.iparams, self.fparams, self.bparams, self.tracker, self.method = iparams, fparams, bparams, tracker, "ortho"
        self.ivars: dict[str, int] = {"istep": 0, "converged_count": 0}
        self.fvars: dict[str, float] = {"A_norm": float(A.norm()), "B_norm": 1.0 if B is None else float(B.norm())}
        self.bvars: dict[str, bool] = {}
        self.tvars: dict[str, Tensor] = {}
        self.S = self._orthonormal(X)
        self._ritz()

    @torch.no_grad()
    def run(self) -> None:
        """Steps until the residuals are small."""
        directions = self.X[:, :0]
        for step in range(self.iparams["niter"] + 1):
            self.R = self.A @ self.X - self._times_b(self.X) * self.E
            scale = self.X.norm(dim=0) * (self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"])
            self.tvars["rerr"] = self.R.norm(dim=0) / scale
            waiting = self.tvars["rerr"] > self.fparams["tol"]
            self.ivars.update(istep=step, converged_count=int((~waiting).sum()))
            if step and self.tracker is not None:
                self.tracker(self)
            if not bool(waiting[: self.iparams["k"]].any()) or step == self.iparams["niter"]:
                return
            steps = self.R[:, waiting]
            steps = steps if self.iK is None else self.iK @ steps
            before = self.X
            self.S = self._orthonormal(torch.cat([before, steps, directions], 1))
            self._ritz()
            # What has moved X, without what X was.
            directions = self.X - before @ (before.mT @ self._times_b(self.X))

    def _times_b(self, x: Tensor) -> Tensor:
        return x if self.B is None else self.B @ x

    def _orthonormal(self, x: Tensor) -> Tensor:
        """Columns that span those of x and are orthonormal by B; what depends on the others is left out."""
        for _ in range(2):
            x = x / x.norm(dim=0).clamp_min(torch.finfo(x.dtype).tiny)
            values, vectors = torch.linalg.eigh(x.mT @ self._times_b(x))
            kept = values > values[-1] * torch.finfo(x.dtype).eps * x.shape[1] * 10
            x = x @ (vectors[:, kept] / values[kept].sqrt())
        return x

    def _ritz(self) -> None:
        """The best values and vectors in the span of S."""
        values, vectors = torch.linalg.eigh(self.S.mT @ (self.A @ self.S))
        if self.bparams["largest"]:
            values, vectors = values.flip(0), vectors.flip(1)
        n = self.iparams["n"]
        self.E, self.X = values[:n], self.S @ vectors[:, :n]
