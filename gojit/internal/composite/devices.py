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
    values, indices = torch.sort(self, dim)
    rows = values.movedim(dim, -1).contiguous()
    ends = torch.searchsorted(rows, rows, right=True)
    counts = ends - torch.searchsorted(rows, rows)
    place = ends.gather(-1, counts.argmax(-1, True)) - 1
    v = rows.gather(-1, place).movedim(-1, dim)
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
    lu, rows, pivots, info = _own_factors(A)
    return _own_product(torch.diagonal(lu, 0, -2, -1)) * _own_parity(pivots)


def det(self):
    return torch.linalg_det(self)


def logdet(self):
    return torch.log(torch.linalg_det(self))


def linalg_slogdet(A):
    lu, rows, pivots, info = _own_factors(A)
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


def linalg_qr(A, mode: str):
    # Householder's reflections, which leave the columns of R with their lengths, of the sign that the first element has not.
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
