"""The memory of CUDA devices. torch.cuda has the same names."""

from __future__ import annotations

from torchjit.cuda import (
    caching_allocator_alloc as caching_allocator_alloc,
)
from torchjit.cuda import (
    caching_allocator_delete as caching_allocator_delete,
)
from torchjit.cuda import (
    empty_cache as empty_cache,
)
from torchjit.cuda import (
    list_gpu_processes as list_gpu_processes,
)
from torchjit.cuda import (
    max_memory_allocated as max_memory_allocated,
)
from torchjit.cuda import (
    max_memory_cached as max_memory_cached,
)
from torchjit.cuda import (
    max_memory_reserved as max_memory_reserved,
)
from torchjit.cuda import (
    mem_get_info as mem_get_info,
)
from torchjit.cuda import (
    memory_allocated as memory_allocated,
)
from torchjit.cuda import (
    memory_cached as memory_cached,
)
from torchjit.cuda import (
    memory_reserved as memory_reserved,
)
from torchjit.cuda import (
    memory_snapshot as memory_snapshot,
)
from torchjit.cuda import (
    memory_stats as memory_stats,
)
from torchjit.cuda import (
    memory_stats_as_nested_dict as memory_stats_as_nested_dict,
)
from torchjit.cuda import (
    memory_summary as memory_summary,
)
from torchjit.cuda import (
    reset_accumulated_memory_stats as reset_accumulated_memory_stats,
)
from torchjit.cuda import (
    reset_max_memory_allocated as reset_max_memory_allocated,
)
from torchjit.cuda import (
    reset_max_memory_cached as reset_max_memory_cached,
)
from torchjit.cuda import (
    reset_peak_memory_stats as reset_peak_memory_stats,
)
from torchjit.cuda import (
    set_per_process_memory_fraction as set_per_process_memory_fraction,
)
