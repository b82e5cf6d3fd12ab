# Operators that are gradients of others: PyTorch's archives and graphs name them. See composite.go.


def _own_mean(x, reduction: int, like) -> Tensor:
    if reduction == 1:
        return x / like.numel()
    return x


# ---- activations ----

def sigmoid_backward(grad_output, output):
    if output.is_complex():
        return grad_output * (1 - output).conj() * output.conj()
    return grad_output * (output * (1 - output))

def tanh_backward(grad_output, output):
    if output.is_complex():
        return grad_output * (1 - output * output).conj()
    return grad_output * (1 - output * output)

def softplus_backward(grad_output, self, beta: number, threshold: number):
    return torch.where(self * beta > threshold, grad_output, grad_output * torch.sigmoid(self * beta))

def silu_backward(grad_output, self):
    s = torch.sigmoid(self)
    return grad_output * (s * (1 + self * (1 - s)))

def mish_backward(grad_output, self):
    t = torch.tanh(torch.softplus(self))
    return grad_output * (t + self * torch.sigmoid(self) * (1 - t * t))

def gelu_backward(grad_output, self, approximate: str):
    if approximate == "tanh":
        t = torch.tanh((self + self * self * self * 0.044715) * 0.7978845608028654)
        inner = (self * self * 0.134145 + 1) * 0.7978845608028654
        return grad_output * ((t + 1) * 0.5 + self * (1 - t * t) * inner * 0.5)
    cumulative = (torch.erf(self * 0.7071067811865476) + 1) * 0.5
    return grad_output * (cumulative + self * (torch.exp(self * self * -0.5) * 0.3989422804014327))

def infinitely_differentiable_gelu_backward(grad, self):
    cdf = torch.erfc(self * -0.7071067811865476) * 0.5
    return grad * (cdf + self * torch.exp(self * self * -0.5) * 0.3989422804014327)

def log_sigmoid_backward(grad_output, self, buffer):
    return grad_output * torch.sigmoid(-self)

def logit_backward(grad_output, self, eps: Optional[float]):
    slope = grad_output / (self * (1 - self))
    if eps is None or eps < 0:
        inside = torch.logical_and(self >= 0, self <= 1)
        return torch.where(inside, slope, torch.full_like(self, float("nan")))
    inside = torch.logical_and(self >= eps, self <= 1 - eps)
    return torch.where(inside, slope, torch.zeros_like(self))

def _softmax_backward_data(grad_output, output, dim: int, input_dtype: int):
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, True)).to(input_dtype)

def _log_softmax_backward_data(grad_output, output, dim: int, input_dtype: int):
    return (grad_output - torch.exp(output) * grad_output.sum(dim, True)).to(input_dtype)

def rrelu_with_noise_backward(grad_output, self, noise, lower: number, upper: number, training: bool, self_is_result: bool):
    if training and float(upper) - float(lower) > 1e-6:
        return grad_output * noise
    return torch.where(self > 0, grad_output, grad_output * ((float(lower) + float(upper)) / 2.0))

def native_dropout_backward(grad_output, mask, scale: float):
    return grad_output * (mask.to(grad_output.dtype) * scale)


# ---- losses ----

def mse_loss_backward(grad_output, self, target, reduction: int):
    return _own_mean(grad_output * 2.0 * (self - target), reduction, self)

def smooth_l1_loss_backward(grad_output, self, target, reduction: int, beta: float):
    x = self - target
    return _own_mean(torch.where(torch.abs(x) < beta, grad_output * x / beta, grad_output * torch.sign(x)), reduction, self)

def huber_loss_backward(grad_output, self, target, reduction: int, delta: float):
    x = self - target
    return _own_mean(torch.where(torch.abs(x) < delta, grad_output * x, grad_output * delta * torch.sign(x)), reduction, self)

def soft_margin_loss_backward(grad_output, self, target, reduction: int):
    z = torch.exp(-target * self)
    return _own_mean(grad_output * (-target * z) / (z + 1.0), reduction, self)

def binary_cross_entropy_backward(grad_output, self, target, weight: Optional[Tensor], reduction: int):
    found = grad_output * (self - target) / torch.clamp_min((1.0 - self) * self, 1e-12)
    if weight is not None:
        found = found * weight
    return _own_mean(found, reduction, self)


# ---- convolutions and products ----

def linear_backward(self, grad_output, weight, output_mask: List[bool]):
    flat = grad_output.reshape([-1, grad_output.size(-1)])
    return grad_output.matmul(weight), flat.t().mm(self.reshape([-1, self.size(-1)])), flat.sum(0)

# ---- normalization ----

def native_layer_norm_backward(grad_out, input, normalized_shape: List[int], mean, rstd, weight: Optional[Tensor], bias: Optional[Tensor], output_mask: List[bool]):
    outer = input.dim() - len(normalized_shape)
    dims = [0]
    dims.clear()
    for d in range(outer, input.dim()):
        dims.append(d)
    rows = [0]
    rows.clear()
    for d in range(outer):
        rows.append(d)
    normal = (input - mean) * rstd
    g = grad_out
    if weight is not None:
        g = grad_out * weight
    inner = g - g.mean(dims, True) - normal * (g * normal).mean(dims, True)
    grad_weight = grad_out * normal
    grad_bias = grad_out
    if outer > 0:
        grad_weight = grad_weight.sum(rows)
        grad_bias = grad_bias.sum(rows)
    return inner * rstd, grad_weight, grad_bias

def native_batch_norm_backward(grad_out, input, weight: Optional[Tensor], running_mean: Optional[Tensor], running_var: Optional[Tensor], save_mean: Optional[Tensor], save_invstd: Optional[Tensor], train: bool, eps: float, output_mask: List[bool]):
    shape = [1, input.size(1)]
    dims = [0]
    for d in range(2, input.dim()):
        shape.append(1)
        dims.append(d)
    if train:
        assert save_mean is not None and save_invstd is not None
        mean = save_mean.view(shape)
        rstd = save_invstd.view(shape)
    else:
        assert running_mean is not None and running_var is not None
        mean = running_mean.view(shape)
        rstd = torch.rsqrt(running_var + eps).view(shape)
    normal = (input - mean) * rstd
    grad_weight = (grad_out * normal).sum(dims)
    grad_bias = grad_out.sum(dims)
    g = grad_out
    if weight is not None:
        g = grad_out * weight.view(shape)
    if train:
        g = g - g.mean(dims, True) - normal * (g * normal).mean(dims, True)
    return g * rstd, grad_weight, grad_bias

def native_group_norm_backward(grad_out, input, mean, rstd, weight: Optional[Tensor], N: int, C: int, HxW: int, group: int, output_mask: List[bool]):
    width = C // group * HxW
    normal = (input.reshape([N, group, width]) - mean.unsqueeze(-1)) * rstd.unsqueeze(-1)
    plain = grad_out.reshape([N, C, HxW])
    g = plain
    if weight is not None:
        g = plain * weight.view([1, C, 1])
    h = g.reshape([N, group, width])
    inner = (h - h.mean([2], True) - normal * (h * normal).mean([2], True)) * rstd.unsqueeze(-1)
    return inner.view_as(input), (plain * normal.reshape([N, C, HxW])).sum([0, 2]), plain.sum([0, 2])


# ---- views and selections ----

def trace_backward(grad, sizes: List[int]):
    return torch.eye(sizes[0], sizes[1], dtype=grad.dtype, device=grad.device) * grad

def index_select_backward(grad, self_sizes: List[int], dim: int, index):
    return torch.zeros(self_sizes, dtype=grad.dtype, device=grad.device).index_add(dim, index, grad)

def masked_select_backward(grad, input, mask):
    both = torch.broadcast_tensors([torch.zeros_like(input.detach()), mask])
    return torch.masked_scatter(both[0], both[1], grad).sum_to_size(input.shape)

def gather_backward(grad, self, dim: int, index, sparse_grad: bool):
    return torch.zeros_like(self.detach()).scatter_add(dim, index, grad)

def value_selecting_reduction_backward(grad, dim: int, indices, sizes: List[int], keepdim: bool):
    if len(sizes) == 0:
        return grad
    if keepdim:
        return torch.zeros(sizes, dtype=grad.dtype, device=grad.device).scatter(dim, indices, grad)
    return torch.zeros(sizes, dtype=grad.dtype, device=grad.device).scatter(dim, indices.unsqueeze(dim), grad.unsqueeze(dim))

def cummaxmin_backward(grad, input, indices, dim: int):
    if input.numel() == 0:
        return input
    return torch.zeros_like(input.detach()).scatter_add(dim, indices, grad)
