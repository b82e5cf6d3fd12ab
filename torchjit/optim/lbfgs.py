"""The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.optim.optimizer import Optimizer


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last history_size pairs of steps and changes of the gradient.

    One group of parameters; step takes a closure that computes the loss and the gradients and is called many
    times. line_search_fn: None, or "strong_wolfe".

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], lr=0.5)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w * w).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)
    >>> w.detach().abs().max() < 1e-3
    tensor(True)
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self) -> Any:
        self._take_gradients()
        return torch.cat([torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1) for p in self._params])

    def _move(self, t: float, direction: Any) -> None:
        offset = 0
        for p in self._params:
            p.add_(direction[offset : offset + p.numel()].view_as(p), alpha=t)
            offset += p.numel()

    def _restore(self, values: list[Any]) -> None:
        for p, v in zip(self._params, values):
            p.copy_(v)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss")
        with torch.no_grad():
            return self._step(torch.enable_grad()(closure))

    def _step(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evaluations = float(first), 1
        state["func_evals"] += 1
        grad = self._gradient()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        memory = _Memory(state, group["history_size"])
        direction: Any
        direction, t, last = state.get("d"), state.get("t"), state.get("prev_flat_grad")
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = grad.neg()
                memory.clear()
            else:
                memory.add(direction.mul(t), grad.sub(last))
                direction = memory.direction(grad)
            last, last_loss = grad.clone(), loss
            t = min(1.0, 1.0 / float(grad.abs().sum())) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]

                def evaluate(x: float, start: Any = start, direction: Any = direction) -> tuple[float, Any]:
                    self._move(x, direction)
                    value = float(closure())
                    gradient = self._gradient()
                    self._restore(start)
                    return value, gradient

                loss, grad, t, calls = strong_wolfe(evaluate, t, direction, loss, grad, slope)
                self._move(t, direction)
                optimal = bool(grad.abs().max() <= group["tolerance_grad"])
            else:
                self._move(t, direction)
                optimal = False
                if iterations != group["max_iter"]:
                    with torch.enable_grad():
                        loss = float(closure())
                    grad = self._gradient()
                    optimal = bool(grad.abs().max() <= group["tolerance_grad"])
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if (
                iterations == group["max_iter"]
                or evaluations >= group["max_eval"]
                or optimal
                or float(direction.mul(t).abs().max()) <= group["tolerance_change"]
                or abs(loss - last_loss) < group["tolerance_change"]
            ):
                break
        state.setdefault("al", [None] * group["history_size"])
        state.update(d=direction, t=t, prev_flat_grad=last, prev_loss=last_loss if iterations else loss)
        return first


class _Memory:
    """The last steps and changes of the gradient, oldest first, in the optimizer's state."""

    def __init__(self, state: dict[str, Any], size: int) -> None:
        self.state, self.size = state, size
        for name in ("old_dirs", "old_stps", "ro"):
            state.setdefault(name, [])
        state.setdefault("H_diag", 1)

    def clear(self) -> None:
        for name in ("old_dirs", "old_stps", "ro"):
            self.state[name].clear()
        self.state["H_diag"] = 1

    def add(self, step: Any, change: Any) -> None:
        product = change.dot(step)
        if product > 1e-10:
            if len(self.state["old_dirs"]) == self.size:
                for name in ("old_dirs", "old_stps", "ro"):
                    self.state[name].pop(0)
            self.state["old_dirs"].append(change)
            self.state["old_stps"].append(step)
            self.state["ro"].append(1.0 / product)
            self.state["H_diag"] = product / change.dot(change)

    def direction(self, grad: Any) -> Any:
        """Minus the product of the approximate inverse Hessian with the gradient, by two loops."""
        changes, steps, ro = self.state["old_dirs"], self.state["old_stps"], self.state["ro"]
        q = grad.neg()
        weights = []
        for change, step, r in zip(reversed(changes), reversed(steps), reversed(ro)):
            weights.append(step.dot(q) * r)
            q.add_(change * -weights[-1])
        q = q.mul(self.state["H_diag"])
        for change, step, r, w in zip(changes, steps, ro, reversed(weights)):
            q.add_(step * (w - change.dot(q) * r))
        return q


def _cubic(x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two values and slopes is least, within bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        least = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        least = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(least, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Any]],
    t: float,
    direction: Any,
    loss: float,
    grad: Any,
    slope: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance: float = 1e-9,
    limit: int = 25,
) -> tuple[float, Any, float, int]:
    """A step along direction that keeps the strong conditions of Wolfe: loss, gradient, step, and the number of evaluations."""
    scale = float(direction.abs().max())
    value, gradient = evaluate(t)
    calls = 1
    new_slope = float(gradient.dot(direction))
    before = (0.0, loss, grad.clone(), slope)
    bracket: list[Any] = []
    found = False
    steps = 0
    while steps < limit:
        here = (t, value, gradient.clone(), new_slope)
        if value > loss + c1 * t * slope or (steps > 1 and value >= before[1]):
            bracket = [before, here]
            break
        if abs(new_slope) <= -c2 * slope:
            bracket, found = [here], True
            break
        if new_slope >= 0:
            bracket = [before, here]
            break
        least, most = t + 0.01 * (t - before[0]), t * 10
        following = _cubic(before[0], before[1], before[3], t, value, new_slope, (least, most))
        before, t = here, following
        value, gradient = evaluate(t)
        calls += 1
        new_slope = float(gradient.dot(direction))
        steps += 1
    if not bracket:
        bracket = [(0.0, loss, grad, slope), (t, value, gradient, new_slope)]
    crept = False
    low, high = (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    while not found and steps < limit:
        (x0, f0, _, g0), (x1, f1, _, g1) = bracket
        if abs(x1 - x0) * scale < tolerance:
            break
        t = _cubic(x0, f0, g0, x1, f1, g1)
        left, right = min(x0, x1), max(x0, x1)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            # Close to an end for the second time, or beyond it: keep a tenth away.
            if crept or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                crept = False
            else:
                crept = True
        else:
            crept = False
        value, gradient = evaluate(t)
        calls += 1
        new_slope = float(gradient.dot(direction))
        steps += 1
        here = (t, value, gradient.clone(), new_slope)
        if value > loss + c1 * t * slope or value >= bracket[low][1]:
            bracket[high] = here
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            if abs(new_slope) <= -c2 * slope:
                found = True
            elif new_slope * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = here
    best = bracket[low] if len(bracket) == 2 else bracket[0]
    return best[1], best[2], best[0], calls
