"""Helpers around modules."""

from torchjit.nn.utils import parametrizations as parametrizations
from torchjit.nn.utils import parametrize as parametrize
from torchjit.nn.utils import prune as prune
from torchjit.nn.utils import rnn as rnn
from torchjit.nn.utils import stateless as stateless
from torchjit.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from torchjit.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from torchjit.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from torchjit.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from torchjit.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from torchjit.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
from torchjit.nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
from torchjit.nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
from torchjit.nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
from torchjit.nn.utils.init import skip_init as skip_init
from torchjit.nn.utils.memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from torchjit.nn.utils.spectral_norm import remove_spectral_norm as remove_spectral_norm
from torchjit.nn.utils.spectral_norm import spectral_norm as spectral_norm
from torchjit.nn.utils.weight_norm import remove_weight_norm as remove_weight_norm
from torchjit.nn.utils.weight_norm import weight_norm as weight_norm
