"""Points that fill the unit cube evenly: Sobol' sequences, with the direction numbers of Joe and Kuo and Owen's scrambling by random matrices."""

from __future__ import annotations

import torchjit as torch


class SobolEngine:
    """Draws the points of a Sobol' sequence in [0, 1)^dimension, at most 2^30 of them.

    The first point is the origin, or with `scramble` a random one; scrambled sequences are other ones for each `seed`, and for each state of
    the global generator where there is none. Raises ValueError for dimensions outside of 1 to MAXDIM.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        cpu = torch.device("cpu")
        self.sobolstate: torch.Tensor = torch.zeros(dimension, self.MAXBIT, device=cpu, dtype=torch.long)
        torch._sobol_engine_initialize_state_(self.sobolstate, self.dimension)
        if self.scramble:
            self._scramble()
        else:
            self.shift: torch.Tensor = torch.zeros(self.dimension, device=cpu, dtype=torch.long)
        self.quasi: torch.Tensor = self.shift.clone(memory_format=torch.contiguous_format)
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        """Draws a shift and a triangular matrix of bits for each dimension, and multiplies the state by the matrices."""
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        shape = (self.dimension, self.MAXBIT)
        bits = torch.randint(2, shape, generator=generator, device="cpu")
        self.shift = torch.mv(bits, torch.pow(2, torch.arange(0, self.MAXBIT, device="cpu")))
        matrices = torch.randint(2, (*shape, self.MAXBIT), generator=generator, device="cpu").tril()
        torch._sobol_engine_scramble_(self.sobolstate, matrices, self.dimension)

    def draw(self, n: int = 1, out: torch.Tensor | None = None, dtype: torch.dtype | None = None) -> torch.Tensor:
        """The next n points as the rows of a tensor [n, dimension] of `dtype` (float32 or float64), or in `out`, which is resized."""
        if dtype is None:
            dtype = torch.get_default_dtype()
        started = self.num_generated > 0
        if not started and n == 1:
            points = self._first_point.to(dtype)
        else:
            # The first point is the shift itself: the sequence behind it has one less.
            behind = (n, self.num_generated - 1) if started else (n - 1, 0)
            points, self.quasi = torch._sobol_engine_draw(self.quasi, behind[0], self.sobolstate, self.dimension, behind[1], dtype=dtype)
            if not started:
                points = torch.cat((self._first_point.to(dtype), points), dim=-2)
        self.num_generated += n
        return points if out is None else out.resize_as_(points).copy_(points)

    def draw_base2(self, m: int, out: torch.Tensor | None = None, dtype: torch.dtype | None = None) -> torch.Tensor:
        """The next 2^m points. Raises ValueError where all points would not be a power of two: only then are they balanced."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been previously generated, "
                f"then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Goes back to the first point, with the same scrambling."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skips n points."""
        if self.num_generated == 0:
            torch._sobol_engine_ff_(self.quasi, n - 1, self.sobolstate, self.dimension, 0)
        else:
            torch._sobol_engine_ff_(self.quasi, n, self.sobolstate, self.dimension, self.num_generated - 1)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        shown = [f"dimension={self.dimension}"]
        if self.scramble:
            shown.append("scramble=True")
        if self.seed is not None:
            shown.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(shown)})"
