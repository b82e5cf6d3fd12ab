"""torch.testing: comparing tensors, and checking printed graphs."""

from torchjit.testing._comparison import assert_allclose as assert_allclose
from torchjit.testing._comparison import assert_close as assert_close
from torchjit.testing._filecheck import FileCheck as FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close"]
from torchjit import _lazy
from torchjit.testing._creation import make_tensor as make_tensor
from torchjit.testing._dtypes import *  # noqa: F403
from torchjit.testing._dtypes import _dispatch_dtypes as _dispatch_dtypes
from torchjit.testing._dtypes import _validate_dtypes as _validate_dtypes

__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "rand randn",
    "torchjit.testing._legacy": "_legacy= get_all_math_dtypes",
})  # fmt: skip
