# Operators that have no implementation but what they are made of. See composite.go.


# ---- pooling ----

def _own_at(x, indices, spatial: int):
    flat = x.flatten(x.dim() - spatial)
    found = flat.gather(x.dim() - spatial, indices.flatten(indices.dim() - spatial))
    return found.view(indices.shape)

def fractional_max_pool2d(self, kernel_size: List[int], output_size: List[int], random_samples):
    indices = torch.fractional_max_pool2d(self.detach(), kernel_size, output_size, random_samples.detach())[1]
    return _own_at(self, indices, 2), indices

def fractional_max_pool3d(self, kernel_size: List[int], output_size: List[int], random_samples):
    indices = torch.fractional_max_pool3d(self.detach(), kernel_size, output_size, random_samples.detach())[1]
    return _own_at(self, indices, 3), indices


# ---- types ----

def _autocast_to_reduced_precision(self, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: int, cpu_dtype: int):
    if cpu_enabled and self.dtype == torch.float32:
        return self.to(cpu_dtype)
    return self

def _autocast_to_full_precision(self, cuda_enabled: bool, cpu_enabled: bool):
    if cpu_enabled and (self.dtype == torch.bfloat16 or self.dtype == torch.float16):
        return self.to(torch.float32)
    return self


# ---- arithmetic ----

def _add_relu__Tensor(self, other, alpha: number):
    return torch.relu(torch.add(self, other, alpha=alpha))

def _add_relu__Scalar(self, other: number, alpha: number):
    return torch.relu(torch.add(self, other, alpha))

def _addmm_activation(self, mat1, mat2, beta: number, alpha: number, use_gelu: bool):
    y = torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    if use_gelu:
        return torch.gelu(y)
    return torch.relu(y)

def _trilinear(i1, i2, i3, expand1: List[int], expand2: List[int], expand3: List[int], sumdim: List[int], unroll_dim: int):
    a = i1
    for d in expand1:
        a = a.unsqueeze(d)
    b = i2
    for d in expand2:
        b = b.unsqueeze(d)
    c = i3
    for d in expand3:
        c = c.unsqueeze(d)
    product = a * b * c
    if len(sumdim) == 0:
        return product
    return product.sum(sumdim)

def _aminmax(self):
    return torch.min(self), torch.max(self)

def _aminmax__dim(self, dim: int, keepdim: bool):
    return torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim)

def _masked_scale(self, mask, scale: float):
    return self * mask.to(self.dtype) * scale

def _compute_linear_combination(input, coefficients):
    flat = input.reshape([input.size(0), -1])
    shape = [coefficients.size(0)]
    for d in range(1, input.dim()):
        shape.append(input.size(d))
    return coefficients.mm(flat).view(shape)

def _masked_softmax(self, mask, dim: Optional[int], mask_type: Optional[int]):
    at = self.dim() - 1
    if dim is not None:
        at = dim
    m = mask
    if mask_type is not None and mask_type == 1 and mask.dim() == 2 and self.dim() == 4:
        m = mask.view([mask.size(0), 1, 1, mask.size(1)])
    found = torch.softmax(self.masked_fill(m, -float("inf")), at)
    return torch.where(found.isnan(), torch.zeros_like(found), found)

def native_norm(self, p: number):
    return torch.norm(self, p)

def glu_jvp(glu, x, dx, dim: int):
    a, b = torch.chunk(x, 2, dim)
    da, db = torch.chunk(dx, 2, dim)
    s = torch.sigmoid(b)
    return da * s + a * s * (1 - s) * db

def nanquantile(self, q, dim: Optional[int], keepdim: bool, interpolation: str):
    if q.dim() > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.device.type == "cpu" and not bool(torch.logical_and(q >= 0, q <= 1).all()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    x = self
    axis = 0
    if dim is None or self.dim() == 0:
        x = self.reshape([-1])
    else:
        axis = dim
    values = torch.sort(x.movedim(axis, -1), -1)[0]
    counts = torch.logical_not(torch.isnan(values)).sum([-1], True)
    rank = q.reshape([-1] + [1 for _ in range(x.dim())]) * torch.clamp_min(counts - 1, 0).to(values.dtype)
    low = torch.floor(rank)
    high = torch.ceil(rank)
    if interpolation == "lower":
        high = low
    elif interpolation == "higher":
        low = high
    elif interpolation == "nearest":
        low = torch.round(rank)
        high = low
    rows = values.unsqueeze(0).expand([rank.size(0)] + values.shape)
    below = rows.gather(-1, low.to(torch.int64))
    above = rows.gather(-1, high.to(torch.int64))
    weight = rank - low
    if interpolation == "midpoint":
        weight = torch.full_like(rank, 0.5)
    result = below + (above - below) * weight
    result = torch.where(counts == 0, torch.full_like(result, float("nan")), result)
    if keepdim and dim is not None:
        result = result.movedim(-1, axis if axis < 0 else axis + 1)
    else:
        result = result.squeeze(-1)
    if keepdim and dim is None:
        result = result.reshape([-1] + [1 for _ in range(self.dim())])
    elif self.dim() == 0:
        result = result.reshape([-1])
    return result[0] if q.dim() == 0 else result

def nanquantile__scalar(self, q: float, dim: Optional[int], keepdim: bool, interpolation: str):
    if q < 0.0 or q > 1.0:
        raise RuntimeError("quantile() q must be in the range [0, 1] but got " + str(q))
    return torch.nanquantile(self, torch.scalar_tensor(q, dtype=self.dtype, device=self.device), dim, keepdim, interpolation=interpolation)


# ---- histograms ----

def _own_weights(self, weight: Optional[Tensor]):
    if weight is None:
        return torch.ones_like(self).flatten()
    return weight.flatten()

def _own_hist(values, edges, weights):
    n = edges.numel() - 1
    at = torch.searchsorted(edges, values, right=True) - 1
    at = torch.where(values == edges[n], torch.full_like(at, n - 1), at)
    inside = torch.logical_and(values >= edges[0], values <= edges[n])
    found = torch.zeros([n], dtype=weights.dtype, device=weights.device)
    return found.index_add(0, torch.clamp(at, 0, n - 1), torch.where(inside, weights, torch.zeros_like(weights)))

def _own_density(hist, edges):
    return hist / hist.sum() / torch.diff(edges)

def histogram__bins_tensor(self, bins, weight: Optional[Tensor], density: bool):
    hist = _own_hist(self.flatten(), bins, _own_weights(self, weight))
    if density:
        hist = _own_density(hist, bins)
    return hist, bins

def _own_edges(values, bins: int, range: Optional[List[float]], at: int):
    low = 0.0
    high = 0.0
    if range is not None:
        low = range[2 * at]
        high = range[2 * at + 1]
    elif values.numel() > 0:
        low = float(values.min())
        high = float(values.max())
    else:
        high = 1.0
    if low == high:
        low = low - 0.5
        high = high + 0.5
    return torch.linspace(low, high, bins + 1, dtype=values.dtype, device=values.device)

def histogram__bin_ct(self, bins: int, range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    if bins <= 0:
        raise RuntimeError("torch.histogram(): bins must be > 0, but got " + str(bins))
    edges = _own_edges(self.flatten(), bins, range, 0)
    hist = _own_hist(self.flatten(), edges, _own_weights(self, weight))
    if density:
        hist = _own_density(hist, edges)
    return hist, edges

def _own_check_histogramdd(self, count: int, weight: Optional[Tensor]):
    n = self.size(-1) if self.dim() > 1 else 0
    if self.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if count != n:
        raise RuntimeError("torch.histogramdd: expected " + str(n) + " sequences of bin edges for a " + str(n) + "-dimensional histogram but got " + str(count))
    if weight is not None:
        if weight.dtype != self.dtype:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype")
        if weight.size() != self.size()[:-1]:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input with shape " + str(self.size()) + " and weight with shape " + str(weight.size()))

def _histogramdd_bin_edges(self, bins: List[int], range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    _own_check_histogramdd(self, len(bins), weight)
    values = self.reshape(-1, self.size(-1))
    edges: List[Tensor] = []
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError("torch.histogramdd: for a " + str(len(bins)) + "-dimensional histogram range should have " + str(2 * len(bins)) + " elements, but got " + str(len(range)))
    for d, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError("torch.histogram(): bins must be > 0, but got " + str(count) + " for dimension " + str(d))
        edges.append(_own_edges(values[:, d], count, range, d))
    return edges

def _histogramdd_from_bin_tensors(self, bins: List[Tensor], weight: Optional[Tensor], density: bool):
    _own_check_histogramdd(self, len(bins), weight)
    values = self.reshape(-1, self.size(-1))
    weights = torch.ones_like(values[:, 0]) if weight is None else weight.reshape(-1)
    place = torch.zeros([values.size(0)], dtype=torch.int64, device=values.device)
    inside = torch.ones([values.size(0)], dtype=torch.bool, device=values.device)
    shape: List[int] = []
    cells = 1
    for d in range(len(bins)):
        edges = bins[d]
        if edges.dim() != 1:
            raise RuntimeError("torch.histogramdd: bins tensor should have one dimension, but got " + str(edges.dim()) + " dimensions in the bins tensor for dimension " + str(d))
        if edges.dtype != self.dtype:
            raise RuntimeError("torch.histogramdd: input tensor and bins tensors should have the same dtype, but those for dimension " + str(d) + " have another")
        n = edges.numel() - 1
        own = values[:, d].contiguous()
        at = torch.searchsorted(edges, own, right=True) - 1
        at = torch.where(own == edges[n], torch.full_like(at, n - 1), at)
        inside = inside.logical_and(torch.logical_and(own >= edges[0], own <= edges[n]))
        place = place * n + torch.clamp(at, 0, n - 1)
        shape.append(n)
        cells = cells * n
    hist = torch.zeros([cells], dtype=weights.dtype, device=weights.device)
    hist = hist.index_add(0, place, torch.where(inside, weights, torch.zeros_like(weights))).reshape(shape)
    if density:
        hist = hist / hist.sum()
        for d in range(len(bins)):
            along = [1 for _ in shape]
            along[d] = shape[d]
            hist = hist / torch.diff(bins[d]).reshape(along)
    return hist

def _histogramdd_from_bin_cts(self, bins: List[int], range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    edges = torch._histogramdd_bin_edges(self, bins, range=range, weight=weight, density=density)
    return torch._histogramdd_from_bin_tensors(self, edges, weight=weight, density=density)

def histogramdd(self, bins: List[int], range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    edges = torch._histogramdd_bin_edges(self, bins, range=range, weight=weight, density=density)
    return torch._histogramdd_from_bin_tensors(self, edges, weight=weight, density=density), edges

def histogramdd__int_bins(self, bins: int, range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    return torch.histogramdd(self, [bins] * self.size(-1), range, weight, density)

def histogramdd__TensorList_bins(self, bins: List[Tensor], range: Optional[List[float]], weight: Optional[Tensor], density: bool):
    return torch._histogramdd_from_bin_tensors(self, bins, weight=weight, density=density), bins


# ---- parts of tensors ----

def index_reduce(self, dim: int, index, source, reduce: str, include_self: bool):
    if reduce != "prod" and reduce != "mean" and reduce != "amax" and reduce != "amin":
        raise RuntimeError("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got " + reduce + ".")
    axis = dim
    if axis < 0:
        axis = axis + self.dim()
    shape = [1]
    shape.clear()
    for d in range(source.dim()):
        if d == axis:
            shape.append(index.numel())
        else:
            shape.append(1)
    at = index.view(shape).expand_as(source)
    return torch.scatter_reduce(self, axis, at, source, reduce, include_self=include_self)

def segment_reduce(data, reduce: str, lengths: Optional[Tensor], indices: Optional[Tensor], offsets: Optional[Tensor], axis: int, unsafe: bool, initial: Optional[number]):
    if axis < 0:
        axis = axis + data.dim()
    if data.numel() == 0:
        raise RuntimeError("segment_reduce(): Expected data.numel() > 0 to be true, but got false.")
    if reduce not in ["max", "mean", "min", "prod", "sum"]:
        raise RuntimeError("unsupported reduction given! " + reduce)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if not data.is_floating_point():
        raise RuntimeError("segment_reduce(): Expected data to have a floating point type.")
    if lengths is not None:
        sizes = lengths
    elif offsets is not None:
        sizes = torch.diff(offsets, 1, -1)
    else:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if axis != sizes.dim() - 1:
        raise RuntimeError("segment_reduce(): Expected axis to be the last dimension of lengths but got " + str(axis) + ".")
    if lengths is not None and not unsafe:
        if sizes.numel() > 0 and bool((sizes < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if not bool((sizes.sum([-1]) == data.size(axis)).all()):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.")
    n = sizes.size(-1)
    rows = data.reshape([sizes.numel() // max(n, 1)] + data.shape[axis:])
    counts = sizes.reshape([-1])
    parts: List[Tensor] = []
    start = 0
    for i in range(counts.size(0)):
        if i % n == 0:
            start = 0
            if offsets is not None:
                start = int(offsets.reshape([-1])[i // n * (n + 1)])
        piece = rows[i // n].narrow(0, start, int(counts[i]))
        start = start + int(counts[i])
        parts.append(_own_segment(piece, reduce, initial))
    return torch.stack(parts).reshape(sizes.shape + data.shape[axis + 1 :])

def _own_segment(piece, reduce: str, initial: Optional[number]):
    empty = piece.size(0) == 0
    if reduce == "sum":
        found = piece.sum([0])
        if initial is not None:
            found = found + initial
        return found
    if reduce == "prod":
        found = piece.prod(0)
        if initial is not None:
            found = found * initial
        return found
    if reduce == "mean":
        total = piece.sum([0])
        if empty:
            if initial is not None:
                return torch.full_like(total, initial)
            return torch.full_like(total, float("nan"))
        if initial is not None:
            total = total + initial
        return total / piece.size(0)
    if reduce == "max":
        if empty:
            found = torch.full_like(piece.sum([0]), -float("inf"))
        else:
            found = piece.amax([0])
        if initial is not None:
            found = torch.maximum(found, torch.full_like(found, initial))
        return found
    if reduce == "min":
        if empty:
            found = torch.full_like(piece.sum([0]), float("inf"))
        else:
            found = piece.amin([0])
        if initial is not None:
            found = torch.minimum(found, torch.full_like(found, initial))
        return found
    raise RuntimeError("Expected reduce to be one of 'max', 'mean', 'min', 'prod', 'sum', but got " + reduce)

def flatten_dense_tensors(tensors: List[Tensor]):
    parts: List[Tensor] = []
    for t in tensors:
        parts.append(t.contiguous().view([-1]))
    return torch.cat(parts)

def unflatten_dense_tensors(flat, tensors: List[Tensor]):
    parts: List[Tensor] = []
    at = 0
    for t in tensors:
        parts.append(flat.narrow(0, at, t.numel()).view(t.shape))
        at = at + t.numel()
    return parts

def _dim_arange(like, dim: int):
    return torch.arange(like.size(dim), device=like.device)

def _reshape_from_tensor(self, shape):
    sizes = [1]
    sizes.clear()
    for i in range(shape.numel()):
        sizes.append(int(shape[i]))
    return self.reshape(sizes)


# ---- convolutions under other names ----

def _convolution_mode(input, weight, bias: Optional[Tensor], stride: List[int], padding: str, dilation: List[int], groups: int):
    if weight.dim() == 3:
        return torch.conv1d(input, weight, bias, stride, padding, dilation, groups)
    if weight.dim() == 4:
        return torch.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.conv3d(input, weight, bias, stride, padding, dilation, groups)

def thnn_conv2d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int]):
    return torch.conv2d(self, weight, bias, stride, padding)

def slow_conv3d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int]):
    return torch.conv3d(self, weight, bias, stride, padding)

def slow_conv3d_forward(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int]):
    return torch.conv3d(self, weight, bias, stride, padding)

def slow_conv_dilated2d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int]):
    return torch.conv2d(self, weight, bias, stride, padding, dilation)

def slow_conv_dilated3d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int]):
    return torch.conv3d(self, weight, bias, stride, padding, dilation)

def slow_conv_transpose2d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], output_padding: List[int], dilation: List[int]):
    return torch.conv_transpose2d(self, weight, bias, stride, padding, output_padding, 1, dilation)

def slow_conv_transpose3d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], output_padding: List[int], dilation: List[int]):
    return torch.conv_transpose3d(self, weight, bias, stride, padding, output_padding, 1, dilation)

def _conv_depthwise2d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int]):
    return torch.conv2d(self, weight, bias, stride, padding, dilation, self.size(1))

def conv_depthwise3d(self, weight, kernel_size: List[int], bias: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int]):
    return torch.conv3d(self, weight, bias, stride, padding, dilation, self.size(1))

def _nnpack_spatial_convolution(input, weight, bias: Optional[Tensor], padding: List[int], stride: List[int]):
    return torch.conv2d(input, weight, bias, stride, padding)

# ---- losses and activations ----

def _weight_norm_interface(v, g, dim: int):
    norms = torch.norm_except_dim(v, 2, dim)
    return v * (g / norms), norms


# ---- simulated quantization ----

def _own_fake(self, scale, zero_point, low: int, high: int):
    inverse = 1.0 / scale
    q = torch.round(self * inverse) + zero_point
    mask = torch.logical_and(q >= low, q <= high)
    return (torch.clamp(q, low, high) - zero_point) * scale, mask

def _own_through(self, value, mask):
    masked = torch.where(mask, self, torch.zeros_like(self))
    return value + (masked - masked.detach())

def fake_quantize_per_tensor_affine(self, scale: float, zero_point: int, quant_min: int, quant_max: int):
    return torch.fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)[0]

def fake_quantize_per_tensor_affine_cachemask(self, scale: float, zero_point: int, quant_min: int, quant_max: int):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    if zero_point < quant_min or zero_point > quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    value, mask = _own_fake(self.detach(), torch.scalar_tensor(scale, dtype=self.dtype), torch.scalar_tensor(zero_point, dtype=self.dtype), quant_min, quant_max)
    return _own_through(self, value, mask), mask

def fake_quantize_per_tensor_affine__tensor_qparams(self, scale, zero_point, quant_min: int, quant_max: int):
    value, mask = _own_fake(self.detach(), scale.detach(), zero_point, quant_min, quant_max)
    return _own_through(self, value, mask)

def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_enabled, quant_min: int, quant_max: int):
    if int(fake_quant_enabled) == 0:
        return self.clone(), torch.ones_like(self.detach()).to(torch.bool)
    value, mask = _own_fake(self.detach(), scale.detach(), zero_point, quant_min, quant_max)
    return _own_through(self, value, mask), mask

def _own_channels(x, self, axis: int):
    shape = [1]
    shape.clear()
    for d in range(self.dim()):
        if d == axis:
            shape.append(self.size(d))
        else:
            shape.append(1)
    return x.view(shape)

def fake_quantize_per_channel_affine(self, scale, zero_point, axis: int, quant_min: int, quant_max: int):
    return torch.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)[0]

def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis: int, quant_min: int, quant_max: int):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    s = _own_channels(scale.detach(), self, axis)
    z = _own_channels(zero_point, self, axis)
    value, mask = _own_fake(self.detach(), s, z, quant_min, quant_max)
    return _own_through(self, value, mask), mask

def _own_observed(low, high, running_min, running_max, averaging_const: float):
    if bool(torch.all(torch.isinf(running_min))):
        return low, high
    return running_min + averaging_const * (low - running_min), running_max + averaging_const * (high - running_max)

def _own_choose(low, high, quant_min: int, quant_max: int, symmetric_quant: bool):
    low = torch.minimum(low, torch.zeros_like(low))
    high = torch.maximum(high, torch.zeros_like(high))
    around = torch.logical_and(torch.logical_and(low < 0, high > 0), torch.full_like(low, float(symmetric_quant)).to(torch.bool))
    below = -(float((quant_max - quant_min) // 2) + 1.0)
    above = float((quant_max - quant_min) // 2)
    largest = torch.maximum(torch.abs(low.to(torch.float64) / below), torch.abs(high.to(torch.float64) / above))
    low = torch.where(around, (largest * below).to(torch.float32), low)
    high = torch.where(around, (largest * above).to(torch.float32), high)
    wide_low, wide_high = low.to(torch.float64), high.to(torch.float64)
    scale = (wide_high - wide_low) / float(quant_max - quant_min)
    scale = torch.where(torch.logical_or(scale.to(torch.float32) == 0.0, torch.isinf(1.0 / scale.to(torch.float32))), torch.full_like(scale, 0.1), scale)
    wider = torch.maximum(torch.full_like(scale, 6.1e-5) / scale, torch.ones_like(scale))
    scale = scale * wider
    wide_low, wide_high = wide_low * wider, wide_high * wider
    from_low = quant_min - wide_low / scale
    from_high = quant_max - wide_high / scale
    low_error = abs(quant_min) + torch.abs(wide_low / scale)
    high_error = abs(quant_max) + torch.abs(wide_high / scale)
    start = torch.where(low_error < high_error, from_low, from_high)
    start = torch.where(around, torch.full_like(start, (quant_min + quant_max) / 2.0), start)
    zero = torch.round(torch.clamp(start, quant_min, quant_max))
    return scale.to(torch.float32), zero.to(torch.int32)

def _fused_moving_avg_obs_fq_helper(self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const: float,
                                    quant_min: int, quant_max: int, ch_axis: int, per_row_fake_quant: bool, symmetric_quant: bool):
    if int(observer_on) == 1:
        x = self.detach()
        if per_row_fake_quant:
            low, high = torch.aminmax(torch.flatten(torch.transpose(x, ch_axis, 0), 1), dim=1)
        else:
            low, high = torch.aminmax(x)
        if running_min.numel() == 0:
            running_min.resize_([self.size(ch_axis)]).fill_(float("inf"))
            running_max.resize_([self.size(ch_axis)]).fill_(float("-inf"))
            scale.resize_([self.size(ch_axis)])
            zero_point.resize_([self.size(ch_axis)])
        low, high = _own_observed(low, high, running_min, running_max, averaging_const)
        running_min.copy_(low)
        running_max.copy_(high)
        chosen, zero = _own_choose(running_min, running_max, quant_min, quant_max, symmetric_quant)
        scale.copy_(chosen)
        zero_point.copy_(zero)
    if int(fake_quant_on) == 0:
        return self.clone(), torch.ones_like(self.detach()).to(torch.bool)
    if per_row_fake_quant:
        return torch.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, ch_axis, quant_min, quant_max)
    return torch._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_on, quant_min, quant_max)

def fused_moving_avg_obs_fake_quant(self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const: float,
                                    quant_min: int, quant_max: int, ch_axis: int, per_row_fake_quant: bool, symmetric_quant: bool):
    if self.numel() == 0:
        return self.clone()
    return torch._fused_moving_avg_obs_fq_helper(
        self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min, quant_max, ch_axis,
        per_row_fake_quant, symmetric_quant)[0]

def fake_quantize_per_tensor_affine_cachemask_backward(grad, mask):
    return grad * mask

def fake_quantize_per_channel_affine_cachemask_backward(grad, mask):
    return grad * mask


# ---- linear algebra ----

def symeig(self, eigenvectors: bool, upper: bool):
    uplo = "L"
    if upper:
        uplo = "U"
    if eigenvectors:
        return torch.linalg_eigh(self, uplo)
    return torch.linalg_eigvalsh(self, uplo), torch.zeros([0], dtype=self.dtype, device=self.device)

def _linalg_svd(A, full_matrices: bool, compute_uv: bool, driver: Optional[str]):
    if compute_uv:
        return torch.linalg_svd(A, full_matrices)
    empty = torch.zeros([0], dtype=A.dtype, device=A.device)
    return empty, torch.linalg_svdvals(A), empty

def _linalg_eigh(A, UPLO: str, compute_v: bool):
    if compute_v:
        return torch.linalg_eigh(A, UPLO)
    return torch.linalg_eigvalsh(A, UPLO), torch.zeros([0], dtype=A.dtype, device=A.device)

def _linalg_det(A):
    lu, pivots, info = torch.linalg_lu_factor_ex(A)
    return torch.linalg_det(A), lu, pivots

def _linalg_slogdet(A):
    lu, pivots, info = torch.linalg_lu_factor_ex(A)
    sign, logabsdet = torch.linalg_slogdet(A)
    return sign, logabsdet, lu, pivots


# ---- attention ----

# ---- functional forms of operators that write to their arguments, for exported programs ----

def _native_batch_norm_legit_functional(input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean, running_var, training: bool, momentum: float, eps: float):
    if training:
        mean = running_mean.detach().clone()
        var = running_var.detach().clone()
        out, save_mean, save_invstd = torch.native_batch_norm(input, weight, bias, mean, var, True, momentum, eps)
        return out, save_mean, save_invstd, mean, var
    out, save_mean, save_invstd = torch.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    return out, save_mean, save_invstd, running_mean.clone(), running_var.clone()

def _native_batch_norm_legit_no_training(input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean, running_var, momentum: float, eps: float):
    out, save_mean, save_invstd = torch.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    return out, save_mean, save_invstd


# ---- quantized tensors ----

def _own_bits(size: List[int], dtype: Optional[int]):
    if dtype is None:
        raise RuntimeError("Can only create quantized tensors of the types quint8, qint8 and qint32: dtype is not given")
    if dtype == torch.quint8:
        return torch.zeros(size, dtype=torch.uint8)
    if dtype == torch.qint8:
        return torch.zeros(size, dtype=torch.int8)
    if dtype == torch.qint32:
        return torch.zeros(size, dtype=torch.int32)
    raise RuntimeError("Can only create quantized tensors of the types quint8, qint8 and qint32")

def _empty_affine_quantized(size: List[int], dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool], scale: float, zero_point: int, memory_format: Optional[int]):
    return torch._make_per_tensor_quantized_tensor(_own_bits(size, dtype), scale, zero_point)

def _empty_per_channel_affine_quantized(size: List[int], scales, zero_points, axis: int, dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool], memory_format: Optional[int]):
    return torch._make_per_channel_quantized_tensor(_own_bits(size, dtype), scales, zero_points, axis)

def quantize_per_tensor__tensors(tensors: List[Tensor], scales, zero_points, dtype: int):
    if scales.numel() != len(tensors) or zero_points.numel() != len(tensors):
        raise RuntimeError("quantize_per_tensor: each tensor has a scale and a zero point")
    made: List[Tensor] = []
    for i, x in enumerate(tensors):
        made.append(torch.quantize_per_tensor(x, float(scales[i]), int(zero_points[i]), dtype))
    return made

def _own_learnable(self, scale, zero_point, quant_min: int, quant_max: int, grad_factor: float):
    s = scale.detach()
    z = torch.clamp(torch.round(zero_point.detach()), quant_min, quant_max)
    q = torch.round(self.detach() / s) + z
    low = q < quant_min
    high = q > quant_max
    inside = torch.logical_not(torch.logical_or(low, high))
    value = (torch.clamp(q, quant_min, quant_max) - z) * s
    of_scale = torch.where(low, quant_min - z, torch.where(high, quant_max - z, (value - self.detach()) / s))
    of_zero = torch.where(inside, torch.zeros_like(value), -s.expand_as(value))
    parts = of_scale * (scale - s) + of_zero * (zero_point - zero_point.detach())
    return _own_through(self, value, inside) + grad_factor * parts

def _fake_quantize_learnable_per_tensor_affine(self, scale, zero_point, quant_min: int, quant_max: int, grad_factor: float):
    if scale.numel() != 1 or zero_point.numel() != 1:
        raise RuntimeError("scale and zero_point of a tensor are tensors with one element")
    return _own_learnable(self, scale, zero_point, quant_min, quant_max, grad_factor)

def _fake_quantize_learnable_per_channel_affine(self, scale, zero_point, axis: int, quant_min: int, quant_max: int, grad_factor: float):
    if axis < 0 or axis >= self.dim():
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if scale.numel() != self.size(axis) or zero_point.numel() != self.size(axis):
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    return _own_learnable(self, _own_channels(scale, self, axis), _own_channels(zero_point, self, axis), quant_min, quant_max, grad_factor)


# ---- windows, transforms ----

def _own_window(window_length: int, periodic: bool, alpha: float, beta: float, dtype: Optional[int]):
    n = window_length
    if periodic:
        n += 1
    kind = torch.ones(1).dtype
    if dtype is not None:
        kind = dtype
    if window_length < 2:
        return torch.ones(window_length, dtype=kind)
    at = torch.arange(n, dtype=torch.float64) * (2 * 3.141592653589793 / (n - 1))
    return (alpha - beta * torch.cos(at))[:window_length].to(kind)

def hamming_window__periodic_alpha(window_length: int, periodic: bool, alpha: float, dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]):
    return _own_window(window_length, periodic, alpha, 0.46, dtype)

def hamming_window__periodic_alpha_beta(window_length: int, periodic: bool, alpha: float, beta: float, dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]):
    return _own_window(window_length, periodic, alpha, beta, dtype)

def _own_norm(normalization: int, forward: bool):
    if normalization == 1:
        return "ortho"
    if (normalization == 0) == forward:
        return "backward"
    return "forward"

def _fft_c2c(self, dim: List[int], normalization: int, forward: bool):
    if forward:
        return torch.fft_fftn(self, None, dim, _own_norm(normalization, True))
    return torch.fft_ifftn(self, None, dim, _own_norm(normalization, False))

def _fft_r2c(self, dim: List[int], normalization: int, onesided: bool):
    if onesided:
        return torch.fft_rfftn(self, None, dim, _own_norm(normalization, True))
    return torch.fft_fftn(self, None, dim, _own_norm(normalization, True))

def _fft_c2r(self, dim: List[int], normalization: int, last_dim_size: int):
    x = self
    if len(dim) > 1:
        x = torch.fft_ifftn(x, None, dim[:-1], _own_norm(normalization, False))
    return torch.fft_irfft(x, last_dim_size, dim[-1], _own_norm(normalization, False))


# ---- tensors ----

def chalf(self, memory_format: Optional[int]):
    return self.to(torch.complex32)

def embedding_renorm(self, indices, max_norm: float, norm_type: float):
    return torch.embedding_renorm_(self.clone(), indices, max_norm, norm_type)

def _own_gaps(self):
    sizes = torch.tensor(self.size())
    strides = torch.tensor(self.stride())
    counts = sizes > 1
    expected = 1
    order: List[int] = torch.argsort(strides[counts]).tolist()
    for i in order:
        size, stride = int(sizes[counts][i]), int(strides[counts][i])
        if stride != expected:
            return True
        expected *= size
    return False

def is_non_overlapping_and_dense(self):
    return self.numel() == 0 or not _own_gaps(self)

def _debug_has_internal_overlap(self):
    if self.is_contiguous() or self.numel() == 0 or not _own_gaps(self):
        return 0
    for size, stride in zip(self.size(), self.stride()):
        if stride == 0 and size > 1:
            return 1
    return 2

def _convert_indices_from_coo_to_csr(self, size: int, out_int32: bool):
    counts = torch.cumsum(torch.bincount(self, None, size), 0)
    made = torch.cat([torch.zeros(1, dtype=torch.int64), counts])
    if out_int32:
        return made.to(torch.int32)
    return made

def _convert_indices_from_csr_to_coo(crow_indices, col_indices, out_int32: bool, transpose: bool):
    rows = torch.repeat_interleave(torch.arange(crow_indices.numel() - 1), torch.diff(crow_indices))
    kind = torch.int64
    if out_int32:
        kind = torch.int32
    if transpose:
        return torch.stack([col_indices.to(kind), rows.to(kind)])
    return torch.stack([rows.to(kind), col_indices.to(kind)])

def _is_zerotensor(self):
    return False

def _efficientzerotensor(size: List[int], dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]):
    return torch.zeros(size, dtype=dtype, device=device)

def _list_to_tensor(self: List[int]):
    return torch.tensor(self, dtype=torch.int32)

def indices_copy(self):
    return self.indices().clone()

def values_copy(self):
    return self.values().clone()

def crow_indices_copy(self):
    return self.crow_indices().clone()

def col_indices_copy(self):
    return self.col_indices().clone()

def _embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Optional[Tensor], include_last_offset: bool, padding_idx: int):
    return torch._embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)

def _assert_tensor_metadata(a, size: Optional[List[int]], stride: Optional[List[int]], dtype: Optional[int]):
    if size is not None and a.size() != size:
        raise RuntimeError(f"Tensor sizes mismatch! found {a.size()}, expected {size}")
    if stride is not None and a.stride() != stride:
        raise RuntimeError(f"Tensor strides mismatch! found {a.stride()}, expected {stride}")
    if dtype is not None and a.dtype != dtype:
        raise RuntimeError("Tensor dtype mismatch!")

def _rowwise_prune(weight, mask, compressed_indices_dtype: int):
    kept = mask.to(torch.bool)
    places = torch.cumsum(kept.to(torch.int64), 0) - 1
    return weight[kept], torch.where(kept, places, torch.full_like(places, -1)).to(compressed_indices_dtype)

def sym_stride__int(self, dim: int):
    return self.stride(dim)

def sym_storage_offset(self):
    return self.storage_offset()

def is_strides_like_format(self, memory_format: int):
    return self.is_contiguous(memory_format=memory_format)

def rrelu_with_noise(self, noise, lower: number, upper: number, training: bool, generator: Optional[Generator]):
    if not training:
        return torch.leaky_relu(self, (float(lower) + float(upper)) / 2)
    slopes = torch.empty_like(noise).uniform_(float(lower), float(upper))
    noise.copy_(torch.where(self.detach() <= 0, slopes, torch.ones_like(slopes)))
    return torch.where(self <= 0, self * noise, self)


# ---- operators that test how calls of operators are read ----

def _own_values(values, dtype: int, addends: int):
    names = ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool", "QInt8", "QUInt8", "QInt32", "BFloat16"]
    if values.dim() != 1:
        raise RuntimeError("Expected values.dim() == 1 to be true, but got false.")
    if values.dtype != dtype:
        raise RuntimeError(f"expected scalar type {names[dtype]} but found {names[values.dtype]}")
    if addends < values.numel():
        raise RuntimeError(f"there are {addends} addends for {values.numel()} values")

def _test_optional_intlist(values, addends: Optional[List[int]]):
    if addends is None:
        return values
    _own_values(values, torch.int32, len(addends))
    return values + torch.tensor(addends, dtype=values.dtype)[: values.numel()]

def _test_optional_filled_intlist(values, addends: Optional[List[int]]):
    return _test_optional_intlist(values, addends)

def _test_optional_floatlist(values, addends: Optional[List[float]]):
    if addends is None:
        return values
    _own_values(values, torch.float32, len(addends))
    return values + torch.tensor(addends, dtype=values.dtype)[: values.numel()]

def _test_string_default(dummy, a: str, b: str):
    if a != "\"'\\":
        raise RuntimeError("Default A failed")
    if b != "\"'\\":
        raise RuntimeError("Default B failed")
    return dummy

def _test_ambiguous_defaults__a(dummy, a: int, b: int):
    if a != 1:
        raise RuntimeError("Expected a == 1 to be true, but got false.")
    if b != 1:
        raise RuntimeError("Expected b == 1 to be true, but got false.")
    return torch.tensor(1, device=dummy.device)

def _test_ambiguous_defaults__b(dummy, a: int, b: str):
    if a != 2:
        raise RuntimeError("Expected a == 2 to be true, but got false.")
    if b != "2":
        raise RuntimeError("Expected b == \"2\" to be true, but got false.")
    return torch.tensor(2, device=dummy.device)

def _test_serialization_subcmul(self, other, alpha: number):
    return self - other * alpha

def _foobar(self, arg1: bool, arg2: bool, arg3: bool):
    return self
