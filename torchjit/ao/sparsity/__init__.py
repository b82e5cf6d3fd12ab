"""torch.ao.sparsity: weights with zeros. A sparsifier puts masks on weights, a scheduler changes how many zeros they have.

    sparsifier = WeightNormSparsifier(sparsity_level=0.5)
    sparsifier.prepare(model, config=[{"tensor_fqn": "0.weight"}])
    sparsifier.step()
    sparsifier.squash_mask()
"""

from torchjit.ao.sparsity._mappings import get_dynamic_sparse_quantized_mapping as get_dynamic_sparse_quantized_mapping
from torchjit.ao.sparsity._mappings import get_static_sparse_quantized_mapping as get_static_sparse_quantized_mapping
from torchjit.ao.sparsity.scheduler.base_scheduler import BaseScheduler as BaseScheduler
from torchjit.ao.sparsity.scheduler.cubic_scheduler import CubicSL as CubicSL
from torchjit.ao.sparsity.scheduler.lambda_scheduler import LambdaSL as LambdaSL
from torchjit.ao.sparsity.sparsifier.base_sparsifier import BaseSparsifier as BaseSparsifier
from torchjit.ao.sparsity.sparsifier.nearly_diagonal_sparsifier import (
    NearlyDiagonalSparsifier as NearlyDiagonalSparsifier,
)
from torchjit.ao.sparsity.sparsifier.utils import FakeSparsity as FakeSparsity
from torchjit.ao.sparsity.sparsifier.utils import fqn_to_module as fqn_to_module
from torchjit.ao.sparsity.sparsifier.utils import get_arg_info_from_tensor_fqn as get_arg_info_from_tensor_fqn
from torchjit.ao.sparsity.sparsifier.utils import module_to_fqn as module_to_fqn
from torchjit.ao.sparsity.sparsifier.weight_norm_sparsifier import WeightNormSparsifier as WeightNormSparsifier
