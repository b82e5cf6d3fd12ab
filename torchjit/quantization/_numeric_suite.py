"""The former name of torch.ao.ns._numeric_suite."""

from torchjit.ao.ns._numeric_suite import (
    NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST as NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST,
)
from torchjit.ao.ns._numeric_suite import Logger as Logger
from torchjit.ao.ns._numeric_suite import OutputLogger as OutputLogger
from torchjit.ao.ns._numeric_suite import Shadow as Shadow
from torchjit.ao.ns._numeric_suite import ShadowLogger as ShadowLogger
from torchjit.ao.ns._numeric_suite import compare_model_outputs as compare_model_outputs
from torchjit.ao.ns._numeric_suite import compare_model_stub as compare_model_stub
from torchjit.ao.ns._numeric_suite import compare_weights as compare_weights
from torchjit.ao.ns._numeric_suite import get_logger_dict as get_logger_dict
from torchjit.ao.ns._numeric_suite import get_matching_activations as get_matching_activations
from torchjit.ao.ns._numeric_suite import prepare_model_outputs as prepare_model_outputs
from torchjit.ao.ns._numeric_suite import prepare_model_with_stubs as prepare_model_with_stubs
