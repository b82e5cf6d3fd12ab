# What operators are made of, for their gradients. See composite.go.


# ---- arithmetic ----

def deg2rad(self):
    return self * (3.141592653589793 / 180.0)

def rad2deg(self):
    return self * (180.0 / 3.141592653589793)

def _own_double(x, wide: bool):
    if wide:
        return x.to(torch.complex128)
    return x.to(torch.float64)

def float_power__Tensor_Scalar(self, exponent: number):
    return torch.pow(_own_double(self, self.is_complex()), exponent)

def float_power__Tensor_Tensor(self, exponent):
    wide = self.is_complex() or exponent.is_complex()
    return torch.pow(_own_double(self, wide), _own_double(exponent, wide))

def float_power__Scalar(self: number, exponent):
    return torch.pow(self, _own_double(exponent, exponent.is_complex()))

def fmax(self, other):
    return torch.where((self >= other).logical_or(other.isnan()), self, other)

def fmin(self, other):
    return torch.where((self <= other).logical_or(other.isnan()), self, other)

def copysign__Tensor(self, other):
    return self * (torch.copysign(torch.ones_like(self.detach()), other.detach()) * torch.sgn(self.detach()))

def copysign__Scalar(self, other: number):
    return self * (torch.copysign(torch.ones_like(self.detach()), other) * torch.sgn(self.detach()))

def ldexp__Tensor(self, other):
    return self * torch.pow(2.0, other)


def sinc(self):
    x = self * 3.141592653589793
    zero = x == 0
    safe = x.masked_fill(zero, 1.0)
    return torch.where(zero, 1.0 - x * x / 6.0, torch.sin(safe) / safe)

def heaviside(self, values):
    return torch.where(self == 0, values, (self.detach() > 0).to(values.dtype))

def xlogy__Scalar_Other(self, other: number):
    return torch.xlogy(self, torch.full_like(self.detach(), other))

def xlogy__Scalar_Self(self: number, other):
    return torch.xlogy(torch.full_like(other.detach(), self), other)

def special_xlog1py(self, other):
    nothing = torch.logical_and(self == 0, other <= -1)
    return self * torch.log1p(torch.where(nothing, torch.zeros_like(other), other))

def special_xlog1py__other_scalar(self, other: number):
    return torch.special_xlog1py(self, torch.full_like(self.detach(), other))

def special_xlog1py__self_scalar(self: number, other):
    return torch.special_xlog1py(torch.full_like(other.detach(), self), other)

def log_sigmoid_forward(self):
    return torch.log_sigmoid(self), torch.zeros([0], dtype=self.dtype, device=self.device)

def clamp_min__Tensor(self, min):
    return torch.where(self < min, min.to(self.dtype), self)

def clamp_max__Tensor(self, max):
    return torch.where(self > max, max.to(self.dtype), self)

def mvlgamma(self, p: int):
    halves = torch.arange(p, dtype=self.dtype, device=self.device) / 2
    return torch.sum(torch.lgamma(self.unsqueeze(-1) - halves), -1) + p * (p - 1) / 4 * math.log(3.141592653589793)

def special_ndtr(self):
    return torch.erfc(self * -0.7071067811865476) * 0.5

def special_log_ndtr(self):
    # each side gets only numbers it is for: elsewhere its derivative may be infinite
    far = self < -1.0
    t = self * 0.7071067811865476
    low = torch.where(far, t, torch.full_like(t, -1.0))
    high = torch.where(far, torch.full_like(t, 1.0), t)
    return torch.where(far, torch.log(torch.special_erfcx(-low) * 0.5) - low * low, torch.log1p(-torch.erfc(high) * 0.5))

# ---- reductions ----

def nansum(self, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]):
    x = self.masked_fill(self.isnan(), 0.0)
    return torch.sum(x, dim, keepdim, dtype=dtype)

def nanmean(self, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]):
    there = self.isnan().logical_not()
    count = torch.sum(there, dim, keepdim)
    return torch.nansum(self, dim, keepdim, dtype=dtype) / count

def aminmax(self, dim: Optional[int], keepdim: bool):
    if dim is None:
        flat = self.reshape(-1)
        low, high = torch.amin(flat, 0), torch.amax(flat, 0)
        if keepdim:
            shape = [1] * self.dim()
            return low.reshape(shape), high.reshape(shape)
        return low, high
    return torch.amin(self, dim, keepdim), torch.amax(self, dim, keepdim)

def nanmedian__dim(self, dim: int, keepdim: bool):
    _, index = torch.nanmedian(self.detach(), dim, True)
    value = torch.gather(self, dim, index) if self.dim() > 0 else self
    if keepdim or self.dim() == 0:
        return value, index
    return value.squeeze(dim), index.squeeze(dim)

def quantile(self, q, dim: Optional[int], keepdim: bool, interpolation: str):
    x = self
    n = self.dim()
    axis = 0
    if dim is None:
        x = self.reshape(-1)
    else:
        axis = dim % max(n, 1)
        x = x.transpose(axis, -1) if n > 0 else x.reshape(-1)
    ordered = torch.sort(x, -1)[0]
    size = ordered.size(-1)
    rank = q.reshape(-1) * (size - 1)
    low, high = torch.floor(rank), torch.ceil(rank)
    if interpolation == "lower":
        rank = low
    elif interpolation == "higher":
        rank = high
    elif interpolation == "midpoint":
        rank = (low + high) / 2
    elif interpolation == "nearest":
        rank = torch.round(rank)
    low, high = torch.floor(rank), torch.ceil(rank)
    below = ordered.index_select(-1, low.to(torch.int64))
    above = ordered.index_select(-1, high.to(torch.int64))
    found = below + (above - below) * (rank - low)
    # found (..., q): the reduced dimension last
    many = q.dim() > 0
    if dim is None:
        if keepdim:
            found = found.reshape([1] * n + [-1])
    elif n > 0:
        found = found.unsqueeze(-2).transpose(axis, -2) if axis != n - 1 else found.unsqueeze(-2)
        if not keepdim:
            found = found.squeeze(axis)
    found = found.movedim(-1, 0)
    return found if many else found.squeeze(0)

def quantile__scalar(self, q: float, dim: Optional[int], keepdim: bool, interpolation: str):
    return torch.quantile(self, torch.tensor(q, dtype=self.dtype, device=self.device), dim, keepdim, interpolation=interpolation)

def cumprod(self, dim: int, dtype: Optional[int]):
    x = self if dtype is None else self.to(dtype)
    if x.dim() == 0:
        return x.clone()
    parts = torch.unbind(x, dim)
    if len(parts) == 0:
        return x.clone()
    product = parts[0]
    found = [product]
    for i in range(1, len(parts)):
        product = product * parts[i]
        found.append(product)
    return torch.stack(found, dim)

def diff(self, n: int, dim: int, prepend: Optional[Tensor], append: Optional[Tensor]):
    if n == 0:
        return self.clone()
    parts = [self]
    if prepend is not None:
        parts = [prepend] + parts
    if append is not None:
        parts.append(append)
    x = torch.cat(parts, dim)
    for _ in range(min(n, x.size(dim))):
        size = x.size(dim)
        x = x.narrow(dim, 1, size - 1) - x.narrow(dim, 0, size - 1)
    return x

def _own_neighbours(x, dim: int):
    return torch.slice(x, dim, 1, 9223372036854775807, 1), torch.slice(x, dim, 0, -1, 1)

def _own_trapezoids(y, x, dim: int):
    later, earlier = _own_neighbours(y, dim)
    at = x
    if x.dim() == 1:
        shape = [1] * y.dim()
        shape[dim] = y.size(dim)
        at = x.reshape(shape)
    elif x.dim() < y.dim():
        at = x.reshape([1] * (y.dim() - x.dim()) + x.size())
    right, left = _own_neighbours(at, dim)
    return (later + earlier) * (right - left)

def trapezoid__dx(y, dx: number, dim: int):
    later, earlier = _own_neighbours(y, dim)
    return torch.sum(later + earlier, dim) * dx / 2.0

def trapezoid__x(y, x, dim: int):
    if y.size(dim) == 0:
        return torch.sum(y, dim)
    d = dim + y.dim() if dim < 0 else dim
    return torch.sum(_own_trapezoids(y, x, d), d) / 2.0

def cumulative_trapezoid__x(y, x, dim: int):
    d = dim + y.dim() if dim < 0 else dim
    return torch.cumsum(_own_trapezoids(y, x, d), d) / 2.0

def cumulative_trapezoid__dx(y, dx: number, dim: int):
    later, earlier = _own_neighbours(y, dim)
    return torch.cumsum(later + earlier, dim) * dx / 2.0

def cov(self, correction: int, fweights: Optional[Tensor], aweights: Optional[Tensor]):
    x = self if self.dim() == 2 else self.reshape(1, -1)
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        mean = torch.sum(x, 1) / x.size(1)
        norm = torch.tensor(x.size(1) - correction, device=x.device)
    else:
        sum = torch.sum(weights)
        mean = torch.sum(x * weights, 1) / sum
        norm = sum - correction
        if aweights is not None and correction != 0:
            norm = sum - correction * torch.sum(weights * aweights) / sum
    centered = x - mean.unsqueeze(1)
    weighted = centered if weights is None else centered * weights
    c = torch.mm(centered, weighted.conj().t()) / torch.clamp(norm, min=0)
    return c.squeeze()

def corrcoef(self):
    c = torch.cov(self)
    if c.dim() == 0:
        return c / c
    d = torch.sqrt(torch.diag(c.real))
    c = c / d.unsqueeze(1) / d.unsqueeze(0)
    if torch.is_complex(c):
        return torch.complex(torch.clamp(c.real, -1, 1), torch.clamp(c.imag, -1, 1))
    return torch.clamp(c, -1, 1)

def dist(self, other, p: number):
    return torch.norm(self - other, p)

def _own_of_type(self, dtype: int):
    x = self.to(dtype)
    if x.is_complex() and not self.is_complex():
        raise RuntimeError("norm does not support automatic differentiation for outputs with complex dtype.")
    return x

def norm__ScalarOpt_dtype(self, p: Optional[number], dtype: int):
    if p is None:
        return torch.norm(_own_of_type(self, dtype)).to(dtype)
    return torch.norm(_own_of_type(self, dtype), p).to(dtype)

def norm__ScalarOpt_dim_dtype(self, p: Optional[number], dim: List[int], keepdim: bool, dtype: int):
    return torch.norm(_own_of_type(self, dtype), p, dim, keepdim).to(dtype)

def nuclear_norm(self, keepdim: bool):
    total = torch.sum(torch.linalg_svdvals(self), -1)
    if keepdim:
        return total.unsqueeze(-1).unsqueeze(-1)
    return total

def renorm(self, p: number, dim: int, maxnorm: number):
    axis = dim % self.dim()
    dims: List[int] = []
    for d in range(self.dim()):
        if d != axis:
            dims.append(d)
    norms = torch.linalg_vector_norm(self, p, dims, True)
    factor = torch.where(norms > maxnorm, torch.reciprocal(norms + 1e-7) * maxnorm, torch.ones_like(norms))
    return self * factor

def norm_except_dim(v, pow: int, dim: int):
    if dim == -1:
        return torch.norm(v, pow)
    if dim == 0:
        shape = [v.size(0)] + [1] * (v.dim() - 1)
        return torch.norm(v.reshape(v.size(0), -1), pow, [1]).reshape(shape)
    if dim == v.dim() - 1:
        shape = [1] * (v.dim() - 1) + [v.size(-1)]
        return torch.norm(v.reshape(-1, v.size(-1)), pow, [0]).reshape(shape)
    return torch.norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)

def _weight_norm(v, g, dim: int):
    return v * (g / torch.norm_except_dim(v, 2, dim))


# ---- shapes ----

def hstack(tensors: List[Tensor]):
    wide = [torch.atleast_1d(t) for t in tensors]
    return torch.cat(wide, 0 if wide[0].dim() == 1 else 1)

def vstack(tensors: List[Tensor]):
    return torch.cat([torch.atleast_2d(t) for t in tensors], 0)

def dstack(tensors: List[Tensor]):
    return torch.cat([torch.atleast_3d(t) for t in tensors], 2)

def column_stack(tensors: List[Tensor]):
    return torch.cat([t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in tensors], 1)

def atleast_1d__Sequence(tensors: List[Tensor]):
    return [torch.atleast_1d(t) for t in tensors]

def atleast_2d__Sequence(tensors: List[Tensor]):
    return [torch.atleast_2d(t) for t in tensors]

def atleast_3d__Sequence(tensors: List[Tensor]):
    return [torch.atleast_3d(t) for t in tensors]

def meshgrid(tensors: List[Tensor]):
    return torch.meshgrid(tensors, indexing="ij")

def meshgrid__indexing(tensors: List[Tensor], indexing: str):
    swapped = indexing == "xy" and len(tensors) > 1
    given = [t for t in tensors]
    if swapped:
        given[0], given[1] = tensors[1], tensors[0]
    sizes = [t.numel() for t in given]
    out: List[Tensor] = []
    for i in range(len(given)):
        shape = [1] * len(given)
        shape[i] = sizes[i]
        out.append(given[i].reshape(shape).expand(sizes))
    if swapped:
        out[0], out[1] = out[1], out[0]
    return out

def cartesian_prod(tensors: List[Tensor]):
    if len(tensors) == 1:
        return tensors[0].reshape(-1)
    return torch.stack([t.flatten() for t in torch.meshgrid(tensors, indexing="ij")], 1)

def combinations(self, r: int, with_replacement: bool):
    index = torch.combinations(torch.arange(self.numel(), device=self.device), r, with_replacement)
    return self[index]

def block_diag(tensors: List[Tensor]):
    parts = [torch.atleast_2d(t) for t in tensors]
    rows, columns = 0, 0
    for t in parts:
        columns += t.size(1)
    padded: List[Tensor] = []
    left = 0
    for t in parts:
        padded.append(torch.constant_pad_nd(t, [left, columns - left - t.size(1)], 0))
        left += t.size(1)
    return torch.cat(padded, 0)

def tensor_split__indices(self, indices: List[int], dim: int):
    out: List[Tensor] = []
    start = 0
    for end in indices:
        out.append(torch.slice(self, dim, start, end, 1))
        start = end
    out.append(torch.slice(self, dim, start, 9223372036854775807, 1))
    return out

def _own_split_dims(self, name: str, least: int):
    if self.dim() < least:
        raise RuntimeError("torch." + name + " requires a tensor with at least " + str(least) + " dimension, but got a tensor with " + str(self.dim()) + " dimensions!")

def _own_split(self, name: str, least: int, dim: int, sections: int):
    _own_split_dims(self, name, least)
    if sections <= 0 or self.size(dim) % sections != 0:
        raise RuntimeError("torch." + name + " attempted to split along dimension " + str(dim) + ", but the size of the dimension " + str(self.size(dim)) + " is not divisible by the split_size " + str(sections) + "!")
    return torch.tensor_split(self, sections, dim)

def hsplit__int(self, sections: int):
    return _own_split(self, "hsplit", 1, 0 if self.dim() == 1 else 1, sections)

def hsplit__array(self, indices: List[int]):
    _own_split_dims(self, "hsplit", 1)
    return torch.tensor_split(self, indices, 0 if self.dim() == 1 else 1)

def vsplit__int(self, sections: int):
    return _own_split(self, "vsplit", 2, 0, sections)

def vsplit__array(self, indices: List[int]):
    _own_split_dims(self, "vsplit", 2)
    return torch.tensor_split(self, indices, 0)

def dsplit__int(self, sections: int):
    return _own_split(self, "dsplit", 3, 2, sections)

def dsplit__array(self, indices: List[int]):
    _own_split_dims(self, "dsplit", 3)
    return torch.tensor_split(self, indices, 2)

def narrow__Tensor(self, dim: int, start, length: int):
    return torch.narrow(self, dim, int(start), length)

def mT(self):
    return self if self.dim() == 0 else self.transpose(-2, -1)

def mT__a(self):
    return self if self.dim() == 0 else self.transpose(-2, -1)

def numpy_T__a(self):
    dims = [self.dim() - 1 - i for i in range(self.dim())]
    return self.permute(dims)

def diagflat(self, offset: int):
    return torch.diag(self.reshape(-1), offset)

def diagonal_scatter(self, src, offset: int, dim1: int, dim2: int):
    out = self.clone()
    torch.diagonal(out, offset, dim1, dim2).copy_(src)
    return out

def select_scatter(self, src, dim: int, index: int):
    out = self.clone()
    torch.select(out, dim, index).copy_(src)
    return out

def slice_scatter(self, src, dim: int, start: Optional[int], end: Optional[int], step: int):
    out = self.clone()
    torch.slice(out, dim, start, end, step).copy_(src)
    return out

def sum_to_size(self, size: List[int]):
    lead = self.dim() - len(size)
    dims: List[int] = []
    expands = lead >= 0
    for d in range(self.dim()):
        if d < lead or lead >= 0 and size[d - lead] == 1 and self.size(d) != 1:
            dims.append(d)
        elif lead >= 0 and size[d - lead] != self.size(d):
            expands = False
    if not expands:
        raise RuntimeError("size {" + str(size) + "} is not expandable to size {" + str(self.shape) + "}.")
    if len(size) == 0:
        return torch.sum(self)
    kept = torch.sum(self, dims, True) if len(dims) > 0 else self
    return kept.view(size) if lead > 0 else kept

def tensordot(self, other, dims_self: List[int], dims_other: List[int]):
    a_dims = [d % self.dim() for d in dims_self]
    b_dims = [d % other.dim() for d in dims_other]
    kept_a: List[int] = []
    for d in range(self.dim()):
        if d not in a_dims:
            kept_a.append(d)
    kept_b: List[int] = []
    for d in range(other.dim()):
        if d not in b_dims:
            kept_b.append(d)
    size = 1
    for d in a_dims:
        size *= self.size(d)
    rows = 1
    for d in kept_a:
        rows *= self.size(d)
    columns = 1
    for d in kept_b:
        columns *= other.size(d)
    shape = [self.size(d) for d in kept_a] + [other.size(d) for d in kept_b]
    a = self.permute(kept_a + a_dims).reshape(rows, size)
    b = other.permute(b_dims + kept_b).reshape(size, columns)
    return torch.mm(a, b).reshape(shape)

def pad_sequence(sequences: List[Tensor], batch_first: bool, padding_value: float):
    longest = 0
    for s in sequences:
        longest = max(longest, s.size(0))
    padded: List[Tensor] = []
    for s in sequences:
        s = s.to(sequences[0].dtype)
        padded.append(torch.constant_pad_nd(s, [0, 0] * (s.dim() - 1) + [0, longest - s.size(0)], padding_value))
    return torch.stack(padded, 0 if batch_first else 1)

def msort(self):
    return torch.sort(self, 0)[0]

def sort__stable(self, stable: Optional[bool], dim: int, descending: bool):
    _, index = torch.sort(self.detach(), stable=stable, dim=dim, descending=descending)
    if self.dim() == 0:
        return self.clone(), index
    return torch.gather(self, dim, index), index


# ---- indexing ----

def index_fill__int_Scalar(self, dim: int, index, value: number):
    mask = torch.index_fill(torch.zeros_like(self.detach(), dtype=torch.bool), dim, index, 1)
    return self.masked_fill(mask, value)

def index_fill__int_Tensor(self, dim: int, index, value):
    mask = torch.index_fill(torch.zeros_like(self.detach(), dtype=torch.bool), dim, index, 1)
    return self.masked_fill(mask, value)

def masked_scatter(self, mask, source):
    full, kept = torch.broadcast_tensors([mask.to(torch.bool), self])
    if source.numel() == 0:
        return kept.clone()
    position = torch.cumsum(full.reshape(-1).to(torch.int64), 0) - 1
    picked = source.reshape(-1)[torch.clamp(position, min=0, max=source.numel() - 1)].reshape(kept.shape)
    return torch.where(full, picked, kept)

def put(self, index, source, accumulate: bool):
    flat = self.reshape(-1)
    at = index.reshape(-1)
    at = torch.where(at < 0, at + flat.numel(), at)
    if accumulate:
        return flat.index_add(0, at, source.reshape(-1)).reshape(self.shape)
    return flat.index_copy(0, at, source.reshape(-1)).reshape(self.shape)

def scatter__reduce(self, dim: int, index, src, reduce: str):
    if reduce == "add":
        return torch.scatter_add(self, dim, index, src)
    return torch.scatter_reduce(self, dim, index, src, "prod")

def scatter__value_reduce(self, dim: int, index, value: number, reduce: str):
    return torch.scatter(self, dim, index, torch.full(index.shape, value, dtype=self.dtype, device=self.device), reduce=reduce)

def repeat_interleave__Tensor(repeats, output_size: Optional[int]):
    return torch.repeat_interleave(repeats.detach(), output_size=output_size)


# ---- matrices ----

def inner(self, other):
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    return torch.tensordot(self, other, [-1], [-1])

def kron(self, other):
    n = max(self.dim(), other.dim())
    a_shape = [1] * (n - self.dim()) + self.shape
    b_shape = [1] * (n - other.dim()) + other.shape
    shape: List[int] = []
    left: List[int] = []
    right: List[int] = []
    for i in range(n):
        shape.append(a_shape[i] * b_shape[i])
        left += [a_shape[i], 1]
        right += [1, b_shape[i]]
    return (self.reshape(left) * other.reshape(right)).reshape(shape)

def addbmm(self, batch1, batch2, beta: number, alpha: number):
    return torch.add(self * beta, torch.sum(torch.bmm(batch1, batch2), 0), alpha=alpha)

def bilinear(input1, input2, weight, bias: Optional[Tensor]):
    lead = input1.shape[:-1]
    a = input1.reshape(-1, input1.size(-1))
    b = input2.reshape(-1, input2.size(-1))
    y = torch.einsum("bi,oij,bj->bo", [a, weight, b])
    if bias is not None:
        y = y + bias
    return y.reshape(lead + [weight.size(0)])

def linalg_multi_dot(tensors: List[Tensor]):
    product = tensors[0]
    for i in range(1, len(tensors)):
        product = torch.matmul(product, tensors[i])
    return product

def cross(self, other, dim: Optional[int]):
    axis = -1
    if dim is not None:
        axis = dim
    else:
        for d in range(self.dim()):
            if axis == -1 and self.size(d) == 3:
                axis = d
    return torch.linalg_cross(self, other, dim=axis)

def linalg_cross(self, other, dim: int):
    a, b = torch.broadcast_tensors([self, other])
    return torch.roll(torch.roll(a, -1, dim) * torch.roll(b, 1, dim), 0, dim) - torch.roll(a, 1, dim) * torch.roll(b, -1, dim)

def linalg_vecdot(x, y, dim: int):
    return torch.sum(torch.conj(x) * y, dim)

def vander(x, N: Optional[int], increasing: bool):
    n = x.numel() if N is None else N
    powers = _own_powers(x, n)
    if not increasing:
        powers = powers.flip(1)
    return powers

def linalg_vander(x, N: Optional[int]):
    if x.dim() == 0:
        return torch.linalg_vander(x.unsqueeze(0), N=N)
    return _own_powers(x, x.size(-1) if N is None else N)

def _own_powers(x, n: int):
    x = x.unsqueeze(-1)
    if n == 0:
        return torch.ones_like(x).narrow(-1, 0, 0)
    sizes = x.size()
    sizes[-1] = n - 1
    return torch.cat([torch.ones_like(x), torch.cumprod(x.expand(sizes), -1)], -1)

def linalg_matrix_power(self, n: int):
    if n == 0:
        return self.clone().copy_(torch.eye(self.size(-1), dtype=self.dtype, device=self.device))
    if n == 1:
        return self.clone()
    base = self
    if n < 0:
        base = torch.linalg_inv(self)
    power = base
    missing = True
    rest = n  # whose magnitude may be one more than the largest integer
    while rest != 0:
        if rest % 2 == 1:
            power = base if missing else torch.matmul(power, base)
            missing = False
        rest = rest // 2 if n > 0 else (rest + 1) // 2
        if rest != 0:
            base = torch.matmul(base, base)
    return power

def logdet(self):
    sign, logs = torch.linalg_slogdet(self)
    if self.is_complex():
        return torch.log(sign) + logs
    return torch.where(sign >= 0, logs, torch.logdet(self.detach()))

def slogdet(self):
    sign, logs = torch.linalg_slogdet(self)
    return sign, logs

def linalg_inv_ex(self, check_errors: bool):
    found, info = torch.linalg_inv_ex(self.detach(), check_errors=check_errors)
    failed = (info != 0)[..., None, None]
    if info.numel() > 0 and bool(torch.all(failed)):  # what has failed has no gradient
        return found, info
    return torch.where(failed, found, torch.linalg_inv(_own_identity_where(failed, self))), info

def _own_identity_where(failed, matrices):
    return torch.where(failed, torch.eye(matrices.size(-1), dtype=matrices.dtype, device=matrices.device), matrices)

def linalg_solve_ex(A, B, left: bool, check_errors: bool):
    found, info = torch.linalg_solve_ex(A.detach(), B.detach(), left=left, check_errors=check_errors)
    failed = (info != 0)[..., None, None]
    if info.numel() > 0 and bool(torch.all(failed)):
        return found, info
    solved = torch.linalg_solve(_own_identity_where(failed, A), B, left=left)
    return (torch.where(failed, found, solved) if bool(torch.any(failed)) else solved), info

def linalg_cholesky_ex(self, upper: bool, check_errors: bool):
    found, info = torch.linalg_cholesky_ex(self.detach(), upper=upper, check_errors=check_errors)
    failed = (info != 0)[..., None, None]
    if info.numel() > 0 and bool(torch.all(failed)):
        return found, info
    return torch.where(failed, found, torch.linalg_cholesky(_own_identity_where(failed, self), upper=upper)), info

def cholesky_inverse(self, upper: bool):
    f = torch.triu(self) if upper else torch.tril(self)
    m = torch.matmul(torch.adjoint(f), f) if upper else torch.matmul(f, torch.adjoint(f))
    return torch.linalg_inv(m)

def cholesky_solve(self, input2, upper: bool):
    f = torch.triu(input2) if upper else torch.tril(input2)
    m = torch.matmul(torch.adjoint(f), f) if upper else torch.matmul(f, torch.adjoint(f))
    return torch.linalg_solve(m, self)

def triangular_solve(self, A, upper: bool, transpose: bool, unitriangular: bool):
    a = A.transpose(-2, -1) if transpose else A
    x = torch.linalg_solve_triangular(a, self, upper=upper != transpose, unitriangular=unitriangular)
    return x, A.clone()

def linalg_solve_triangular(self, B, upper: bool, left: bool, unitriangular: bool):
    a = torch.triu(self) if upper else torch.tril(self)
    if unitriangular:
        eye = torch.eye(self.size(-1), dtype=self.dtype, device=self.device)
        a = a - a * eye + eye
    return torch.linalg_solve(a, B, left=left)

def svd(self, some: bool, compute_uv: bool):
    u, s, vh = torch.linalg_svd(self, compute_uv and not some)
    if not compute_uv:
        u = torch.zeros(self.shape[:-1] + [self.size(-2)], dtype=self.dtype, device=self.device)
        vh = torch.zeros(self.shape[:-2] + [self.size(-1), self.size(-1)], dtype=self.dtype, device=self.device)
    return u, s, torch.adjoint(vh)

def linalg_svdvals(A, driver: Optional[str]):
    u, s, vh = torch.linalg_svd(A, False)
    return s

def qr(self, some: bool):
    q, r = torch.linalg_qr(self, "reduced" if some else "complete")
    return q, r

def linalg_eigvalsh(self, UPLO: str):
    values, vectors = torch.linalg_eigh(self, UPLO)
    return values

def pinverse(self, rcond: float):
    return torch.linalg_pinv(self, rcond, False)

def linalg_matrix_norm(self, ord: number, dim: List[int], keepdim: bool, dtype: Optional[int]):
    x = self if dtype is None else self.to(dtype)
    order = float(ord)
    rows, columns = dim[0] % x.dim(), dim[1] % x.dim()
    if abs(order) == 2.0:
        moved = x.movedim([rows, columns], [-2, -1])
        values = torch.linalg_svdvals(moved)
        found = torch.amax(values, -1) if order > 0 else torch.amin(values, -1)
        if keepdim:
            found = found.unsqueeze(min(rows, columns)).unsqueeze(max(rows, columns))
        return found
    summed, extreme = rows, columns
    if abs(order) != 1.0:
        summed, extreme = columns, rows
    sums = torch.sum(torch.abs(x), summed, True)
    found = torch.amax(sums, extreme, True) if order > 0 else torch.amin(sums, extreme, True)
    if keepdim:
        return found
    return found.squeeze(max(rows, columns)).squeeze(min(rows, columns))

def linalg_matrix_norm__str_ord(self, ord: str, dim: List[int], keepdim: bool, dtype: Optional[int]):
    x = self if dtype is None else self.to(dtype)
    if ord == "fro":
        return torch.linalg_vector_norm(x, 2.0, dim, keepdim)
    rows, columns = dim[0] % x.dim(), dim[1] % x.dim()
    found = torch.sum(torch.linalg_svdvals(x.movedim([rows, columns], [-2, -1])), -1)
    if keepdim:
        found = found.unsqueeze(min(rows, columns)).unsqueeze(max(rows, columns))
    return found

def linalg_norm(self, ord: Optional[number], dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]):
    if ord is None:
        return torch.linalg_vector_norm(self, 2.0, dim, keepdim, dtype=dtype)
    if dim is None:
        if self.dim() == 2:
            return torch.linalg_matrix_norm(self, ord, [0, 1], keepdim, dtype=dtype)
    elif len(dim) == 2:
        return torch.linalg_matrix_norm(self, ord, dim, keepdim, dtype=dtype)
    return torch.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype)

def linalg_norm__ord_str(self, ord: str, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]):
    dims = [-2, -1]
    if dim is not None:
        dims = dim
    return torch.linalg_matrix_norm(self, ord, dims, keepdim, dtype=dtype)

def linalg_tensorinv(self, ind: int):
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    lead, rest = self.shape[:ind], self.shape[ind:]
    n = 1
    for s in rest:
        n *= s
    return torch.linalg_inv(self.reshape(-1, n)).reshape(rest + lead)


# ---- distances ----

def pairwise_distance(x1, x2, p: float, eps: float, keepdim: bool):
    return torch.norm(x1 - x2 + eps, p, [-1], keepdim)

def _own_roots(squares):
    zero = squares <= 0
    return torch.sqrt(squares.masked_fill(zero, 1.0)).masked_fill(zero, 0.0)

def _own_distances(difference, p: float):
    if p == 2.0:
        return _own_roots(torch.sum(difference * difference, -1))
    if p == 0.0:
        return torch.sum(torch.abs(torch.sgn(difference)), -1)
    if p == 1.0:
        return torch.sum(torch.abs(difference), -1)
    if abs(p) > 1e300:
        return torch.amax(torch.abs(difference), [-1])
    powers = torch.sum(torch.pow(torch.abs(difference), p), -1)
    zero = powers == 0
    return torch.pow(powers.masked_fill(zero, 1.0), 1.0 / p).masked_fill(zero, 0.0)

def _cdist_forward(x1, x2, p: float, compute_mode: Optional[int]):
    mode = 0 if compute_mode is None else compute_mode
    if p == 2.0 and (mode == 1 or mode == 0 and (x1.size(-2) > 25 or x2.size(-2) > 25)):
        squares = torch.sum(x1 * x1, -1, True) + torch.sum(x2 * x2, -1).unsqueeze(-2)
        return _own_roots(squares - 2.0 * torch.matmul(x1, x2.transpose(-2, -1)))
    return _own_distances(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)

def _pdist_forward(self, p: float):
    pairs = torch.combinations(torch.arange(self.size(0), device=self.device), 2)
    return _own_distances(self[pairs[:, 0]] - self[pairs[:, 1]], p)


# ---- losses ----

def _own_reduce(x, reduction: int):
    if reduction == 1:
        return torch.mean(x)
    if reduction == 2:
        return torch.sum(x)
    return x

def hinge_embedding_loss(self, target, margin: float, reduction: int):
    zero = torch.zeros_like(self.detach())
    far = torch.where(target != 1, torch.clamp_min(margin - self, 0.0), zero)
    near = torch.where(target != -1, self, zero)
    return _own_reduce(far + near, reduction)

def margin_ranking_loss(input1, input2, target, margin: float, reduction: int):
    return _own_reduce(torch.clamp_min(-target * (input1 - input2) + margin, 0.0), reduction)

def soft_margin_loss(self, target, reduction: int):
    return _own_reduce(torch.log1p(torch.exp(-target * self)).to(self.dtype), reduction)

def poisson_nll_loss(input, target, log_input: bool, full: bool, eps: float, reduction: int):
    if log_input:
        loss = torch.exp(input) - target * input
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2.0 * 3.141592653589793 * target)
        loss = loss + stirling.masked_fill(target <= 1, 0.0)
    return _own_reduce(loss, reduction)

def cosine_embedding_loss(input1, input2, target, margin: float, reduction: int):
    dim = target.dim()
    eps = 1e-12
    product = torch.sum(input1 * input2, dim)
    length1 = torch.sum(input1 * input1, dim) + eps
    length2 = torch.sum(input2 * input2, dim) + eps
    cosine = product / torch.sqrt(length1 * length2)
    zeros = torch.zeros_like(cosine.detach())
    near = torch.where(target == 1, 1.0 - cosine, zeros)
    far = torch.where(target == -1, torch.clamp_min(cosine - margin, 0.0), zeros)
    return _own_reduce(near + far, reduction)

def triplet_margin_loss(anchor, positive, negative, margin: float, p: float, eps: float, swap: bool, reduction: int):
    near = torch.pairwise_distance(anchor, positive, p, eps)
    far = torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))
    return _own_reduce(torch.clamp_min(margin + near - far, 0.0), reduction)

def multi_margin_loss(self, target, p: number, margin: number, weight: Optional[Tensor], reduction: int):
    x = self if self.dim() == 2 else (self.reshape(1, 1) if self.dim() == 0 else self.unsqueeze(0))
    t = target.reshape(-1)
    right = torch.gather(x, 1, t.unsqueeze(1))
    z = torch.clamp_min((x - right) + margin, 0.0)
    if float(p) == 2.0:
        z = z * z
    if weight is not None:
        z = z * weight[t].unsqueeze(1)
    z = z * (torch.arange(x.size(1), device=x.device).unsqueeze(0) != t.unsqueeze(1)).to(x.dtype)
    loss = torch.sum(z, 1) / x.size(1)
    if reduction == 0:
        loss = loss.reshape(target.shape)
    return _own_reduce(loss, reduction)

def _own_multilabel(self, target):
    x = self if self.dim() == 2 else self.reshape(1, -1)
    t = target.reshape(x.shape)
    valid = torch.cumprod((t >= 0).to(torch.int64), 1) > 0
    safe = t.masked_fill(valid.logical_not(), 0)
    is_target = torch.scatter_add(torch.zeros_like(x.detach()), 1, safe, valid.to(x.dtype)) > 0
    right = torch.gather(x, 1, safe)
    z = torch.clamp_min(1.0 - right.unsqueeze(2) + x.unsqueeze(1), 0.0)
    counts = valid.unsqueeze(2).logical_and(is_target.logical_not().unsqueeze(1))
    return torch.sum(z * counts.to(x.dtype), [1, 2]) / x.size(1), is_target.to(x.dtype)

def multilabel_margin_loss(self, target, reduction: int):
    loss, _ = _own_multilabel(self, target)
    if self.dim() < 2 and reduction == 0:
        loss = loss.squeeze(0)
    return _own_reduce(loss, reduction)

def multilabel_margin_loss_forward(self, target, reduction: int):
    loss, is_target = _own_multilabel(self, target)
    if self.dim() < 2 and reduction == 0:
        loss = loss.squeeze(0)
    return _own_reduce(loss, reduction), is_target.reshape(target.shape)

# ---- networks ----

def feature_dropout(input, p: float, train: bool):
    return input * torch.feature_dropout(torch.ones_like(input.detach()), p, train)

def _own_alpha(input, zeros, p: float):
    alpha = -1.7580993408473766
    a = 1.0 / math.sqrt((alpha * alpha * p + 1.0) * (1.0 - p))
    b = -a * alpha * p
    kept = zeros > a * alpha * 0.5 + b
    return zeros + input * (kept.to(input.dtype) * a)

def alpha_dropout(input, p: float, train: bool):
    if not train or p == 0.0 or p == 1.0:
        return input * torch.alpha_dropout(torch.ones_like(input.detach()), p, train)
    return _own_alpha(input, torch.alpha_dropout(torch.zeros_like(input.detach()), p, train), p)

def feature_alpha_dropout(input, p: float, train: bool):
    if not train or p == 0.0 or p == 1.0:
        return input * torch.feature_alpha_dropout(torch.ones_like(input.detach()), p, train)
    return _own_alpha(input, torch.feature_alpha_dropout(torch.zeros_like(input.detach()), p, train), p)

def conv_tbc(self, weight, bias, pad: int):
    y = torch.conv1d(self.permute([1, 2, 0]), weight.permute([2, 1, 0]), bias, [1], [pad])
    return y.permute([2, 0, 1])

def _pad_circular(self, pad: List[int]):
    return torch.pad(self, pad, "circular")

def as_tensor(data, dtype: Optional[int], device: Optional[Device]):
    return data if dtype is None else data.to(dtype)

def cpu(self):
    return self

def _grad_sum_to_size(self, size: Optional[List[int]]):
    if size is None:
        return self
    return torch.sum_to_size(self, size)

def rrelu(self, lower: number, upper: number, training: bool, generator: Optional[Generator]):
    if not training:
        return torch.leaky_relu(self, (float(lower) + float(upper)) / 2.0)
    below = self.detach() <= 0
    sign = torch.ones_like(self.detach()).masked_fill(below, -1.0)
    drawn = torch.rrelu(sign, lower, upper, True, generator)
    return torch.where(below, self * -drawn, self)

def linalg_tensorsolve(self, other, dims: Optional[List[int]]):
    a = self
    if dims is not None:
        rest: List[int] = []
        moved = [d % self.dim() for d in dims]
        for d in range(self.dim()):
            if d not in moved:
                rest.append(d)
        a = self.permute(rest + moved)
    n = other.numel()
    return torch.linalg_solve(a.reshape(n, -1), other.reshape(-1)).reshape(a.shape[other.dim():])

def _own_ctc(emitted, labels, lengths, sizes):
    # emitted (N, T, S): what each step gives to labels (N, S) with blanks between them, of which sizes count, in as many steps as lengths
    skips = torch.cat([torch.zeros_like(labels[:, :2], dtype=torch.bool), labels[:, 2:] != labels[:, :-2]], 1)
    skips = skips[:, :labels.size(1)].logical_not()
    never = torch.full_like(emitted[:, 0, :1], -1e30)
    never2 = torch.cat([never, never], 1)
    places = torch.arange(labels.size(1), device=labels.device)
    alpha = emitted[:, 0].masked_fill((places > 1).logical_or(lengths == 0), -1e30)
    for t in range(1, emitted.size(1)):
        before = torch.cat([never, alpha], 1)[:, :-1]
        twice = torch.cat([never2, alpha], 1)[:, :-2].masked_fill(skips, -1e30)
        alpha = torch.where(lengths > t, torch.logsumexp(torch.stack([alpha, before, twice]), [0]) + emitted[:, t], alpha)
    ends = torch.gather(alpha, 1, torch.cat([sizes - 1, torch.clamp(sizes - 2, min=0)], 1))
    return -torch.logsumexp(torch.where(torch.cat([sizes < 1, sizes < 2], 1), torch.full_like(ends, -1e30), ends), [1])

def ctc_loss__IntList(log_probs, targets, input_lengths: List[int], target_lengths: List[int], blank: int, reduction: int, zero_infinity: bool):
    single = log_probs.dim() == 2
    logs = (log_probs.unsqueeze(1) if single else log_probs).transpose(0, 1)
    longest = max([0] + target_lengths)
    labels = torch.full([len(target_lengths), 2 * longest + 1], blank, dtype=torch.int64, device=log_probs.device)
    start = 0
    for n in range(len(target_lengths)):
        size = target_lengths[n]
        if targets.dim() == 2:
            labels[n, 1:2 * size:2] = targets[n, :size]
        else:
            labels[n, 1:2 * size:2] = targets[start:start + size]
        start += size
    lengths = torch.tensor(input_lengths, device=log_probs.device).unsqueeze(1)
    sizes = torch.tensor(target_lengths, device=log_probs.device).unsqueeze(1)
    emitted = torch.gather(logs, 2, labels.unsqueeze(1).expand(labels.size(0), logs.size(1), labels.size(1)))
    # PyTorch's gradient is the one with respect to what log_softmax was given: probabilities less those of the labels
    late = torch.arange(logs.size(1), device=log_probs.device) >= lengths
    whole = logs.exp().sum([2]).masked_fill(late, 0).sum([1])
    loss = _own_ctc(emitted, labels, lengths, 2 * sizes + 1) + (whole - whole.detach())
    never = loss.detach() > 1e29
    if zero_infinity:
        loss = torch.where(never, torch.zeros_like(loss), loss)
    elif bool(never.any()):
        rows = never.nonzero().squeeze(1)
        own = whole[rows]
        loss = loss.index_put([rows], 1e400 + torch.sqrt(0.0 * (own - own.detach())))  # no number is its gradient
    if reduction == 1:
        return torch.mean(loss / torch.clamp(sizes.squeeze(1), min=1).to(loss.dtype))
    if reduction == 2:
        return torch.sum(loss)
    return loss[0] if single else loss

def ctc_loss__Tensor(log_probs, targets, input_lengths, target_lengths, blank: int, reduction: int, zero_infinity: bool):
    inputs: List[int] = input_lengths.reshape(-1).tolist()
    sizes: List[int] = target_lengths.reshape(-1).tolist()
    return torch.ctc_loss(log_probs, targets, inputs, sizes, blank, reduction, zero_infinity)


# ---- Fourier transforms ----

def _own_opposite(norm: Optional[str]) -> str:
    if norm is None or norm == "backward":
        return "forward"
    return "backward" if norm == "forward" else norm

def _own_dims(x, s: Optional[List[int]], dim: Optional[List[int]]) -> List[int]:
    if dim is not None:
        return dim
    return [d for d in range(x.dim())] if s is None else [d - len(s) for d in range(len(s))]

def _own_size(s: Optional[List[int]], i: int) -> Optional[int]:
    if s is None or s[i] == -1:
        return None
    return s[i]

def fft_hfft(self, n: Optional[int], dim: int, norm: Optional[str]):
    return torch.fft_irfft(torch.conj(self), n, dim, _own_opposite(norm))

def fft_ihfft(self, n: Optional[int], dim: int, norm: Optional[str]):
    return torch.conj(torch.fft_rfft(self, n, dim, _own_opposite(norm)))

def _own_complex(x):
    return x if x.is_complex() else torch.complex(x, torch.zeros_like(x))

def fft_fftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    x = self
    if len(_own_dims(self, s, dim)) == 0:
        return _own_complex(x)
    for i, d in enumerate(_own_dims(self, s, dim)):
        x = torch.fft_fft(x, _own_size(s, i), d, norm)
    return x

def fft_ifftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    x = self
    if len(_own_dims(self, s, dim)) == 0:
        return _own_complex(x)
    for i, d in enumerate(_own_dims(self, s, dim)):
        x = torch.fft_ifft(x, _own_size(s, i), d, norm)
    return x

def fft_rfftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    dims = _own_dims(self, s, dim)
    last = len(dims) - 1
    x = torch.fft_rfft(self, _own_size(s, last), dims[last], norm)
    for i in range(last):
        x = torch.fft_fft(x, _own_size(s, i), dims[i], norm)
    return x

def fft_irfftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    dims = _own_dims(self, s, dim)
    last = len(dims) - 1
    x = self
    for i in range(last):
        x = torch.fft_ifft(x, _own_size(s, i), dims[i], norm)
    return torch.fft_irfft(x, _own_size(s, last), dims[last], norm)

def fft_hfftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    dims = _own_dims(self, s, dim)
    last = len(dims) - 1
    x = self
    for i in range(last):
        x = torch.fft_fft(x, _own_size(s, i), dims[i], norm)
    return torch.fft_hfft(x, _own_size(s, last), dims[last], norm)

def fft_ihfftn(self, s: Optional[List[int]], dim: Optional[List[int]], norm: Optional[str]):
    dims = _own_dims(self, s, dim)
    last = len(dims) - 1
    x = torch.fft_ihfft(self, _own_size(s, last), dims[last], norm)
    for i in range(last):
        x = torch.fft_ifft(x, _own_size(s, i), dims[i], norm)
    return x

def fft_fftshift(self, dim: Optional[List[int]]):
    dims = _own_dims(self, None, dim)
    return torch.roll(self, [self.size(d) // 2 for d in dims], dims)

def fft_ifftshift(self, dim: Optional[List[int]]):
    dims = _own_dims(self, None, dim)
    return torch.roll(self, [(self.size(d) + 1) // 2 for d in dims], dims)

def stft__center(self, n_fft: int, hop_length: Optional[int], win_length: Optional[int], window: Optional[Tensor], center: bool, pad_mode: str, normalized: bool, onesided: Optional[bool], return_complex: Optional[bool]):
    x = self
    if center:
        rows = self.reshape(1, -1, self.size(-1))
        x = torch.pad(rows, [n_fft // 2, n_fft // 2], pad_mode).reshape(self.shape[:-1] + [-1])
    return torch.stft(x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)

def stft(self, n_fft: int, hop_length: Optional[int], win_length: Optional[int], window: Optional[Tensor], normalized: bool, onesided: Optional[bool], return_complex: Optional[bool]):
    width = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    frames = self.unfold(-1, n_fft, hop)
    if window is not None or width < n_fft:
        weights = torch.ones([width], dtype=self.dtype, device=self.device) if window is None else window
        left = (n_fft - width) // 2
        frames = frames * torch.constant_pad_nd(weights, [left, n_fft - width - left])
    norm = "ortho" if normalized else "backward"
    half = not frames.is_complex() if onesided is None else onesided
    out = torch.fft_rfft(frames, None, -1, norm) if half else torch.fft_fft(frames, None, -1, norm)
    out = out.transpose(-1, -2)
    complex = self.is_complex() if return_complex is None else return_complex
    return out if complex else torch.view_as_real(out)

def _own_overlap_add(frames, hop: int):
    count, n = frames.size(-2), frames.size(-1)
    places = (torch.arange(count, device=frames.device) * hop).unsqueeze(1) + torch.arange(n, device=frames.device)
    total = torch.zeros([frames.size(0), n + hop * (count - 1)], dtype=frames.dtype, device=frames.device)
    return total.index_add(1, places.reshape(-1), frames.reshape(frames.size(0), -1))

def istft(self, n_fft: int, hop_length: Optional[int], win_length: Optional[int], window: Optional[Tensor], center: bool, normalized: bool, onesided: Optional[bool], length: Optional[int], return_complex: bool):
    spectrum = self if self.is_complex() else torch.view_as_complex(self.contiguous())
    width = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    single = spectrum.dim() == 2
    if single:
        spectrum = spectrum.unsqueeze(0)
    half = spectrum.size(1) != n_fft if onesided is None else onesided
    if spectrum.dim() != 3 or spectrum.size(2) == 0:
        raise RuntimeError("istft expected a tensor with 2 or 3 dimensions and at least one frame")
    if spectrum.size(1) != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError("istft expected the frequency dimension (3rd to the last) of the input tensor to match n_fft")
    if hop <= 0 or hop > width:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if width <= 0 or width > n_fft:
        raise RuntimeError("istft: expected 0 < win_length <= n_fft")
    weights = torch.ones([width], dtype=torch.real(spectrum).dtype, device=spectrum.device)
    if window is not None:
        if window.dim() != 1 or window.size(0) != width:
            raise RuntimeError("istft: Invalid window shape. window has to be 1D and length of `win_length`")
        weights = window
    left = (n_fft - width) // 2
    weights = torch.constant_pad_nd(weights, [left, n_fft - width - left])
    norm = "ortho" if normalized else "backward"
    frames = spectrum.transpose(1, 2)
    frames = torch.fft_ifft(frames, None, -1, norm) if return_complex else torch.fft_irfft(frames if half else frames[:, :, :n_fft // 2 + 1], n_fft, -1, norm)
    signal = _own_overlap_add(frames * weights, hop)
    envelope = _own_overlap_add((weights * weights).expand(1, frames.size(1), n_fft), hop)
    start = n_fft // 2 if center else 0
    end = signal.size(1)
    if length is not None:
        end = start + length
    elif center:
        end = end - n_fft // 2
    signal = signal[:, start:end]
    envelope = envelope[:, start:end]
    if bool(envelope.detach().abs().min() <= 1e-11):
        raise RuntimeError("window overlap add min: 1")
    signal = signal / envelope
    if end - start > signal.size(1):
        signal = torch.constant_pad_nd(signal, [0, end - start - signal.size(1)])
    return signal.squeeze(0) if single else signal


# ---- decompositions that others are made of ----

def linalg_lu_factor(A, pivot: bool):
    _, pivots = torch.linalg_lu_factor(A.detach(), pivot=pivot)
    return _own_packed(A, pivot), pivots

def linalg_lu_factor_ex(A, pivot: bool, check_errors: bool):
    _, pivots, info = torch.linalg_lu_factor_ex(A.detach(), pivot=pivot, check_errors=check_errors)
    return _own_packed(A, pivot), pivots, info

def _lu_with_info(self, pivot: bool, check_errors: bool):
    packed, pivots, info = torch.linalg_lu_factor_ex(self, pivot=pivot, check_errors=check_errors)
    return packed, pivots, info

def _own_packed(A, pivot: bool):
    _, l, u = torch.linalg_lu(A, pivot=pivot)
    m, n = A.size(-2), A.size(-1)
    return torch.constant_pad_nd(torch.tril(l, -1), [0, max(n - m, 0)]) + torch.constant_pad_nd(u, [0, 0, 0, max(m - n, 0)])

def _own_row_swaps(like, pivots, m: int):
    k = pivots.size(-1)
    rest = torch.arange(k + 1, m + 1, device=pivots.device).to(pivots.dtype).expand(pivots.shape[:-1] + [m - k])
    eye = torch.eye(m, dtype=torch.float32, device=like.device).expand(pivots.shape[:-1] + [m, m])
    return torch.linalg_lu_solve(eye, torch.cat([pivots, rest], -1), eye).to(like.dtype)

def linalg_lu_solve(LU, pivots, B, left: bool, adjoint: bool):
    swaps = _own_row_swaps(LU, pivots, LU.size(-1))
    eye = torch.eye(LU.size(-1), dtype=LU.dtype, device=LU.device)
    A = torch.matmul(swaps.transpose(-2, -1), torch.matmul(torch.tril(LU, -1) + eye, torch.triu(LU)))
    return torch.linalg_solve(torch.adjoint(A) if adjoint else A, B, left=left)

def lu_solve(self, LU_data, LU_pivots):
    return torch.linalg_lu_solve(LU_data, LU_pivots, self)

def lu_unpack(LU_data, LU_pivots, unpack_data: bool, unpack_pivots: bool):
    if LU_data.dim() < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: " + str(LU_data.shape) + " instead")
    m, n = LU_data.size(-2), LU_data.size(-1)
    k = min(m, n)
    if unpack_pivots and LU_pivots.dtype != torch.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")
    if unpack_pivots and LU_pivots.shape != LU_data.shape[:-2] + [k]:
        raise RuntimeError("Expected LU_pivots to have shape " + str(LU_data.shape[:-2] + [k]) + " but got " + str(LU_pivots.shape) + " instead.")
    nothing = torch.empty([0], dtype=LU_data.dtype, device=LU_data.device)
    l, u, p = nothing, nothing, nothing
    if unpack_data:
        l = torch.tril(LU_data, -1).narrow(-1, 0, k) + torch.eye(m, k, dtype=LU_data.dtype, device=LU_data.device)
        u = torch.triu(LU_data).narrow(-2, 0, k).contiguous()
    if unpack_pivots:
        p = _own_row_swaps(LU_data, LU_pivots, m).transpose(-2, -1).contiguous()
    return p, l.contiguous(), u

def _own_least_squares(self, b, rcond: Optional[float], driver: Optional[str]):
    return torch.linalg_lstsq(self, b, rcond, driver=driver)

def linalg_lstsq(self, b, rcond: Optional[float], driver: Optional[str]):
    # the operator itself gives its results; this is what their gradients go through
    _, residuals, rank, values = _own_least_squares(self.detach(), b.detach(), rcond, driver)
    vector = b.dim() == 1 or (self.dim() - 1 == b.dim() and b.shape == self.shape[:-1])
    x = torch.matmul(torch.linalg_pinv(self), b.unsqueeze(-1) if vector else b)
    return x.squeeze(-1) if vector else x, residuals, rank, values

def _own_inverse(self):
    inverted, info = torch.linalg_inv_ex(self)
    singular = info != 0
    return inverted.masked_fill(singular[..., None, None], 0.0), singular

def linalg_cond(self, p: Optional[number]):
    order = 2.0 if p is None else float(p)
    if abs(order) == 2.0:
        s = torch.linalg_svdvals(self)
        first, last = s.select(-1, 0), s.select(-1, -1)
        return first / last if order > 0.0 else last / first
    inverted, singular = _own_inverse(self)
    return (torch.linalg_matrix_norm(self, order) * torch.linalg_matrix_norm(inverted, order)).masked_fill(singular, 1e400)

def linalg_cond__p_str(self, p: str):
    inverted, singular = _own_inverse(self)
    return (torch.linalg_matrix_norm(self, p) * torch.linalg_matrix_norm(inverted, p)).masked_fill(singular, 1e400)

def nuclear_norm__dim(self, dim: List[int], keepdim: bool):
    total = torch.sum(torch.linalg_svdvals(torch.movedim(self, dim, [-2, -1])), -1)
    if keepdim:
        for d in sorted([d + self.dim() if d < 0 else d for d in dim]):
            total = total.unsqueeze(d)
    return total

def _euclidean_dist(x1, x2):
    return torch.cdist(x1, x2, 2.0, None)

def tensor_split__tensor_indices_or_sections(self, tensor_indices_or_sections, dim: int):
    if tensor_indices_or_sections.dim() == 0:
        return torch.tensor_split(self, int(tensor_indices_or_sections), dim)
    indices: List[int] = tensor_indices_or_sections.tolist()
    return torch.tensor_split(self, indices, dim)

def _batch_norm_impl_index(input, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor], running_var: Optional[Tensor], training: bool, momentum: float, eps: float, cudnn_enabled: bool):
    out, mean, scale = torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return out, mean, scale, torch.empty([0], dtype=torch.uint8), 0

def _cast_Double(self, non_blocking: bool):
    return self.to(torch.float64)

def _cast_Float(self, non_blocking: bool):
    return self.to(torch.float32)

def _cast_Half(self, non_blocking: bool):
    return self.to(torch.float16)

def linalg_eigvals(self):
    return torch.linalg_eig(self)[0]


# ---- reflections ----

def linalg_householder_product(input, tau):
    rows = input.size(-2)
    columns = input.size(-1)
    q = torch.eye(rows, columns, dtype=input.dtype, device=input.device).expand(input.shape).clone()
    if tau.size(-1) == 0:
        return q + input.masked_fill(torch.ones_like(input, dtype=torch.bool), 0)
    for j in range(tau.size(-1)):
        i = tau.size(-1) - 1 - j
        v = torch.tril(input, -1).select(-1, i)
        unit = torch.zeros([rows], dtype=input.dtype, device=input.device)
        unit[i] = 1
        v = (v + unit).unsqueeze(-1)
        q = q - tau.select(-1, i).unsqueeze(-1).unsqueeze(-1) * v.matmul(v.mH.matmul(q))
    return q

def _own_full_reflectors(input, tau):
    rows = input.size(-2)
    extra = rows - input.size(-1)
    wide = input
    if extra < 0:
        wide = input.narrow(-1, 0, rows)
    if extra > 0:
        shape = [1]
        shape.clear()
        for d in range(input.dim() - 1):
            shape.append(input.size(d))
        shape.append(extra)
        wide = torch.cat([input, torch.zeros(shape, dtype=input.dtype, device=input.device)], -1)
    return torch.linalg_householder_product(wide, tau)

def ormqr(self, input2, input3, left: bool, transpose: bool):
    q = _own_full_reflectors(self, input2)
    if transpose:
        q = q.mH
    if left:
        return q.matmul(input3)
    return input3.matmul(q)
