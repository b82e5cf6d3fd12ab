# Derivatives of operators as programs. See derivative.go for what the names of functions and parameters mean.


def _own_sum_to(grad, size: Optional[List[int]]):
    return torch._grad_sum_to_size(grad, size)

def _own_mask(grad, condition):
    return grad * condition.type_as(grad)

def _own_count(sizes: List[int], dim: Optional[List[int]]) -> int:
    count = 1
    if dim is None or len(dim) == 0:
        for n in sizes:
            count *= n
    else:
        for d in dim:
            count *= sizes[d]
    return count

def _own_spread(grad, sizes: List[int], dim: Optional[List[int]], keepdim: bool):
    if dim is not None and not keepdim and len(sizes) > 0:
        flat = [1 for n in sizes]
        for i in range(len(sizes)):
            flat[i] = sizes[i]
        for d in dim:
            flat[d] = 1
        if len(dim) == 0:
            flat = [1 for n in sizes]
        grad = grad.reshape(flat)
    return grad.expand(sizes)

def _own_variance(grad, self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool):
    sizes = self.size()
    free = _own_count(sizes, dim) - (1 if correction is None else correction)
    if dim is None or len(dim) == 0:
        centered = self - self.mean()
    else:
        centered = self - self.mean(dim, True)
    return _own_spread(grad, sizes, dim, keepdim) * centered * (2.0 / free)

def _own_products(grad, self, other):
    a = self.unsqueeze(0) if self.dim() == 1 else self
    b = other.unsqueeze(1) if other.dim() == 1 else other
    if other.dim() == 1:
        grad = grad.unsqueeze(-1)
    if self.dim() == 1:
        grad = grad.unsqueeze(-2)
    left = torch._grad_sum_to_size(torch.matmul(grad, b.transpose(-1, -2)), a.size())
    right = torch._grad_sum_to_size(torch.matmul(a.transpose(-1, -2), grad), b.size())
    return left.reshape(self.size()), right.reshape(other.size())


# ---- functions of one tensor ----

def dropout(grad, p: float, train: bool, saved1):
    scale = 0.0 if p == 1.0 else 1.0 / (1.0 - p)
    return torch.native_dropout_backward(grad, saved1, scale if train else 1.0)

def forward_dropout(input, p: float, train: bool):
    return torch.native_dropout(input, p, train)


# ---- arithmetic ----

# ---- reductions ----

def mean(grad, self):
    return grad.expand(self.size()) / self.numel()

def mean__dim(grad, self, dim: Optional[List[int]], keepdim: bool):
    sizes = self.size()
    return _own_spread(grad, sizes, dim, keepdim).to(self.dtype) / _own_count(sizes, dim)

def var(grad, self, unbiased: bool):
    return _own_variance(grad, self, None, int(unbiased), False)

def var__dim(grad, self, dim: Optional[List[int]], unbiased: bool, keepdim: bool):
    return _own_variance(grad, self, dim, int(unbiased), keepdim)

def var__correction(grad, self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool):
    return _own_variance(grad, self, dim, correction, keepdim)

def std(grad, self, unbiased: bool, result):
    return _own_variance(grad / (result * 2), self, None, int(unbiased), False)

def std__dim(grad, self, dim: Optional[List[int]], unbiased: bool, keepdim: bool, result):
    return _own_variance(grad / (result * 2), self, dim, int(unbiased), keepdim)

def std__correction(grad, self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool, result):
    return _own_variance(grad / (result * 2), self, dim, correction, keepdim)

def logsumexp(grad, self, dim: List[int], keepdim: bool, result):
    sizes = self.size()
    return _own_spread(grad, sizes, dim, keepdim) * torch.exp(self - _own_spread(result, sizes, dim, keepdim))

# ---- products ----

def mv(grad, self, vec):
    return torch.ger(grad, vec), self.t().mv(grad)

def dot(grad, self, tensor):
    return grad * tensor, grad * self

def matmul(grad, self, other):
    return _own_products(grad, self, other)

def linear(grad, input, weight, bias: Optional[Tensor]):
    grad_input, grad_transposed = _own_products(grad, input, weight.t())
    grad_bias: Optional[Tensor] = None
    if bias is not None:
        grad_bias = torch._grad_sum_to_size(grad, bias.size())
    return grad_input, grad_transposed.t(), grad_bias


# ---- views ----

def permute(grad, dims: List[int]):
    back = [0 for d in dims]
    for i in range(len(dims)):
        back[dims[i]] = i
    return grad.permute(back)

def cat(grad, tensors: List[Tensor], dim: int):
    sizes = [0 for t in tensors]
    for i in range(len(tensors)):
        if tensors[i].size() != [0]:
            sizes[i] = tensors[i].size()[dim]
    return torch.split_with_sizes(grad, sizes, dim)

def index__Tensor_hacked_twin(grad, self, indices: List[Tensor]):
    return torch.zeros_like(self).index_put(indices, grad, True)

def stack(grad, dim: int):
    return torch.unbind(grad, dim)

def unbind__int(grad: List[Tensor], dim: int):
    return torch.stack(grad, dim)

def split__Tensor(grad: List[Tensor], dim: int):
    return torch.cat(grad, dim)


# ---- layers ----

def embedding(grad, weight, indices, padding_idx: int, scale_grad_by_freq: bool):
    return torch.embedding_dense_backward(grad, indices, weight.size()[0], padding_idx, scale_grad_by_freq)

def forward_layer_norm(input, normalized_shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor], eps: float, cudnn_enable: bool):
    return torch.native_layer_norm(input, normalized_shape, weight, bias, eps)

def layer_norm(grad, input, normalized_shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor], saved1, saved2):
    mask = [True, weight is not None, bias is not None]
    dinput, dweight, dbias = torch.native_layer_norm_backward(grad, input, normalized_shape, saved1, saved2, weight, bias, mask)
    return dinput, dweight if weight is not None else None, dbias if bias is not None else None

def forward_batch_norm(input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor], running_var: Optional[Tensor], training: bool, momentum: float, eps: float, cudnn_enabled: bool):
    return torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)

def batch_norm(grad, input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor], running_var: Optional[Tensor], training: bool, eps: float, saved1, saved2):
    mask = [True, weight is not None, bias is not None]
    dinput, dweight, dbias = torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, saved1, saved2, training, eps, mask)
    return dinput, dweight if weight is not None else None, dbias if bias is not None else None

def native_batch_norm(grad0, input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor], running_var: Optional[Tensor], training: bool, eps: float, result1, result2):
    mask = [True, weight is not None, bias is not None]
    dinput, dweight, dbias = torch.native_batch_norm_backward(grad0, input, weight, running_mean, running_var, result1, result2, training, eps, mask)
    return dinput, dweight if weight is not None else None, dbias if bias is not None else None

def adaptive_avg_pool1d(grad, self):
    return torch._adaptive_avg_pool2d_backward(grad.unsqueeze(-2), self.unsqueeze(-2)).squeeze(-2)

def adaptive_avg_pool2d(grad, self):
    return torch._adaptive_avg_pool2d_backward(grad, self)

def adaptive_avg_pool3d(grad, self):
    return torch._adaptive_avg_pool3d_backward(grad, self)

def avg_pool2d(grad, self, kernel_size: List[int], stride: List[int], padding: List[int], ceil_mode: bool, count_include_pad: bool, divisor_override: Optional[int]):
    return torch.avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

def forward_max_pool2d(self, kernel_size: List[int], stride: List[int], padding: List[int], dilation: List[int], ceil_mode: bool):
    return torch.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)

def max_pool2d(grad, self, kernel_size: List[int], stride: List[int], padding: List[int], dilation: List[int], ceil_mode: bool, saved1):
    return torch.max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, saved1)

def max_pool2d_with_indices(grad0, self, kernel_size: List[int], stride: List[int], padding: List[int], dilation: List[int], ceil_mode: bool, result1):
    return torch.max_pool2d_with_indices_backward(grad0, self, kernel_size, stride, padding, dilation, ceil_mode, result1)

def _slow_conv2d_forward(grad, self, weight, bias: Optional[Tensor], stride: List[int], padding: List[int]):
    sizes: Optional[List[int]] = None
    if bias is not None:
        sizes = bias.size()
    dinput, dweight, dbias = torch.convolution_backward(grad, self, weight, sizes, stride, padding, [1, 1], False, [0, 0], 1, [True, True, bias is not None])
    return dinput, dweight, dbias if bias is not None else None

def forward_nll_loss(self, target, weight: Optional[Tensor], reduction: int, ignore_index: int):
    return torch.nll_loss_forward(self, target, weight, reduction, ignore_index)

def nll_loss(grad, self, target, weight: Optional[Tensor], reduction: int, ignore_index: int, saved1):
    return torch.nll_loss_backward(grad, self, target, weight, reduction, ignore_index, saved1)
