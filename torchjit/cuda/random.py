"""Streams of random numbers of CUDA devices. torch.cuda has the same names."""

from __future__ import annotations

from torchjit.cuda import (
    get_rng_state as get_rng_state,
)
from torchjit.cuda import (
    get_rng_state_all as get_rng_state_all,
)
from torchjit.cuda import (
    initial_seed as initial_seed,
)
from torchjit.cuda import (
    manual_seed as manual_seed,
)
from torchjit.cuda import (
    manual_seed_all as manual_seed_all,
)
from torchjit.cuda import (
    seed as seed,
)
from torchjit.cuda import (
    seed_all as seed_all,
)
from torchjit.cuda import (
    set_rng_state as set_rng_state,
)
from torchjit.cuda import (
    set_rng_state_all as set_rng_state_all,
)
