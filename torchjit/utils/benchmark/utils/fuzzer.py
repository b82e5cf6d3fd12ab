"""Random arguments for benchmarks: parameters of distributions, and tensors whose sizes and steps are parameters.

    fuzzer = Fuzzer(
        parameters=[FuzzedParameter("n", 16, 1024, distribution="loguniform")],
        tensors=[FuzzedTensor("x", size=("n", "n"), probability_contiguous=0.75)],
        seed=0,
    )
    for tensors, tensor_parameters, parameters in fuzzer.take(10): ...
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias", "dtype_size", "prod"]

_DISTRIBUTIONS = ("loguniform", "uniform")


def dtype_size(dtype: Any) -> int:
    """The bytes of an element."""
    return 1 if dtype == torch.bool else int(dtype.itemsize)


def prod(values: Any, base: int = 1) -> int:
    """The product of numbers, exact for large ones."""
    return functools.reduce(lambda x, y: int(x) * int(y), values, base)


class ParameterAlias:
    """Stands in a distribution for the value of another parameter."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A parameter of a distribution: "uniform" or "loguniform" between two numbers, or a dictionary of values and their probabilities.

    strict: whether it keeps its value where others are drawn again since the limits were not satisfied.
    """

    def __init__(self, name: str, minval: Any = None, maxval: Any = None, distribution: Any = None, strict: bool = False) -> None:
        self._name, self._minval, self._maxval = name, minval, maxval
        self.strict: bool = strict
        self._distribution = self._check_distribution(distribution)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def sample(self, state: Any) -> Any:
        """A value, by a random state of NumPy's."""
        if self._distribution == "loguniform":
            return self._loguniform(state)
        if self._distribution == "uniform":
            return self._uniform(state)
        index = int(state.choice(len(self._distribution), p=list(self._distribution.values())))
        return list(self._distribution)[index]

    def _check_distribution(self, distribution: Any) -> Any:
        if not isinstance(distribution, dict):
            assert distribution in _DISTRIBUTIONS, f"the distribution of '{self._name}' is one of {_DISTRIBUTIONS} or a dictionary, but found {distribution!r}"
        else:
            assert not any(p < 0 for p in distribution.values()), "Probabilities cannot be negative"
            assert abs(sum(distribution.values()) - 1) <= 1e-5, "Distribution is not normalized"
            assert self._minval is None and self._maxval is None, "a dictionary has no limits"
        return distribution

    def _loguniform(self, state: Any) -> Any:
        low, high = (math.log2(x) for x in (self._minval, self._maxval))
        value = 2 ** state.uniform(low=low, high=high)
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            return min(max(int(value), self._minval), self._maxval)
        return value

    def _uniform(self, state: Any) -> Any:
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            return int(state.randint(low=self._minval, high=self._maxval + 1))
        return state.uniform(low=self._minval, high=self._maxval)


class FuzzedTensor:
    """A tensor whose size and steps are parameters or numbers; dim_parameter says how many of the sizes count.

    With probability_contiguous the tensor is contiguous in the order of its dimensions and without steps; else the dimensions lie in a random order, with
    the steps. roll_parameter: by how many places the sizes are rolled.
    """

    def __init__(
        self, name: str, size: Sequence[Any], steps: Sequence[Any] | None = None, probability_contiguous: float = 0.5, min_elements: int | None = None,
        max_elements: int | None = None, max_allocation_bytes: int | None = None, dim_parameter: str | None = None, roll_parameter: str | None = None,
        dtype: Any = torch.float32, cuda: bool = False, tensor_constructor: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self._name, self._size, self._steps = name, tuple(size), None if steps is None else tuple(steps)
        self._probability_contiguous, self._dtype, self._cuda = probability_contiguous, dtype, cuda
        self._min_elements, self._max_elements, self._max_allocation_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._roll = dim_parameter, roll_parameter
        self._tensor_constructor = tensor_constructor or self.default_tensor_constructor

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: Any, **kwargs: Any) -> Any:
        """Random numbers of a size."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size=size, dtype=dtype, device="cpu")
        return torch.randint(1, 127, size=size, dtype=dtype, device="cpu")

    def _make_tensor(self, params: dict[str, Any], state: Any) -> tuple[Any, dict[str, Any]]:
        import numpy as np

        size, steps, allocation = self._get_size_and_steps(params)
        constructor_params = dict(params)
        rank = len(size)
        raw = self._tensor_constructor(size=allocation, dtype=self._dtype, **constructor_params)
        if self._cuda:
            raw = raw.cuda()
        order = np.arange(rank)
        if state.rand() > self._probability_contiguous:
            while rank > 1 and np.all(order == np.arange(rank)):
                order = state.permutation(raw.dim())
            raw = raw.permute(tuple(int(i) for i in order)).contiguous().permute(tuple(int(i) for i in np.argsort(order)))
        made = raw[tuple(slice(0, n * step, step) for n, step in zip(size, steps))]
        properties = {
            "numel": int(made.numel()), "order": order, "steps": steps, "is_contiguous": made.is_contiguous(), "dtype": str(self._dtype),
        }  # fmt: skip
        return made, properties

    def _get_size_and_steps(self, params: dict[str, Any]) -> tuple[Any, Any, Any]:
        rank = params[self._dim_parameter] if self._dim_parameter is not None else len(self._size)

        def resolved(values: Sequence[Any]) -> tuple[int, ...]:
            found = [params.get(value, value) for value in values][:rank]
            return tuple(int(v) for v in [*found, *([1] * (rank - len(found)))])

        size = resolved(self._size)
        steps = resolved(self._steps or ())
        if self._roll is not None:
            by = params.get(self._roll, 0) % max(rank, 1)
            size, steps = size[-by:] + size[:-by] if by else size, steps[-by:] + steps[:-by] if by else steps
        return size, steps, tuple(n * step for n, step in zip(size, steps))

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Whether a tensor with such parameters has neither too few nor too many elements or bytes."""
        size, _, allocation = self._get_size_and_steps(params)
        count = prod(size)
        assert count >= 0
        return not any((
            self._max_elements is not None and count > self._max_elements,
            self._min_elements is not None and count < self._min_elements,
            self._max_allocation_bytes is not None and prod(allocation, base=dtype_size(self._dtype)) > self._max_allocation_bytes,
        ))  # fmt: skip


class Fuzzer:
    """Makes parameters and tensors of them, again until they satisfy the limits of the tensors and the constraints, which are functions of the parameters."""

    def __init__(
        self, parameters: Sequence[Any], tensors: Sequence[Any], constraints: Sequence[Callable[..., bool]] | None = None, seed: int | None = None
    ) -> None:
        import numpy as np

        self._parameters: list[FuzzedParameter] = _flat(parameters, FuzzedParameter)
        self._tensors: list[FuzzedTensor] = _flat(tensors, FuzzedTensor)
        self._constraints = tuple(constraints or ())
        names = [p.name for p in self._parameters] + [t.name for t in self._tensors]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"names that are there twice: {', '.join(sorted(twice))}")
        self._seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64)) if seed is None else seed
        self._rejections = self._total_generated = 0

    def take(self, n: int) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
        """n times tensors, what is known of them, and the parameters. Numbers in tensors depend on the seed, too."""
        import numpy as np

        state = np.random.RandomState(self._seed)
        torch.manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            tensors, known = {}, {}
            for t in self._tensors:
                tensors[t.name], known[t.name] = t._make_tensor(params, state)
            yield tensors, known, params

    @property
    def rejection_rate(self) -> float:
        """Which part of the parameters that were made did not satisfy the limits."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state: Any) -> dict[str, Any]:
        fixed: dict[str, Any] = {}  # strict ones, which are not drawn again
        for _ in range(1000):
            self._total_generated += 1
            params = {}
            for p in self._parameters:
                params[p.name] = fixed[p.name] if p.name in fixed else p.sample(state)
                if p.strict:
                    fixed[p.name] = params[p.name]
            params = _resolved(params)
            if all(f(**params) for f in self._constraints) and all(t.satisfies_constraints(params) for t in self._tensors):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")


def _resolved(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with the values of others where they stand for them."""
    found = dict(params)
    for name, value in params.items():
        seen = {name}
        while isinstance(value, ParameterAlias):
            if value.alias_to in seen:
                raise ValueError(f"the parameter '{name}' stands for itself")
            seen.add(value.alias_to)
            value = params[value.alias_to]
        found[name] = value
    return found


def _flat(values: Any, kind: Any) -> list[Any]:
    """Objects of a class in nested lists."""
    if isinstance(values, kind):
        return [values]
    return [found for value in values for found in _flat(value, kind)]
