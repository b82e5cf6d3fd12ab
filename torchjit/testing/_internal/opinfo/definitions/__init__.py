"""The tables of operators, by family."""

from typing import Any

from torchjit.testing._internal.opinfo.definitions import _masked as _masked
from torchjit.testing._internal.opinfo.definitions import elementwise as elementwise
from torchjit.testing._internal.opinfo.definitions import fft as fft
from torchjit.testing._internal.opinfo.definitions import linalg as linalg
from torchjit.testing._internal.opinfo.definitions import nn as nn
from torchjit.testing._internal.opinfo.definitions import reductions as reductions
from torchjit.testing._internal.opinfo.definitions import shapes as shapes
from torchjit.testing._internal.opinfo.definitions import special as special

op_db = [*fft.op_db, *linalg.op_db, *special.op_db, *_masked.op_db]

# Definitions in Python that operators could be held to: there are none.
python_ref_db: list[Any] = []
