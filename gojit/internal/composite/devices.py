# What operators are made of on a device that has no form of them. Nothing here is recorded: derivatives are those of the operators.


def rrelu(self, lower: number, upper: number, training: bool, generator: Optional[Generator]):
    if not training:
        return torch.leaky_relu(self, (float(lower) + float(upper)) / 2.0)
    slopes = torch.empty_like(self)
    torch.uniform_(slopes, float(lower), float(upper), generator=generator)
    return torch.where(self <= 0, self * slopes, self)


def allclose(self, other, rtol: float, atol: float, equal_nan: bool):
    return bool(torch.isclose(self, other, rtol, atol, equal_nan).all())


def mode(self, dim: int, keepdim: bool):
    # The smallest of the most frequent elements, and the last place of it.
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    ordered = self
    if self.dtype == torch.bool:
        ordered = self.to(torch.uint8)
    values, indices = torch.sort(ordered, dim)
    rows = values.movedim(dim, -1).contiguous()
    ends = torch.searchsorted(rows, rows, right=True)
    counts = ends - torch.searchsorted(rows, rows)
    place = ends.gather(-1, counts.argmax(-1, True)) - 1
    v = rows.gather(-1, place).movedim(-1, dim).to(self.dtype)
    i = indices.movedim(dim, -1).gather(-1, place).movedim(-1, dim)
    if keepdim:
        return v, i
    return v.squeeze(dim), i.squeeze(dim)


def _unique2(self, sorted: bool, return_inverse: bool, return_counts: bool):
    flat = self.reshape([-1])
    n = flat.numel()
    none = torch.zeros([0], dtype=torch.int64, device=self.device)
    if n == 0:
        return flat.clone(), torch.zeros(self.shape, dtype=torch.int64, device=self.device), none
    values, order = torch.sort(flat)
    first = torch.ones([n], dtype=torch.bool, device=self.device)
    first.narrow(0, 1, n - 1).copy_(values.narrow(0, 1, n - 1) != values.narrow(0, 0, n - 1))
    inverse = none
    if return_inverse:
        inverse = torch.zeros([n], dtype=torch.int64, device=self.device).scatter(0, order, torch.cumsum(first, 0) - 1).reshape(self.shape)
    counts = none
    if return_counts:
        starts = torch.nonzero(first).squeeze(1)
        counts = torch.cat([starts.narrow(0, 1, starts.numel() - 1), torch.full([1], n, dtype=torch.int64, device=self.device)]) - starts
    return values.masked_select(first), inverse, counts


# ---- losses ----

def _own_losses(self, target, weight: Optional[Tensor], ignore_index: int):
    # The loss of each target, which is an index along the second dimension, and what it weighs.
    ignored = target == ignore_index
    safe = torch.masked_fill(target, ignored, 0)
    if weight is None:
        weights = torch.ones_like(safe, dtype=self.dtype)
    else:
        weights = torch.index_select(weight, 0, safe.reshape([-1])).reshape(safe.shape)
    weights = torch.masked_fill(weights, ignored, 0.0)
    return -torch.gather(self, 1, safe.unsqueeze(1)).squeeze(1) * weights, weights


def _own_reduced(losses, weights, reduction: int):
    if reduction == 0:
        return losses, losses.sum() * 0
    total = weights.sum()
    if reduction == 1:
        return losses.sum() / total, total
    return losses.sum(), total


def nll_loss_forward(self, target, weight: Optional[Tensor], reduction: int, ignore_index: int):
    if self.dim() == 1:
        losses, weights = _own_losses(self.unsqueeze(0), target.reshape([1]), weight, ignore_index)
        return _own_reduced(losses.squeeze(0), weights.squeeze(0), reduction)
    losses, weights = _own_losses(self, target, weight, ignore_index)
    return _own_reduced(losses, weights, reduction)


def nll_loss2d_forward(self, target, weight: Optional[Tensor], reduction: int, ignore_index: int):
    losses, weights = _own_losses(self, target, weight, ignore_index)
    return _own_reduced(losses, weights, reduction)


def multi_margin_loss(self, target, p: number, margin: number, weight: Optional[Tensor], reduction: int):
    x = torch.atleast_2d(self)
    labels = target.reshape([-1, 1])
    gaps = torch.clamp_min(float(margin) - x.gather(1, labels) + x, 0.0) ** float(p)
    if weight is not None:
        gaps = gaps * weight.reshape([-1]).index_select(0, labels.reshape([-1])).unsqueeze(1)
    losses = torch.scatter(gaps, 1, labels, 0.0).sum([1]) / x.size(1)
    if reduction == 1:
        return losses.mean()
    if reduction == 2:
        return losses.sum()
    return losses.reshape(target.shape)


# ---- indices ----

def embedding_dense_backward(grad_output, indices, num_weights: int, padding_idx: int, scale_grad_by_freq: bool):
    width = grad_output.size(-1)
    rows = grad_output.reshape([-1, width])
    flat = indices.reshape([-1]).to(torch.int64)
    if scale_grad_by_freq:
        counts = torch.zeros([num_weights], dtype=grad_output.dtype, device=grad_output.device)
        counts = torch.index_add(counts, 0, flat, torch.ones_like(flat, dtype=grad_output.dtype))
        rows = rows / counts.index_select(0, flat).unsqueeze(1)
    if padding_idx >= 0:
        rows = torch.masked_fill(rows, (flat == padding_idx).unsqueeze(1), 0)
    return torch.index_add(torch.zeros([num_weights, width], dtype=grad_output.dtype, device=grad_output.device), 0, flat, rows)


def one_hot(self, num_classes: int):
    n = num_classes
    if self.numel() > 0:
        if int(self.min()) < 0:
            raise RuntimeError("Class values must be non-negative.")
        most = int(self.max())
        if n == -1:
            n = most + 1
        if most >= n:
            raise RuntimeError("Class values must be smaller than num_classes.")
    return (self.unsqueeze(-1) == torch.arange(n, device=self.device)).to(torch.int64)


def bincount(self, weights: Optional[Tensor], minlength: int):
    if self.numel() > 0 and int(self.min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    n = minlength
    if self.numel() > 0:
        n = max(n, int(self.max()) + 1)
    at = self.to(torch.int64)
    if weights is None:
        return torch.index_add(torch.zeros([n], dtype=torch.int64, device=self.device), 0, at, torch.ones_like(at))
    w = weights
    if w.dtype != torch.float32:
        w = w.to(torch.float64)
    return torch.index_add(torch.zeros([n], dtype=w.dtype, device=self.device), 0, at, w)


def repeat_interleave__Tensor(repeats, output_size: Optional[int]):
    ends = torch.cumsum(repeats, 0)
    n = 0
    if repeats.numel() > 0:
        n = int(ends[-1])
    return torch.searchsorted(ends, torch.arange(n, device=repeats.device), right=True).to(repeats.dtype)


def repeat_interleave__self_Tensor(self, repeats, dim: Optional[int], output_size: Optional[int]):
    x = self
    d = 0
    if dim is None:
        x = self.reshape([-1])
    else:
        d = dim
    times = repeats
    if repeats.numel() == 1:
        times = repeats.reshape([1]).expand([x.size(d)])
    return torch.index_select(x, d, torch.repeat_interleave(times.contiguous()).to(torch.int64))


def repeat_interleave__self_int(self, repeats: int, dim: Optional[int], output_size: Optional[int]):
    return torch.repeat_interleave(self, torch.full([1], repeats, dtype=torch.int64, device=self.device), dim)


def histc(self, bins: int, min: number, max: number):
    if bins <= 0:
        raise RuntimeError("torch.histogram(): bins must be > 0, but got " + str(bins) + " for dimension 0")
    low = float(min)
    high = float(max)
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    x = self.reshape([-1])
    if low == high and x.numel() > 0:
        low = float(x.min())
        high = float(x.max())
    if low == high:
        low -= 1.0
        high += 1.0
    inside = torch.logical_and(x >= low, x <= high)
    at = torch.clamp(torch.floor((x - low) * (bins / (high - low))), 0, bins - 1).masked_fill(torch.logical_not(inside), 0).to(torch.int64)
    return torch.index_add(torch.zeros([bins], dtype=self.dtype, device=self.device), 0, at, inside.to(self.dtype))


# ---- order ----

def _own_nth(self, place, dim: int, keepdim: bool):
    # The elements that places count along an ordered dimension, and where they were.
    values, indices = torch.sort(self, dim)
    v = values.gather(dim, place)
    i = indices.gather(dim, place)
    if keepdim:
        return v, i
    return v.squeeze(dim), i.squeeze(dim)


def kthvalue(self, k: int, dim: int, keepdim: bool):
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    if k < 1 or k > self.size(dim):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(dim))
    place = torch.full_like(self.narrow(dim, 0, 1), k - 1, dtype=torch.int64)
    return _own_nth(self, place, dim, keepdim)


def median__dim(self, dim: int, keepdim: bool):
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    nans = torch.isnan(self).sum([dim], True)
    middle = torch.full_like(nans, (self.size(dim) - 1) // 2)
    place = torch.where(nans > 0, self.size(dim) - nans, middle)
    return _own_nth(self, place, dim, keepdim)


def nanmedian__dim(self, dim: int, keepdim: bool):
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    numbers = self.size(dim) - torch.isnan(self).sum([dim], True)
    return _own_nth(self, torch.div(torch.clamp_min(numbers - 1, 0), 2, rounding_mode="floor"), dim, keepdim)


def median(self):
    if self.numel() == 0:
        return (self.sum() / 0).to(self.dtype)
    v, i = torch.median(self.reshape([-1]), 0)
    return v


def nanmedian(self):
    if self.numel() == 0:
        return (self.sum() / 0).to(self.dtype)
    v, i = torch.nanmedian(self.reshape([-1]), 0)
    return v


def logcumsumexp(self, dim: int):
    if self.dim() == 0 or self.numel() == 0:
        return self.clone()
    high, at = torch.cummax(self, dim)
    sums = torch.zeros_like(self)
    x = self.unsqueeze(-1).transpose(-1, dim)
    n = self.size(dim)
    # of all pairs along the dimension those count whose second is not behind the first
    rows = self.movedim(dim, -1)
    tops = high.movedim(dim, -1)
    kept = torch.ones([n, n], dtype=torch.bool, device=self.device).tril()
    parts = torch.exp(rows.unsqueeze(-2) - tops.unsqueeze(-1))
    total = torch.where(kept, parts, torch.zeros_like(parts)).sum([-1])
    return (torch.log(total) + tops).movedim(-1, dim)


# ---- bags of rows ----

def _own_bags(weight, indices, offsets, mode: int, factors: Optional[Tensor], includes_last: bool, padding: int):
    # The rows of each bag as one, the bags of the indices, how many rows each bag has, and for mode 2 the row that each largest element is of.
    flat = indices.reshape([-1]).to(torch.int64)
    n, width = flat.numel(), weight.size(1)
    places = torch.arange(n, device=weight.device)
    if indices.dim() == 2:
        bags = indices.size(0)
        bag = torch.div(places, max(indices.size(1), 1), rounding_mode="floor")
        inside = torch.ones_like(bag, dtype=torch.bool)
    else:
        starts = offsets.to(torch.int64)
        bags = starts.numel()
        if bags > 0:
            if int(starts[0]) != 0:
                raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got " + str(int(starts[0])))
            if int(starts[-1]) > n:
                raise RuntimeError("offsets[-1] can not be greater than input's length " + str(n) + " but got offsets[-1] of " + str(int(starts[-1])))
            if bool((starts.narrow(0, 1, bags - 1) < starts.narrow(0, 0, bags - 1)).any()):
                raise RuntimeError("embedding_bag: expected offsets in ascending order, but one is less than the one before it")
        if includes_last:
            if bags < 1:
                raise RuntimeError("include_last_offset: number of offset should be at least 1")
            bags -= 1
        bag = torch.searchsorted(starts, places, right=True) - 1
        inside = (bag >= 0) & (bag < bags)
        bag = torch.clamp(bag, 0, max(bags - 1, 0))
    rows = torch.embedding(weight, flat)
    kept = inside & (flat != padding)
    zeros = torch.zeros([bags], dtype=torch.int64, device=weight.device)
    if bags == 0:
        return torch.zeros([0, width], dtype=weight.dtype, device=weight.device), bag, zeros, torch.zeros([0, width], dtype=torch.int64, device=weight.device)
    sizes = torch.index_add(zeros, 0, bag, kept.to(torch.int64))
    if mode == 2:
        wide = bag.unsqueeze(1).expand([n, width])
        low = torch.masked_fill(rows, torch.logical_not(kept).unsqueeze(1), float("-inf"))
        most = torch.scatter_reduce(torch.full([bags, width], float("-inf"), dtype=weight.dtype, device=weight.device), 0, wide, low, "amax")
        best = (low == most.gather(0, wide)) | torch.isnan(low)
        first = torch.where(best & kept.unsqueeze(1), places.unsqueeze(1).expand([n, width]), torch.full([n, width], n, dtype=torch.int64, device=weight.device))
        at = torch.scatter_reduce(torch.full([bags, width], n, dtype=torch.int64, device=weight.device), 0, wide, first, "amin")
        none = at == n
        if n > 0:
            at = torch.masked_fill(flat.index_select(0, torch.clamp_max(at, n - 1).reshape([-1])).reshape([bags, width]), none, 0)
        return torch.masked_fill(most, none, 0.0), bag, sizes, torch.masked_fill(at, none, 0)
    work = torch.float32
    if weight.dtype == torch.float64:
        work = torch.float64
    parts = torch.masked_fill(rows.to(work), torch.logical_not(kept).unsqueeze(1), 0.0)
    if factors is not None:
        parts = parts * factors.reshape([-1, 1])
    sums = torch.index_add(torch.zeros([bags, width], dtype=work, device=weight.device), 0, bag, parts)
    if mode == 1:
        sums = sums / torch.clamp_min(sizes, 1).unsqueeze(1)
    return sums.to(weight.dtype), torch.where(inside, bag, torch.zeros_like(bag)), sizes, sizes.clone()


def _own_bag_results(weight, indices, offsets, mode: int, factors: Optional[Tensor], includes_last: bool, padding: int):
    if mode != 0 and factors is not None:
        name = "mean"
        if mode == 2:
            name = "max"
        raise RuntimeError("embedding_bag: per_sample_weights was not None, per_sample_weights is only supported for mode='sum' (got mode='" + name + "'). Please open a feature request on GitHub.")
    if factors is not None:
        if factors.numel() != indices.numel():
            raise RuntimeError("embedding_bag: expected as many per_sample_weights as indices, " + str(indices.numel()) + ", but got " + str(factors.numel()))
    out, bag, sizes, most = _own_bags(weight, indices, offsets, mode, factors, includes_last, padding)
    if mode == 0 and padding < 0:  # what PyTorch's shortcut leaves out
        return out, torch.zeros([0], dtype=torch.int64, device=weight.device), torch.zeros_like(sizes), torch.zeros_like(sizes)
    return out, bag, sizes, most


def embedding_bag(weight, indices, offsets, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Optional[Tensor], include_last_offset: bool):
    return _own_bag_results(weight, indices, offsets, mode, per_sample_weights, include_last_offset, -1)


def embedding_bag__padding_idx(weight, indices, offsets, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Optional[Tensor], include_last_offset: bool, padding_idx: Optional[int]):
    padding = -1
    if padding_idx is not None:
        padding = padding_idx
    return _own_bag_results(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding)


def _embedding_bag(weight, indices, offsets, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Optional[Tensor], include_last_offset: bool, padding_idx: int):
    return _own_bag_results(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx)


# ---- elements that are equal ----

def _own_groups(differs, n: int, wants_inverse: bool, wants_counts: bool):
    # Where groups of elements begin that differs tells apart from the ones before them, the group of each, and how many each has.
    first = torch.ones([n], dtype=torch.bool, device=differs.device)
    if n > 1:
        first.narrow(0, 1, n - 1).copy_(differs)
    starts = torch.nonzero(first).squeeze(1)
    none = torch.zeros([0], dtype=torch.int64, device=differs.device)
    inverse = none
    if wants_inverse:
        inverse = torch.cumsum(first, 0) - 1
    counts = none
    if wants_counts and n > 0:
        counts = torch.cat([starts.narrow(0, 1, starts.numel() - 1), torch.full([1], n, dtype=torch.int64, device=differs.device)]) - starts
    return starts, inverse, counts


def _own_rows_differ(rows):
    n = rows.size(0)
    if n < 2:
        return torch.zeros([0], dtype=torch.bool, device=rows.device)
    return (rows.narrow(0, 1, n - 1) != rows.narrow(0, 0, n - 1)).any(1)


def _own_rows(self, dim: int):
    moved = self.movedim(dim, 0)
    width = 1
    for size in moved.shape[1:]:
        width *= size
    return moved.reshape([moved.size(0), width])


def unique_consecutive(self, return_inverse: bool, return_counts: bool, dim: Optional[int]):
    if dim is not None:
        return torch.unique_dim_consecutive(self, dim, return_inverse, return_counts)
    flat = self.reshape([-1, 1])
    starts, inverse, counts = _own_groups(_own_rows_differ(flat), flat.size(0), return_inverse, return_counts)
    if return_inverse:
        inverse = inverse.reshape(self.shape)
    return flat.squeeze(1).index_select(0, starts), inverse, counts


def unique_dim_consecutive(self, dim: int, return_inverse: bool, return_counts: bool):
    starts, inverse, counts = _own_groups(_own_rows_differ(_own_rows(self, dim)), self.size(dim), return_inverse, return_counts)
    return self.index_select(dim, starts), inverse, counts


def unique_dim(self, dim: int, sorted: bool, return_inverse: bool, return_counts: bool):
    rows = _own_rows(self, dim)
    n = rows.size(0)
    order = torch.arange(n, device=self.device)
    for step in range(rows.size(1)):  # the first element counts most
        column = rows.select(1, rows.size(1) - 1 - step).index_select(0, order)
        values, places = torch.sort(column, stable=True)
        order = order.index_select(0, places)
    starts, inverse, counts = _own_groups(_own_rows_differ(rows.index_select(0, order)), n, True, True)
    inverse = torch.zeros_like(inverse).scatter(0, order, inverse)
    return self.index_select(dim, order.index_select(0, starts)), inverse, counts


def combinations(self, r: int, with_replacement: bool):
    if r == 0 or self.numel() == 0:
        return torch.zeros([0, r], dtype=self.dtype, device=self.device)[:, :r]
    places = torch.meshgrid([torch.arange(self.numel(), device=self.device) for i in range(r)], indexing="ij")
    chosen = torch.ones_like(places[0], dtype=torch.bool)
    for i in range(r - 1):
        if with_replacement:
            chosen = chosen & (places[i] <= places[i + 1])
        else:
            chosen = chosen & (places[i] < places[i + 1])
    return torch.stack([self.index_select(0, p.masked_select(chosen)) for p in places], 1)


def isin__Tensor_Tensor(elements, test_elements, assume_unique: bool, invert: bool):
    values = torch.sort(test_elements.reshape([-1]))[0]
    flat = elements.reshape([-1])
    if values.numel() == 0:
        found = torch.zeros_like(flat, dtype=torch.bool)
    else:
        at = torch.clamp_max(torch.searchsorted(values, flat), values.numel() - 1)
        found = values.index_select(0, at) == flat
    if invert:
        found = torch.logical_not(found)
    return found.reshape(elements.shape)


def isin__Tensor_Scalar(elements, test_element: number, assume_unique: bool, invert: bool):
    if invert:
        return elements != test_element
    return elements == test_element


def isin__Scalar_Tensor(element: number, test_elements, assume_unique: bool, invert: bool):
    found = (test_elements == element).any()
    if invert:
        return torch.logical_not(found)
    return found


# ---- complex numbers ----

def _own_cast(self, dtype: Optional[int]):
    if dtype is None:
        return self
    return self.to(dtype)


def _own_products(self):
    # The products along the last dimension: of halves, and of their halves.
    x = self
    while x.size(-1) > 1:
        half = x.size(-1) // 2
        y = x.narrow(-1, 0, half) * x.narrow(-1, half, half)
        if x.size(-1) % 2 == 1:
            y = torch.cat([y, x.narrow(-1, 2 * half, 1)], -1)
        x = y
    if x.size(-1) == 0:
        return torch.ones(x.shape[:x.dim() - 1], dtype=x.dtype, device=x.device)
    return x.squeeze(-1)


def prod(self, dtype: Optional[int]):
    return _own_products(_own_cast(self, dtype).reshape([-1]))


def prod__dim_int(self, dim: int, keepdim: bool, dtype: Optional[int]):
    x = _own_cast(self, dtype)
    if x.dim() == 0:
        return x.clone()
    out = _own_products(x.movedim(dim, -1))
    if keepdim:
        return out.unsqueeze(dim)
    return out


def var__correction(self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool):
    return torch.var(torch.real(self), dim, correction=correction, keepdim=keepdim) + torch.var(torch.imag(self), dim, correction=correction, keepdim=keepdim)


def var_mean__correction(self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool):
    d: List[int] = []
    if dim is not None:
        d = dim
    return torch.var(self, dim, correction=correction, keepdim=keepdim), torch.mean(self, d, keepdim)


def std_mean__correction(self, dim: Optional[List[int]], correction: Optional[int], keepdim: bool):
    d: List[int] = []
    if dim is not None:
        d = dim
    return torch.std(self, dim, correction=correction, keepdim=keepdim), torch.mean(self, d, keepdim)


def _own_correction(unbiased: bool):
    if unbiased:
        return 1
    return 0


def var_mean(self, unbiased: bool):
    return torch.var_mean(self, None, correction=_own_correction(unbiased), keepdim=False)


def std_mean(self, unbiased: bool):
    return torch.std_mean(self, None, correction=_own_correction(unbiased), keepdim=False)


def var_mean__dim(self, dim: Optional[List[int]], unbiased: bool, keepdim: bool):
    return torch.var_mean(self, dim, correction=_own_correction(unbiased), keepdim=keepdim)


def std_mean__dim(self, dim: Optional[List[int]], unbiased: bool, keepdim: bool):
    return torch.std_mean(self, dim, correction=_own_correction(unbiased), keepdim=keepdim)


# ---- random numbers ----

def _own_uniform(self, generator: Optional[Generator]):
    u = torch.empty_like(self)
    torch.uniform_(u, 0.0, 1.0, generator=generator)
    return u


def bernoulli(self, generator: Optional[Generator]):
    if bool(torch.logical_not((self >= 0) & (self <= 1)).any()):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return (_own_uniform(self, generator) < self).to(self.dtype)


def bernoulli___Tensor(self, p, generator: Optional[Generator]):
    q = p.expand(self.shape)
    if not q.is_floating_point():
        q = q.to(torch.float32)
    return self.copy_(torch.bernoulli(q, generator=generator))


def _own_normal(like, shape: List[int], generator: Optional[Generator]):
    noise = torch.empty(shape, dtype=like.dtype, device=like.device)
    torch.normal_(noise, 0.0, 1.0, generator=generator)
    return noise


def _own_deviations(std):
    if std.numel() > 0 and bool((std < 0).any()):
        raise RuntimeError("normal expects all elements of std >= 0.0")


def normal__Tensor_Tensor(mean, std, generator: Optional[Generator]):
    _own_deviations(std)
    both = torch.broadcast_tensors([mean, std])
    return _own_normal(std, both[0].shape, generator) * std + mean


def normal__Tensor_float(mean, std: float, generator: Optional[Generator]):
    return _own_normal(mean, mean.shape, generator) * std + mean


def normal__float_Tensor(mean: float, std, generator: Optional[Generator]):
    _own_deviations(std)
    return _own_normal(std, std.shape, generator) * std + mean


def multinomial(self, num_samples: int, replacement: bool, generator: Optional[Generator]):
    p = self.to(torch.float64)
    if bool(torch.logical_not((p >= 0) & torch.isfinite(p)).any()):
        if not replacement:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if bool((p < 0).any()):
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    if bool((p.sum([-1]) <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement:
        ends = torch.cumsum(p, -1)
        u = torch.empty(p.shape[:p.dim() - 1] + [num_samples], dtype=torch.float64, device=self.device)
        torch.uniform_(u, 0.0, 1.0, generator=generator)
        at = torch.searchsorted(ends, u * ends.narrow(-1, p.size(-1) - 1, 1), right=True)
        return torch.clamp_max(at, p.size(-1) - 1)
    waits = -torch.log1p(-_own_uniform(p, generator)) / p
    return torch.topk(waits, num_samples, -1, False)[1]


# ---- reading at places of a grid ----

def _own_bounded(x, size: int, padding_mode: int, align_corners: bool):
    # Coordinates of pixels with those beyond the border moved inside, and how much they move with what they were.
    factor = torch.ones_like(x)
    y = x
    if padding_mode == 2:
        low, span = -0.5, float(size)
        if align_corners:
            low, span = 0.0, float(size - 1)
        if span <= 0:
            return torch.zeros_like(x), torch.zeros_like(x)
        factor = torch.where(x < low, -factor, factor)
        away = (x - low).abs()
        over = torch.fmod(away, span)
        odd = torch.remainder(torch.floor(away / span), 2.0) != 0
        y = torch.where(odd, span - over, over) + low
        factor = torch.where(odd, -factor, factor)
    if padding_mode != 0:
        last = float(size - 1)
        factor = torch.where((y <= 0) | (y >= last), torch.zeros_like(factor), factor)
        y = torch.where(torch.isnan(y), torch.zeros_like(y), torch.clamp(y, 0.0, last))
    return y, factor


def _own_cubic(t):
    # The weights of four neighbours and their slopes, at t behind the second.
    a = -0.75
    weights: List[Tensor] = []
    slopes: List[Tensor] = []
    for x, sign in [(t + 1, 1.0), (t, 1.0), (1 - t, -1.0), (2 - t, -1.0)]:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((x - 5) * x + 8) * x * a - 4 * a
        weights.append(torch.where(x <= 1, near, far))
        slopes.append(sign * torch.where(x <= 1, (3 * (a + 2) * x - 2 * (a + 3)) * x, ((3 * x - 10) * x + 8) * a))
    return weights, slopes


def _own_taps(x, size: int, mode: int, padding_mode: int, align_corners: bool):
    # Which pixels along a dimension count at coordinates from -1 to 1, their weights, the slopes of the weights, and whether the pixels are there.
    scale = float(size) / 2
    place = ((x + 1) * size - 1) / 2
    if align_corners:
        scale = float(size - 1) / 2
        place = (x + 1) / 2 * (size - 1)
    pixels: List[Tensor] = []
    weights: List[Tensor] = []
    slopes: List[Tensor] = []
    if mode == 2:
        first = torch.floor(place)
        weights, slopes = _own_cubic(place - first)
        slopes = [s * scale for s in slopes]
        for i in range(4):
            pixels.append(torch.round(_own_bounded(first + (i - 1), size, padding_mode, align_corners)[0]))
    else:
        y, factor = _own_bounded(place, size, padding_mode, align_corners)
        factor = factor * scale
        if mode == 1:
            pixels.append(torch.round(y))
            weights.append(torch.ones_like(y))
            slopes.append(torch.zeros_like(y))
        else:
            first = torch.floor(y)
            pixels = [first, first + 1]
            weights = [1 - (y - first), y - first]
            slopes = [-factor, factor]
    there = [(p >= 0) & (p <= size - 1) for p in pixels]
    return [torch.where(t, p, torch.zeros_like(p)).to(torch.int64) for p, t in zip(pixels, there)], [torch.where(t, w, torch.zeros_like(w)) for w, t in zip(weights, there)], [torch.where(t, s, torch.zeros_like(s)) for s, t in zip(slopes, there)]


def _own_corners(n: int, dims: int):
    # All ways to take one of n for each of some dimensions.
    count = 1
    for d in range(dims):
        count *= n
    corners: List[List[int]] = []
    for i in range(count):
        corner: List[int] = []
        left = i
        for d in range(dims):
            corner.append(left % n)
            left = left // n
        corners.append(corner)
    return corners


def _own_sampled(input, grid, mode: int, padding_mode: int, align_corners: bool):
    # For each neighbour of the places of a grid its number among the pixels, its weight, and the slope of that along each dimension.
    dims = input.dim() - 2
    pixels: List[List[Tensor]] = []
    weights: List[List[Tensor]] = []
    slopes: List[List[Tensor]] = []
    for d in range(dims):
        p, w, s = _own_taps(grid.select(-1, dims - 1 - d), input.size(2 + d), mode, padding_mode, align_corners)
        pixels.append(p)
        weights.append(w)
        slopes.append(s)
    found: List[Tuple[Tensor, Tensor, List[Tensor]]] = []
    for corner in _own_corners(len(pixels[0]), dims):
        number = pixels[0][corner[0]]
        weight = weights[0][corner[0]]
        for d in range(1, dims):
            number = number * input.size(2 + d) + pixels[d][corner[d]]
            weight = weight * weights[d][corner[d]]
        along: List[Tensor] = []
        for d in range(dims):
            slope = slopes[d][corner[d]]
            for e in range(dims):
                if e != d:
                    slope = slope * weights[e][corner[e]]
            along.append(slope.reshape([input.size(0), 1, -1]))
        found.append((number.reshape([input.size(0), 1, -1]), weight.reshape([input.size(0), 1, -1]), along))
    return found


def _own_wide(self):
    if self.dtype == torch.float64:
        return self
    return self.to(torch.float32)


def _own_grid_sample(input, grid, mode: int, padding_mode: int, align_corners: bool):
    x, total = _own_wide(input).flatten(2), torch.zeros([0], dtype=torch.float32, device=input.device)
    shape = [input.size(0), input.size(1)] + grid.shape[1:grid.dim() - 1]
    for number, weight, along in _own_sampled(input, _own_wide(grid), mode, padding_mode, align_corners):
        part = x.gather(2, number.expand([x.size(0), x.size(1), number.size(2)])) * weight
        if total.dim() == 1:
            total = part
        else:
            total = total + part
    return total.reshape(shape).to(input.dtype)


def grid_sampler_2d(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool):
    return _own_grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool):
    return _own_grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


def _own_grid_backward(grad, input, grid, mode: int, padding_mode: int, align_corners: bool, output_mask: List[bool]):
    x, g = _own_wide(input).flatten(2), _own_wide(grad).flatten(2)
    dims = input.dim() - 2
    to_input = torch.zeros_like(x)
    to_grid = [torch.zeros([x.size(0), g.size(2)], dtype=x.dtype, device=x.device) for d in range(dims)]
    for number, weight, along in _own_sampled(input, _own_wide(grid), mode, padding_mode, align_corners):
        wide = number.expand([x.size(0), x.size(1), number.size(2)])
        if output_mask[0]:
            to_input = to_input.scatter_add(2, wide, g * weight)
        if output_mask[1]:
            values = x.gather(2, wide) * g
            for d in range(dims):
                to_grid[d] = to_grid[d] + (values * along[d]).sum([1])
    to_grid.reverse()
    return to_input.reshape(input.shape).to(input.dtype), torch.stack(to_grid, -1).reshape(grid.shape).to(grid.dtype)


def grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool, output_mask: List[bool]):
    return _own_grid_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask)


def grid_sampler_3d_backward(grad_output, input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool, output_mask: List[bool]):
    return _own_grid_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask)


# ---- windows ----

def _own_padded(self, padding: List[int]):
    return torch.constant_pad_nd(self, [padding[1], padding[1], padding[0], padding[0]], 0)


def im2col(self, kernel_size: List[int], dilation: List[int], padding: List[int], stride: List[int]):
    x = self
    if self.dim() == 3:
        x = self.unsqueeze(0)
    p = _own_padded(x, padding).contiguous()
    h = (p.size(2) - dilation[0] * (kernel_size[0] - 1) - 1) // stride[0] + 1
    w = (p.size(3) - dilation[1] * (kernel_size[1] - 1) - 1) // stride[1] + 1
    if h < 1 or w < 1:
        raise RuntimeError("im2col(): the array of sliding blocks has no elements")
    s = p.stride()
    windows = torch.as_strided(
        p, [p.size(0), p.size(1), kernel_size[0], kernel_size[1], h, w],
        [s[0], s[1], s[2] * dilation[0], s[3] * dilation[1], s[2] * stride[0], s[3] * stride[1]],
    )
    columns = windows.reshape([p.size(0), p.size(1) * kernel_size[0] * kernel_size[1], h * w])
    if self.dim() == 3:
        return columns.squeeze(0)
    return columns


def col2im(self, output_size: List[int], kernel_size: List[int], dilation: List[int], padding: List[int], stride: List[int]):
    x = self
    if self.dim() == 2:
        x = self.unsqueeze(0)
    h = output_size[0] + 2 * padding[0]
    w = output_size[1] + 2 * padding[1]
    rows = (h - dilation[0] * (kernel_size[0] - 1) - 1) // stride[0] + 1
    columns = (w - dilation[1] * (kernel_size[1] - 1) - 1) // stride[1] + 1
    taps = kernel_size[0] * kernel_size[1]
    if x.size(1) % taps != 0 or x.size(2) != rows * columns:
        raise RuntimeError("col2im(): the input does not have the sliding blocks of the output")
    parts = x.reshape([x.size(0), x.size(1) // taps, kernel_size[0], kernel_size[1], rows, columns])
    total = torch.zeros([x.size(0), x.size(1) // taps, h, w], dtype=x.dtype, device=x.device)
    for i in range(kernel_size[0]):
        for j in range(kernel_size[1]):
            top = i * dilation[0]
            left = j * dilation[1]
            part = torch.slice(total, 2, top, top + (rows - 1) * stride[0] + 1, stride[0])
            part = torch.slice(part, 3, left, left + (columns - 1) * stride[1] + 1, stride[1])
            part += parts.select(2, i).select(2, j)
    inside = total.narrow(2, padding[0], output_size[0]).narrow(3, padding[1], output_size[1]).contiguous()
    if self.dim() == 2:
        return inside.squeeze(0)
    return inside


def _own_unpooled(self, indices, output_size: List[int], n: int):
    shape = self.shape[:self.dim() - n] + output_size
    planes = torch.zeros(shape, dtype=self.dtype, device=self.device).flatten(-n)
    return planes.scatter(-1, indices.flatten(-n), self.flatten(-n)).reshape(shape)


def _own_window_starts(samples, size: int, out: int, kernel: int):
    # Where windows begin whose distances vary, by a random number for each plane.
    places = torch.arange(out, device=samples.device)
    if out == 1:
        return torch.full(samples.shape + [1], size - kernel, dtype=torch.int64, device=samples.device)
    step = torch.full([1], size - kernel, dtype=samples.dtype, device=samples.device) / (out - 1)
    x = samples.unsqueeze(-1)
    starts = ((places + x) * step).to(torch.int64) - (x * step).to(torch.int64)
    return torch.where(places == out - 1, torch.full_like(starts, size - kernel), starts)


def _own_fractional_pool(self, kernel_size: List[int], output_size: List[int], random_samples):
    # The largest elements of windows of each plane, and their numbers among those of the plane.
    dims = len(kernel_size)
    n = self.dim() - dims
    lead, sizes = self.shape[:n], self.shape[n:]
    x = self.reshape([1, -1] + sizes)
    samples = random_samples.reshape([-1, dims]).narrow(0, 0, x.size(1)).unsqueeze(0).to(_own_wide(self).dtype)
    places = torch.zeros([1], dtype=torch.int64, device=self.device)
    for d in range(dims):
        sample = samples.select(-1, d)
        if dims == 2:  # those of planes are in the order width, height
            sample = samples.select(-1, 1 - d)
        starts = _own_window_starts(sample, sizes[d], output_size[d], kernel_size[d])
        own = starts.unsqueeze(-1) + torch.arange(kernel_size[d], device=self.device)
        shape = [x.size(0), x.size(1)]
        for e in range(dims):
            shape.append(output_size[e] if e == d else 1)
        for e in range(dims):
            shape.append(kernel_size[e] if e == d else 1)
        places = places * sizes[d] + own.reshape(shape)
    flat = places.flatten(2 + dims).reshape([x.size(0), x.size(1), -1])
    values = x.flatten(2).gather(2, flat).reshape(places.shape[:2 + dims] + [-1])
    most, at = values.max(-1)
    shape = lead + output_size
    return most.reshape(shape), flat.reshape(values.shape).gather(-1, at.unsqueeze(-1)).reshape(shape)


def fractional_max_pool2d(self, kernel_size: List[int], output_size: List[int], random_samples):
    return _own_fractional_pool(self, kernel_size, output_size, random_samples)


def fractional_max_pool3d(self, kernel_size: List[int], output_size: List[int], random_samples):
    return _own_fractional_pool(self, kernel_size, output_size, random_samples)


def _own_planes(grad, indices, self, n: int):
    planes = torch.zeros_like(self).flatten(-n)
    return planes.scatter_add(-1, indices.flatten(-n), grad.flatten(-n)).reshape(self.shape)


def fractional_max_pool2d_backward(grad_output, self, kernel_size: List[int], output_size: List[int], indices):
    return _own_planes(grad_output, indices, self, 2)


def fractional_max_pool3d_backward(grad_output, self, kernel_size: List[int], output_size: List[int], indices):
    return _own_planes(grad_output, indices, self, 3)


def max_unpool2d(self, indices, output_size: List[int]):
    return _own_unpooled(self, indices, output_size, 2)


def max_unpool3d(self, indices, output_size: List[int], stride: List[int], padding: List[int]):
    return _own_unpooled(self, indices, output_size, 3)


def _thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias: Optional[Tensor], hidden_bias: Optional[Tensor]):
    sums = input_gates + hidden_gates
    if input_bias is not None and hidden_bias is not None:
        sums = sums + input_bias + hidden_bias
    parts = torch.chunk(sums, 4, 1)
    write, keep, fresh, read = torch.sigmoid(parts[0]), torch.sigmoid(parts[1]), torch.tanh(parts[2]), torch.sigmoid(parts[3])
    cy = keep * cx + write * fresh
    return read * torch.tanh(cy), cy, torch.cat([write, keep, fresh, read], 1)


def _thnn_fused_lstm_cell_backward_impl(grad_hy: Optional[Tensor], grad_cy: Optional[Tensor], cx, cy, workspace, has_bias: bool):
    parts = torch.chunk(workspace, 4, 1)
    write, keep, fresh, read = parts[0], parts[1], parts[2], parts[3]
    shown = torch.tanh(cy)
    d_state = torch.zeros_like(cx)
    if grad_hy is not None:
        d_state = grad_hy
    d_memory = d_state * read * (1 - shown * shown)
    if grad_cy is not None:
        d_memory = d_memory + grad_cy
    d_write, d_keep = d_memory * fresh * write * (1 - write), d_memory * cx * keep * (1 - keep)
    d_fresh, d_read = d_memory * write * (1 - fresh * fresh), d_state * shown * read * (1 - read)
    d_gates = torch.cat([d_write, d_keep, d_fresh, d_read], 1)
    d_bias = torch.zeros([0], dtype=cx.dtype, device=cx.device)
    if has_bias:
        d_bias = d_gates.sum([0])
    return d_gates, d_memory * keep, d_bias


# ---- linear algebra: a column of a factor at a time, for all matrices of a batch ----

def _own_lead(a: List[int], b: List[int]):
    # The sizes of batches of two such together.
    n = max(len(a), len(b))
    lead: List[int] = []
    for i in range(n):
        x, y = 1, 1
        if i >= n - len(a):
            x = a[i - n + len(a)]
        if i >= n - len(b):
            y = b[i - n + len(b)]
        if x == 1:
            x = y
        lead.append(x)
    return lead


def _own_factors(self):
    # The LU factors of matrices as one, by partial pivoting; the row that each row comes from; the rows that were exchanged, counted from one; and the first zero of U's
    # diagonal, counted from one, zero where there is none.
    m, n = self.size(-2), self.size(-1)
    k = min(m, n)
    lead = self.shape[:self.dim() - 2]
    lu = self.clone(memory_format=0)
    rows = torch.arange(m, device=self.device).expand(lead + [m]).clone(memory_format=0)
    pivots = torch.zeros(lead + [k], dtype=torch.int32, device=self.device)
    info = torch.zeros(lead, dtype=torch.int32, device=self.device)
    if self.numel() == 0:
        return lu, rows, pivots, info
    for j in range(k):
        column = lu.select(-1, j).narrow(-1, j, m - j)
        if self.is_complex():
            at = torch.argmax(torch.real(column).abs() + torch.imag(column).abs(), -1, True) + j
        else:
            at = torch.argmax(column.abs(), -1, True) + j
        pivots.select(-1, j).copy_(at.squeeze(-1) + 1)
        here = rows.narrow(-1, j, 1).clone()
        there = rows.gather(-1, at)
        rows.scatter_(-1, at, here)
        rows.narrow(-1, j, 1).copy_(there)
        wide = at.unsqueeze(-1).expand(lead + [1, n])
        row = lu.narrow(-2, j, 1).clone()
        top = lu.gather(-2, wide)
        lu.scatter_(-2, wide, row)
        lu.narrow(-2, j, 1).copy_(top)
        pivot = top.narrow(-1, j, 1)
        zero = pivot == 0
        info = torch.where((info == 0) & zero.squeeze(-1).squeeze(-1), torch.full_like(info, j + 1), info)
        if j + 1 < m:
            below = lu.narrow(-2, j + 1, m - j - 1).narrow(-1, j, 1)
            below.copy_(torch.where(zero, below, below / torch.where(zero, torch.ones_like(pivot), pivot)))
            if j + 1 < n:
                lu.narrow(-2, j + 1, m - j - 1).narrow(-1, j + 1, n - j - 1).sub_(below * top.narrow(-1, j + 1, n - j - 1))
    return lu, rows, pivots, info


def _own_parity(pivots):
    # One for an even number of exchanges, else minus one.
    places = torch.arange(1, pivots.size(-1) + 1, device=pivots.device)
    return 1 - 2 * ((pivots != places).sum([-1]) % 2)


def _own_product(diagonal):
    # The products along the last dimension.
    if not diagonal.is_complex():
        return torch.prod(diagonal, -1)
    product = torch.ones(diagonal.shape[:diagonal.dim() - 1], dtype=diagonal.dtype, device=diagonal.device)
    for i in range(diagonal.size(-1)):
        product = product * diagonal.select(-1, i)
    return product


def _own_triangular(self, b, upper: bool, unit: bool):
    # The solutions x of self x = b; only a triangle of self is read.
    n = self.size(-1)
    lead = _own_lead(self.shape[:self.dim() - 2], b.shape[:b.dim() - 2])
    a = self.expand(lead + [n, n])
    x = b.expand(lead + [n, b.size(-1)]).clone(memory_format=0)
    for step in range(n):
        i = step
        first = 0
        if upper:
            i = n - 1 - step
            first = i + 1
        row = a.narrow(-2, i, 1)
        own = x.narrow(-2, i, 1)
        if step > 0:
            own.sub_(torch.matmul(row.narrow(-1, first, step), x.narrow(-2, first, step)))
        if not unit:
            own.div_(row.narrow(-1, i, 1))
    return x


def _own_solution(lu, rows, b):
    # The solutions of systems of equations of whose matrices the factors are given.
    lead = _own_lead(lu.shape[:lu.dim() - 2], b.shape[:b.dim() - 2])
    shape = lead + [b.size(-2), b.size(-1)]
    moved = b.expand(shape).gather(-2, rows.expand(lead + [b.size(-2)]).unsqueeze(-1).expand(shape))
    return _own_triangular(lu, _own_triangular(lu, moved, False, True), True, False)


def _own_identity(self):
    n = self.size(-1)
    return torch.eye(n, dtype=self.dtype, device=self.device).expand(self.shape)


def linalg_lu_factor_ex(A, pivot: bool, check_errors: bool):
    lu, rows, pivots, info = _own_factors(A)
    if check_errors:
        torch._linalg_check_errors(info, "torch.linalg.lu_factor_ex", is_matrix=A.dim() == 2)
    return lu, pivots, info


def linalg_lu_factor(A, pivot: bool):
    lu, rows, pivots, info = _own_factors(A)
    torch._linalg_check_errors(info, "torch.linalg.lu_factor", is_matrix=A.dim() == 2)
    return lu, pivots


def _lu_with_info(self, pivot: bool, check_errors: bool):
    lu, rows, pivots, info = _own_factors(self)
    if check_errors:
        torch._linalg_check_errors(info, "lu", is_matrix=self.dim() == 2)
    return lu, pivots, info


def linalg_det(A):
    lu, pivots, info = torch.linalg_lu_factor_ex(A)
    return _own_product(torch.diagonal(lu, 0, -2, -1)) * _own_parity(pivots)


def det(self):
    return torch.linalg_det(self)


def logdet(self):
    return torch.log(torch.linalg_det(self))


def linalg_slogdet(A):
    lu, pivots, info = torch.linalg_lu_factor_ex(A)
    diagonal = torch.diagonal(lu, 0, -2, -1)
    return _own_product(torch.sgn(diagonal)) * _own_parity(pivots), torch.log(diagonal.abs()).sum([-1])


def linalg_inv_ex(A, check_errors: bool):
    lu, rows, pivots, info = _own_factors(A)
    if check_errors:
        torch._linalg_check_errors(info, "linalg.inv_ex", is_matrix=A.dim() == 2)
    return _own_solution(lu, rows, _own_identity(A)), info


def linalg_inv(A):
    lu, rows, pivots, info = _own_factors(A)
    torch._linalg_check_errors(info, "linalg.inv", is_matrix=A.dim() == 2)
    return _own_solution(lu, rows, _own_identity(A))


def inverse(self):
    return torch.linalg_inv(self)


def _own_solved(A, B, left: bool):
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:A.dim() - 1])
    b = B
    if vector:
        b = B.unsqueeze(-1)
    a = A
    if not left:
        a = A.transpose(-2, -1)
        b = b.transpose(-2, -1)
    lu, rows, pivots, info = _own_factors(a)
    x = _own_solution(lu, rows, b)
    if not left:
        x = x.transpose(-2, -1)
    if vector:
        x = x.squeeze(-1)
    return x, info


def linalg_solve(A, B, left: bool):
    x, info = _own_solved(A, B, left)
    torch._linalg_check_errors(info, "linalg.solve", is_matrix=A.dim() == 2)
    return x


def linalg_solve_ex(A, B, left: bool, check_errors: bool):
    x, info = _own_solved(A, B, left)
    if check_errors:
        torch._linalg_check_errors(info, "linalg.solve_ex", is_matrix=A.dim() == 2)
    return x, info


def linalg_solve_triangular(self, B, upper: bool, left: bool, unitriangular: bool):
    if left:
        return _own_triangular(self, B, upper, unitriangular)
    return _own_triangular(self.transpose(-2, -1), B.transpose(-2, -1), not upper, unitriangular).transpose(-2, -1)


def triangular_solve(self, A, upper: bool, transpose: bool, unitriangular: bool):
    lead = _own_lead(self.shape[:self.dim() - 2], A.shape[:A.dim() - 2])
    a = A.expand(lead + [A.size(-2), A.size(-1)]).clone(memory_format=0)
    if transpose:
        return _own_triangular(a.transpose(-2, -1), self, not upper, unitriangular), a
    return _own_triangular(a, self, upper, unitriangular), a


def _own_cholesky(self):
    # The lower factors, and the first leading minor that is not positive-definite, zero where all are.
    n = self.size(-1)
    lead = self.shape[:self.dim() - 2]
    rest = self.clone(memory_format=0)
    lower = torch.zeros_like(rest)
    info = torch.zeros(lead, dtype=torch.int32, device=self.device)
    if self.numel() == 0:
        return lower, info
    for j in range(n):
        pivot = rest.narrow(-2, 0, 1).narrow(-1, 0, 1)
        size = pivot
        if self.is_complex():
            size = torch.real(pivot)
        bad = torch.logical_not(size > 0)
        info = torch.where((info == 0) & bad.squeeze(-1).squeeze(-1), torch.full_like(info, j + 1), info)
        column = rest.narrow(-1, 0, 1) / torch.sqrt(torch.where(bad, torch.ones_like(size), size))
        given = self.narrow(-2, j, n - j).narrow(-1, j, 1)  # which stays where there is no factor
        lower.narrow(-2, j, n - j).narrow(-1, j, 1).copy_(torch.where((info != 0).unsqueeze(-1).unsqueeze(-1), given, column))
        below = column.narrow(-2, 1, n - j - 1)
        rest = rest.narrow(-2, 1, n - j - 1).narrow(-1, 1, n - j - 1) - below * below.transpose(-2, -1).conj()
    return lower, info


def _own_reflected(l, upper: bool):
    if upper:
        return l.transpose(-2, -1).conj().resolve_conj()
    return l


def linalg_cholesky_ex(self, upper: bool, check_errors: bool):
    a = self
    if upper:
        a = self.transpose(-2, -1).conj()
    l, info = _own_cholesky(a)
    if check_errors:
        torch._linalg_check_errors(info, "linalg.cholesky_ex", is_matrix=self.dim() == 2)
    return _own_reflected(l, upper), info


def linalg_cholesky(self, upper: bool):
    a = self
    if upper:
        a = self.transpose(-2, -1).conj()
    l, info = _own_cholesky(a)
    torch._linalg_check_errors(info, "linalg.cholesky", is_matrix=self.dim() == 2)
    return _own_reflected(l, upper)


def cholesky(self, upper: bool):
    return torch.linalg_cholesky(self, upper=upper)


def cholesky_solve(self, input2, upper: bool):
    l = _own_reflected(input2, upper)
    return _own_triangular(l.transpose(-2, -1).conj(), _own_triangular(l, self, False, False), True, False)


def cholesky_inverse(self, upper: bool):
    return torch.cholesky_solve(_own_identity(self), self, upper)


def _own_reflections(A):
    # Householder's reflections, which leave the columns of R with their lengths, of the sign that the first element has not: R, the normals, whose first
    # element is one, and the factors.
    m, n = A.size(-2), A.size(-1)
    k = min(m, n)
    lead = A.shape[:A.dim() - 2]
    r = A.clone(memory_format=0)
    normals = torch.zeros(lead + [m, k], dtype=A.dtype, device=A.device)
    factors = torch.zeros(lead + [1, k], dtype=A.dtype, device=A.device)
    for j in range(k):
        x = r.narrow(-2, j, m - j).narrow(-1, j, 1)
        first = x.narrow(-2, 0, 1)
        others = x.narrow(-2, 1, m - j - 1).abs().square().sum([-2], True)
        sign = first
        plain = others == 0
        if A.is_complex():
            sign = torch.real(first)
            plain = plain & (torch.imag(first) == 0)
        length = torch.sqrt(others + first.abs().square())
        to = torch.where(sign >= 0, -length, length)
        apart = torch.where(plain, torch.ones_like(first), first - to)
        normal = torch.where(plain, torch.zeros_like(x), x / apart)
        normal.narrow(-2, 0, 1).fill_(1)
        factor = torch.where(plain, torch.zeros_like(first), (to - first) / torch.where(plain, torch.ones_like(to), to))
        rest = r.narrow(-2, j, m - j)
        rest.sub_(normal * torch.matmul(normal.transpose(-2, -1).conj(), rest) * factor.conj())
        normals.narrow(-2, j, m - j).narrow(-1, j, 1).copy_(normal)
        factors.narrow(-1, j, 1).copy_(factor)
    return r, normals, factors


def linalg_qr(A, mode: str):
    m, n = A.size(-2), A.size(-1)
    k = min(m, n)
    lead = A.shape[:A.dim() - 2]
    r, normals, factors = _own_reflections(A)
    columns = k
    if mode == "complete":
        columns = m
    upper = r.narrow(-2, 0, columns).triu()
    if mode == "r":
        return torch.zeros([0], dtype=A.dtype, device=A.device), upper
    q = torch.eye(m, columns, dtype=A.dtype, device=A.device).expand(lead + [m, columns]).clone(memory_format=0)
    for step in range(k):
        j = k - 1 - step
        normal = normals.narrow(-2, j, m - j).narrow(-1, j, 1)
        rest = q.narrow(-2, j, m - j)
        rest.sub_(normal * torch.matmul(normal.transpose(-2, -1).conj(), rest) * factors.narrow(-1, j, 1))
    return q, upper


def geqrf(self):
    r, normals, factors = _own_reflections(self)
    packed = r.triu()
    packed.narrow(-1, 0, normals.size(-1)).add_(normals.tril(-1))
    return packed, factors.squeeze(-2)


def linalg_lu(A, pivot: bool):
    m, n = A.size(-2), A.size(-1)
    k = min(m, n)
    lu, rows, pivots, info = _own_factors(A)
    lower = lu.narrow(-1, 0, k).tril(-1) + torch.eye(m, k, dtype=A.dtype, device=A.device)
    p = (rows.unsqueeze(-2) == torch.arange(m, device=A.device).unsqueeze(-1)).to(A.dtype)
    return p, lower, lu.narrow(-2, 0, k).triu()


def _own_rows_of(pivots, m: int):
    # The rows that the rows of a matrix come from by exchanges, which are counted from one.
    if bool(((pivots < 1) | (pivots > m)).any()):
        raise RuntimeError("pivots must lie in [1, " + str(m) + "]")
    rows = torch.arange(m, device=pivots.device).expand(pivots.shape[:pivots.dim() - 1] + [m]).clone(memory_format=0)
    for j in range(pivots.size(-1)):
        at = pivots.narrow(-1, j, 1).to(torch.int64) - 1
        here = rows.narrow(-1, j, 1).clone()
        rows.narrow(-1, j, 1).copy_(rows.gather(-1, at))
        rows.scatter_(-1, at, here)
    return rows


def linalg_lu_solve(LU, pivots, B, left: bool, adjoint: bool):
    n = LU.size(-1)
    rows = _own_rows_of(pivots, n)
    b = B
    if not left:
        b = B.transpose(-2, -1).conj().resolve_conj()
    if adjoint == left:
        h = LU.transpose(-2, -1).conj().resolve_conj()
        z = _own_triangular(h, _own_triangular(h, b, False, False), True, True)
        wide = rows.expand(z.shape[:z.dim() - 1]).unsqueeze(-1).expand(z.shape)
        x = torch.zeros_like(z).scatter(-2, wide, z)
    else:
        x = _own_solution(LU, rows, b)
    if not left:
        x = x.transpose(-2, -1).conj().resolve_conj()
    return x


def linalg_lstsq(self, b, rcond: Optional[float], driver: Optional[str]):
    # By reflections alone, which take the matrices to have full rank, as the driver gels does.
    vector = b.dim() == self.dim() - 1
    y = b
    if vector:
        y = b.unsqueeze(-1)
    m, n = self.size(-2), self.size(-1)
    if m >= n:
        q, r = torch.linalg_qr(self)
        x = torch.linalg_solve_triangular(r, torch.matmul(q.transpose(-2, -1).conj().resolve_conj(), y), upper=True)
    else:
        q, r = torch.linalg_qr(self.transpose(-2, -1).conj().resolve_conj())
        x = torch.matmul(q, torch.linalg_solve_triangular(r.transpose(-2, -1).conj().resolve_conj(), y, upper=False))
    nothing = torch.zeros([0], dtype=torch.real(y).dtype if y.is_complex() else y.dtype, device=y.device)
    residuals = nothing
    if m > n:
        residuals = (torch.matmul(self, x) - y).abs().square().sum([-2])
    if vector:
        x = x.squeeze(-1)
    return x, residuals, torch.zeros([0], dtype=torch.int64, device=y.device), nothing.clone()
