"""torch.testing: comparing tensors, and checking printed graphs."""

from torchjit.testing._comparison import assert_allclose as assert_allclose
from torchjit.testing._comparison import assert_close as assert_close
from torchjit.testing._filecheck import FileCheck as FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close"]
