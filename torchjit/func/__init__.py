"""torch.func: functions of functions. vmap makes of a function of samples one of batches; grad, vjp, jvp and kin give derivatives.

They nest in any order: vmap(grad(f)) gives gradients for each sample, grad(grad(f)) second derivatives, jacfwd(jacrev(f)) a Hessian.
"""

from torchjit.func._gradients import grad as grad
from torchjit.func._gradients import grad_and_value as grad_and_value
from torchjit.func._gradients import hessian as hessian
from torchjit.func._gradients import jacfwd as jacfwd
from torchjit.func._gradients import jacrev as jacrev
from torchjit.func._gradients import jvp as jvp
from torchjit.func._gradients import linearize as linearize
from torchjit.func._gradients import vjp as vjp
from torchjit.func._modules import functional_call as functional_call
from torchjit.func._modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from torchjit.func._modules import stack_module_state as stack_module_state
from torchjit.func._vmap import vmap as vmap
