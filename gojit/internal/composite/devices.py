# What operators are made of on a device that has no form of them. Nothing here is recorded: derivatives are those of the operators.


def softmax__int(self, dim: int, dtype: Optional[int]):
    x = self
    if dtype is not None:
        x = self.to(dtype)
    if x.numel() == 0:
        return x.clone()
    e = torch.exp(x - torch.amax(x, [dim], True))
    return e / e.sum([dim], True)


def _softmax(self, dim: int, half_to_float: bool):
    if half_to_float:
        return torch.softmax(self, dim, torch.float32)
    return torch.softmax(self, dim)


def log_softmax__int(self, dim: int, dtype: Optional[int]):
    x = self
    if dtype is not None:
        x = self.to(dtype)
    if x.numel() == 0:
        return x.clone()
    d = x - torch.amax(x, [dim], True)
    return d - torch.log(torch.exp(d).sum([dim], True))


def _log_softmax(self, dim: int, half_to_float: bool):
    if half_to_float:
        return torch.log_softmax(self, dim, torch.float32)
    return torch.log_softmax(self, dim)


def native_layer_norm(input, normalized_shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor], eps: float):
    dims = [0]
    dims.clear()
    for d in range(input.dim() - len(normalized_shape), input.dim()):
        dims.append(d)
    x = _own_wide(input)
    mean = x.mean(dims, True)
    rstd = torch.rsqrt((x - mean).square().mean(dims, True) + eps)
    y = (x - mean) * rstd
    if weight is not None:
        y = y * weight
    if bias is not None:
        y = y + bias
    return y.to(input.dtype), mean, rstd


def layer_norm(input, normalized_shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor], eps: float, cudnn_enable: bool):
    y, mean, rstd = torch.native_layer_norm(input, normalized_shape, weight, bias, eps)
    return y


def _own_wide(x):
    if x.dtype == torch.float16 or x.dtype == torch.bfloat16:
        return x.to(torch.float32)
    return x


def native_group_norm(input, weight: Optional[Tensor], bias: Optional[Tensor], N: int, C: int, HxW: int, group: int, eps: float):
    x = _own_wide(input).reshape([N, group, -1])
    mean = x.mean([2], True)
    rstd = torch.rsqrt((x - mean).square().mean([2], True) + eps)
    y = ((x - mean) * rstd).reshape([N, C, HxW])
    if weight is not None:
        y = y * weight.reshape([1, C, 1])
    if bias is not None:
        y = y + bias.reshape([1, C, 1])
    return y.view_as(input).to(input.dtype), mean.reshape([N, group]), rstd.reshape([N, group])


def group_norm(input, num_groups: int, weight: Optional[Tensor], bias: Optional[Tensor], eps: float, cudnn_enabled: bool):
    n = input.size(0)
    c = input.size(1)
    y, mean, rstd = torch.native_group_norm(input.contiguous(), weight, bias, n, c, input.numel() // max(n * c, 1), num_groups, eps)
    return y
