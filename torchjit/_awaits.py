"""The name by which PyTorch 2 has the class of calls that run when they are waited for."""

from torchjit.jit._await import _Await as _Await
