# How operators make the sizes of their results of the sizes of their arguments. Functions take a list of sizes for each tensor, a list of lists
# for each list of tensors, and other arguments as they are; those at the end may be missing. See shapes.go for which operator has which.


# ---- elementwise ----

def broadcast(a: List[int], b: List[int]):
    rank = max(len(a), len(b))
    sizes: List[int] = []
    for i in range(rank):
        from_a = i - rank + len(a)
        from_b = i - rank + len(b)
        size_a = a[from_a] if from_a >= 0 else 1
        size_b = b[from_b] if from_b >= 0 else 1
        if size_a != size_b and size_a != 1 and size_b != 1:
            raise AssertionError("The size of tensor a {} must match the size of tensor b ({}) at non-singleton dimension {}".format(size_a, size_b, i))
        sizes.append(size_b if size_a == 1 else size_a)
    return sizes

def broadcast_three(a: List[int], b: List[int], c: List[int]):
    return broadcast(broadcast(a, b), c)

def broadcast_one_three(a: List[int], b: Any, c: List[int]):
    return broadcast(a, c)

def broadcast_inplace(a: List[int], b: List[int]):
    assert len(b) <= len(a), "The dims of tensor b ({}) must be less than or equal to the dims of tensor a ({})".format(len(b), len(a))
    for i in range(len(b)):
        size_a = a[len(a) - len(b) + i]
        size_b = b[i]
        if size_a != size_b and size_b != 1:
            raise AssertionError("The size of tensor a {} must match the size of tensor b ({}) at non-singleton dimension {}".format(size_a, size_b, i))
    return _copy(a)

def _copy(self: List[int]):
    out: List[int] = []
    for n in self:
        out.append(n)
    return out

def _replaced(self: List[int], at: int, size: int):
    out: List[int] = []
    for i in range(len(self)):
        out.append(size if i == at else self[i])
    return out

def unary(self: List[int]):
    return _copy(self)

def zero_dim_tensor(input: Any):
    out: List[int] = []
    return out


# ---- numbers of elements and dimensions ----

def multiply_integers(li: List[int]):
    out = 1
    for n in li:
        out = out * n
    return out

def numel(sizes: List[int]):
    return multiply_integers(sizes)

def max_int():
    return 9223372036854775807

def div_rtn(x: int, y: int):
    return x // y

def check_non_negative(array: List[int]) -> bool:
    found = False
    for n in array:
        if n < 0:
            found = True
    return found

def maybe_wrap_dim(dim: int, dim_post_expr: int, wrap_scalar: bool = True):
    if dim_post_expr <= 0:
        assert wrap_scalar
        dim_post_expr = 1
    assert dim >= -dim_post_expr and dim < dim_post_expr
    if dim < 0:
        dim = dim + dim_post_expr
    return dim

def _shape_as_tensor(self: List[int]) -> List[int]:
    return [len(self)]


# ---- views ----

def infer_size_impl(shape: List[int], numel: int) -> List[int]:
    known = 1
    unknown = -1
    for i in range(len(shape)):
        if shape[i] == -1:
            assert unknown < 0, "only one dimension can be inferred"
            unknown = i
        else:
            assert shape[i] >= 0, "invalid shape dimensions"
            known = known * shape[i]
    if unknown < 0:
        assert numel == known, "invalid shape"
        return _copy(shape)
    assert known > 0 and numel % known == 0, "invalid shape"
    return _replaced(shape, unknown, numel // known)

def view(self: List[int], sizes: List[int]):
    return infer_size_impl(sizes, numel(self))

def view_one_unused(self: List[int], sizes: List[int], *, implicit: bool = False):
    return view(self, sizes)

def expand(self: List[int], sizes: List[int]):
    assert len(sizes) >= len(self)
    out: List[int] = []
    added = len(sizes) - len(self)
    for i in range(len(sizes)):
        size = sizes[i]
        if i < added:
            assert size >= 0
        else:
            own = self[i - added]
            if size == -1:
                size = own
            else:
                assert own == size or own == 1
        out.append(size)
    return out

def expand_one_unused(self: List[int], sizes: List[int], inp0: Any):
    return expand(self, sizes)

def squeeze_nodim(li: List[int]):
    out: List[int] = []
    for n in li:
        if n != 1:
            out.append(n)
    return out

def squeeze(li: List[int], dim: int):
    out: List[int] = []
    at = maybe_wrap_dim(dim, len(li))
    for i in range(len(li)):
        if i != at or li[i] != 1:
            out.append(li[i])
    return out

def unsqueeze(li: List[int], dim: int):
    at = maybe_wrap_dim(dim, len(li) + 1)
    out: List[int] = []
    for i in range(len(li) + 1):
        if i == at:
            out.append(1)
        elif i < at:
            out.append(li[i])
        else:
            out.append(li[i - 1])
    return out

def flatten(input: List[int], start_dim: int, end_dim: int):
    first = maybe_wrap_dim(start_dim, len(input))
    last = maybe_wrap_dim(end_dim, len(input))
    assert first <= last
    if len(input) == 0:
        return [1]
    out: List[int] = []
    for i in range(first):
        out.append(input[i])
    count = 1
    for i in range(first, last + 1):
        count = count * input[i]
    out.append(count)
    for i in range(last + 1, len(input)):
        out.append(input[i])
    return out

def permute(input: List[int], dims: List[int]):
    assert len(input) == len(dims)
    out: List[int] = []
    for i in range(len(dims)):
        out.append(input[maybe_wrap_dim(dims[i], len(input))])
    for i in range(len(dims)):
        for j in range(i):
            assert maybe_wrap_dim(dims[j], len(input)) != maybe_wrap_dim(dims[i], len(input))
    return out

def t(self: List[int]):
    assert len(self) <= 2
    if len(self) == 2:
        return [self[1], self[0]]
    return _copy(self)

def transpose(self: List[int], dim0: int, dim1: int):
    first = maybe_wrap_dim(dim0, len(self))
    second = maybe_wrap_dim(dim1, len(self))
    out: List[int] = []
    for i in range(len(self)):
        if i == first:
            out.append(self[second])
        elif i == second:
            out.append(self[first])
        else:
            out.append(self[i])
    return out

def select(self: List[int], dim: int, index: int):
    assert len(self) != 0
    at = maybe_wrap_dim(dim, len(self))
    size = self[at]
    assert index >= -size and index < size
    out: List[int] = []
    for i in range(len(self)):
        if i != at:
            out.append(self[i])
    return out

def index_select(self: List[int], dim: int, index: List[int]):
    at = maybe_wrap_dim(dim, len(self))
    assert len(index) <= 1
    assert at == 0 or at < len(self)
    out: List[int] = []
    for i in range(len(self)):
        out.append(multiply_integers(index) if i == at else self[i])
    return out

def slice(self: List[int], dim: int, start: Optional[int], end: Optional[int], step: int):
    assert len(self) != 0
    assert step > 0
    at = maybe_wrap_dim(dim, len(self))
    size = self[at]
    first = start if start is not None else 0
    last = end if end is not None else max_int()
    if start is not None and start == max_int():
        first = 0
    if first < 0:
        first = first + size
    if first < 0:
        first = 0
    elif first > size:
        first = size
    if last < 0:
        last = last + size
    if last < first:
        last = first
    elif last >= size:
        last = size
    return _replaced(self, at, (last - first + step - 1) // step)

def should_skip(tensor: List[int]):
    return len(tensor) == 1 and tensor[0] == 0

def check_cat_no_zero_dim(tensors: List[List[int]]):
    for tensor in tensors:
        assert len(tensor) > 0

def legacy_cat_wrap_dim(dim: int, tensor_sizes: List[List[int]]):
    found = -1
    for sizes in tensor_sizes:
        if not (len(sizes) == 1 and sizes[0] == 0) and found < 0:
            found = maybe_wrap_dim(dim, len(sizes))
    if found < 0:
        found = dim
    return found

def check_cat_shape_except_dim(first: List[int], second: List[int], dimension: int, index: int):
    assert len(first) == len(second), "Tensors must have same number of dimensions"
    for i in range(len(first)):
        if i != dimension:
            assert first[i] == second[i], "Sizes of tensors must match except in dimension"

def cat(tensors: List[List[int]], dim: int):
    check_cat_no_zero_dim(tensors)
    at = legacy_cat_wrap_dim(dim, tensors)
    assert len(tensors) > 0
    like: Optional[List[int]] = None
    for tensor in tensors:
        if not should_skip(tensor):
            like = tensor
    if like is None:
        return [0]
    total = 0
    for i in range(len(tensors)):
        if not should_skip(tensors[i]):
            check_cat_shape_except_dim(like, tensors[i], at, i)
            total = total + tensors[i][at]
    return _replaced(like, at, total)


# ---- reductions ----

def _reduce_along_dim(self: List[int], dim: int, keepdim: bool):
    at = maybe_wrap_dim(dim, len(self))
    out: List[int] = []
    for i in range(len(self)):
        if i != at:
            out.append(self[i])
        elif keepdim:
            out.append(1)
    return out

def sum_mean_dim(self: List[int], opt_dims: Optional[List[int]], keep_dim: bool, dt: Any):
    out: List[int] = []
    if opt_dims is None or len(opt_dims) == 0:
        dims: List[int] = [i for i in range(len(self))]
    else:
        dims = opt_dims
    for i in range(len(self)):
        reduced = False
        for d in dims:
            if i == maybe_wrap_dim(d, len(self)):
                reduced = True
        if not reduced:
            out.append(self[i])
        elif keep_dim:
            out.append(1)
    return out

def max_dim(self: List[int], dim: int, keep_dim: bool):
    out = sum_mean_dim(self, [dim], keep_dim, None)
    return out, out

def argmax(self: List[int], dim: Optional[int] = None, keepdim: bool = False) -> List[int]:
    if dim is None:
        return zero_dim_tensor(self)
    return _reduce_along_dim(self, dim, keepdim)

def topk(self: List[int], k: int, dim: int = -1) -> Tuple[List[int], List[int]]:
    if len(self) == 0:
        out: List[int] = []
    else:
        at = maybe_wrap_dim(dim, len(self))
        assert k <= self[at], "k ({}) is too big for dimension {} of size {}".format(k, dim, self[at])
        out = _replaced(self, at, k)
    return out, out


# ---- products ----

def mm(self: List[int], mat2: List[int]):
    assert len(self) == 2, "self must be a matrix"
    assert len(mat2) == 2, "mat2 must be a matrix"
    assert self[1] == mat2[0]
    return [self[0], mat2[1]]

def bmm(self: List[int], mat2: List[int]) -> List[int]:
    assert len(self) == 3, "bmm only supports 3D tensors"
    assert len(mat2) == 3, "bmm only supports 3D tensors"
    assert self[0] == mat2[0], "mismatching batch dimension"
    assert self[2] == mat2[1], "mismatching contracting dimension"
    return [self[0], self[1], mat2[2]]

def dot(self: List[int], tensor: List[int]):
    assert len(self) == 1 and len(tensor) == 1
    assert self[0] == tensor[0]
    out: List[int] = []
    return out

def mv(self: List[int], vec: List[int]):
    assert len(self) == 2 and len(vec) == 1
    assert self[1] == vec[0]
    return [self[0]]

def addmm(self: List[int], mat1: List[int], mat2: List[int], beta: Any, alpha: Any):
    return broadcast(self, mm(mat1, mat2))

def matmul(tensor1: List[int], tensor2: List[int]):
    rank1 = len(tensor1)
    rank2 = len(tensor2)
    assert rank1 > 0 and rank2 > 0, "both  arguments to matmul need to be at least 1D"
    if rank1 == 1 and rank2 == 1:
        return dot(tensor1, tensor2)
    if rank1 == 2 and rank2 == 1:
        return mv(tensor1, tensor2)
    if rank1 == 1 and rank2 == 2:
        return squeeze(mm(unsqueeze(tensor1, 0), tensor2), 0)
    if rank1 == 2 and rank2 == 2:
        return mm(tensor1, tensor2)
    batch1: List[int] = []
    for i in range(rank1 - 2):
        batch1.append(tensor1[i])
    batch2: List[int] = []
    for i in range(rank2 - 2):
        batch2.append(tensor2[i])
    inner = tensor2[0] if rank2 == 1 else tensor2[rank2 - 2]
    assert tensor1[rank1 - 1] == inner
    out = broadcast(batch1, batch2)
    if rank1 > 1:
        out.append(tensor1[rank1 - 2])
    if rank2 > 1:
        out.append(tensor2[rank2 - 1])
    return out

def linear(input: List[int], weight: List[int], bias: Optional[List[int]]):
    out = matmul(input, t(weight))
    if bias is not None:
        assert broadcast(bias, out) == out
    return out

def embedding(weight: List[int], indices: List[int], padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False):
    assert len(weight) == 2
    out = _copy(indices)
    out.append(weight[1])
    return out


# ---- layers ----

def check_shape_forward(input: List[int], weight_sizes: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], groups: int):
    rank = len(weight_sizes)
    assert not check_non_negative(padding)
    assert not check_non_negative(stride)
    assert rank == len(input)
    assert weight_sizes[0] >= groups
    assert weight_sizes[0] % groups == 0
    assert input[1] == weight_sizes[1] * groups
    if bias is not None:
        assert len(bias) == 1 and bias[0] == weight_sizes[0]
    for i in range(2, rank):
        assert input[i] + 2 * padding[i - 2] >= dilation[i - 2] * (weight_sizes[i] - 1) + 1

def conv_output_size(input_size: List[int], weight_size: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], groups: int):
    check_shape_forward(input_size, weight_size, bias, stride, padding, dilation, groups)
    out: List[int] = []
    out.append(input_size[0])
    out.append(weight_size[0])
    for i in range(2, len(input_size)):
        step = stride[i - 2]
        span = (dilation[i - 2] if len(dilation) > 0 else 1) * (weight_size[i] - 1) + 1
        out.append((input_size[i] + 2 * padding[i - 2] - span) // step + 1)
    return out

def conv1d(input: List[int], weight: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], groups: int):
    assert len(weight) == 3 and len(input) == 3
    return conv_output_size(input, weight, bias, stride, padding, dilation, groups)

def conv2d(input: List[int], weight: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], groups: int):
    assert len(weight) == 4 and len(input) == 4
    return conv_output_size(input, weight, bias, stride, padding, dilation, groups)

def conv3d(input: List[int], weight: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], groups: int):
    assert len(weight) == 5 and len(input) == 5
    return conv_output_size(input, weight, bias, stride, padding, dilation, groups)

def conv_forwards(input: List[int], weight: List[int], bias: Optional[List[int]], stride: List[int], padding: List[int], dilation: List[int], transposed: bool, output_padding: List[int], groups: int) -> List[int]:
    out: List[int] = []
    out.append(input[0])
    out.append(weight[1] * groups if transposed else weight[0])
    for i in range(2, len(input)):
        span = (dilation[i - 2] if len(dilation) > 0 else 1) * (weight[i] - 1)
        if transposed:
            more = output_padding[i - 2] if len(output_padding) > 0 else 0
            out.append((input[i] - 1) * stride[i - 2] - 2 * padding[i - 2] + span + more + 1)
        else:
            out.append((input[i] + 2 * padding[i - 2] - span - 1) // stride[i - 2] + 1)
    return out

def conv_transpose2d_input(input: List[int], weight: List[int], bias: Optional[List[int]] = None, stride: Optional[List[int]] = None, padding: Optional[List[int]] = None, output_padding: Optional[List[int]] = None, groups: int = 1, dilation: Optional[List[int]] = None) -> List[int]:
    steps = stride if stride is not None else [1, 1]
    margins = padding if padding is not None else [0, 0]
    more = output_padding if output_padding is not None else [0, 0]
    gaps = dilation if dilation is not None else [1, 1]
    return conv_forwards(input, weight, bias, steps, margins, gaps, True, more, groups)

def conv_backwards(grad_output: List[int], input: List[int], weight: List[int], biases: Optional[List[int]]):
    return _copy(input), _copy(weight), [grad_output[1]]

def batch_norm(input: List[int], weight: Optional[List[int]], bias: Optional[List[int]], running_mean: Optional[List[int]], running_var: Optional[List[int]], training: bool, momentum: float, eps: float, cudnn_enabled: bool):
    return _copy(input)

def native_batch_norm(input: List[int], weight: Optional[List[int]], bias: Optional[List[int]], running_mean: Optional[List[int]], running_var: Optional[List[int]], training: bool) -> Tuple[List[int], List[int], List[int]]:
    if training:
        kept: List[int] = [input[1]]
    else:
        kept = [0]
    return _copy(input), kept, kept

def native_layer_norm(input: List[int], normalized_shape: List[int]) -> Tuple[List[int], List[int], List[int]]:
    kept: List[int] = []
    outer = len(input) - len(normalized_shape)
    assert outer >= 0
    for i in range(outer):
        kept.append(input[i])
    for i in range(outer, len(input)):
        kept.append(1)
    return _copy(input), kept, kept

def adaptive_avg_pool2d(self: List[int], out: List[int]):
    assert len(out) == 2
    assert len(self) == 3 or len(self) == 4
    for i in range(1, len(self)):
        assert self[i] != 0
    shape: List[int] = []
    for i in range(len(self) - 2):
        shape.append(self[i])
    for n in out:
        shape.append(n)
    return shape

def pooling_output_shape_pad_lr(inputSize: int, kernelSize: int, pad_l: int, pad_r: int, stride: int, dilation: int, ceil_mode: bool):
    free = inputSize + pad_l + pad_r - dilation * (kernelSize - 1) - 1
    size = (free + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode:
        if (size - 1) * stride >= inputSize + pad_l:
            size = size - 1
    return size

def pooling_output_shape(inputSize: int, kernelSize: int, pad_l: int, stride: int, dilation: int, ceil_mode: bool):
    assert stride != 0, "stride should not be zeero"
    return pooling_output_shape_pad_lr(inputSize, kernelSize, pad_l, pad_l, stride, dilation, ceil_mode)

def pool2d_shape_check(input: List[int], kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, dilationH: int, dilationW: int, nInputPlane: int, inputHeight: int, inputWidth: int, outputHeight: int, outputWidth: int):
    assert kW > 0 and kH > 0
    assert dW > 0 and dH > 0
    assert dilationH > 0 and dilationW > 0
    rank = len(input)
    filled = input[1] != 0 and input[2] != 0
    assert rank == 3 and input[0] != 0 and filled or rank == 4 and filled and input[3] != 0
    assert kW // 2 >= padW and kH // 2 >= padH
    assert outputWidth >= 1 and outputHeight >= 1

def max_pool2d(input: List[int], kernel_size: List[int], stride: List[int], padding: List[int], dilation: List[int], ceil_mode: bool):
    assert len(kernel_size) == 1 or len(kernel_size) == 2, "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"
    kH = kernel_size[0]
    kW = kH if len(kernel_size) == 1 else kernel_size[1]
    assert len(stride) == 0 or len(stride) == 1 or len(stride) == 2, "max_pool2d: stride must either be omitted, a single int, or a tuple of two ints"
    dH = kH if len(stride) == 0 else stride[0]
    if len(stride) == 0:
        dW = kW
    elif len(stride) == 1:
        dW = dH
    else:
        dW = stride[1]
    assert len(padding) == 1 or len(padding) == 2, "max_pool2d: padding must either be a single int, or a tuple of two ints"
    padH = padding[0]
    padW = padH if len(padding) == 1 else padding[1]
    assert len(dilation) == 1 or len(dilation) == 2, "max_pool2d: dilation must be either a single int, or a tuple of two ints"
    dilationH = dilation[0]
    dilationW = dilationH if len(dilation) == 1 else dilation[1]
    rank = len(input)
    assert rank == 3 or rank == 4
    height = pooling_output_shape(input[rank - 2], kH, padH, dH, dilationH, ceil_mode)
    width = pooling_output_shape(input[rank - 1], kW, padW, dW, dilationW, ceil_mode)
    pool2d_shape_check(input, kH, kW, dH, dW, padH, padW, dilationH, dilationW, input[rank - 3], input[rank - 2], input[rank - 1], height, width)
    if rank == 3:
        return [input[0], height, width]
    return [input[0], input[1], height, width]

def max_pool2d_with_indices(input: List[int], kernel_size: List[int], stride: List[int], padding: List[int], dilation: List[int], ceil_mode: bool):
    out = max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)
    return out, out

def upsample_nearest2d(input: List[int], output_size: Optional[List[int]], scale_factors: Optional[List[float]]):
    out: List[int] = []
    out.append(input[0])
    out.append(input[1])
    if output_size is not None:
        assert scale_factors is None, "Must specify exactly one of output_size and scale_factors"
        assert len(output_size) == 2
        out.append(output_size[0])
        out.append(output_size[1])
    elif scale_factors is not None:
        assert len(scale_factors) == 2
        out.append(int(input[2] * scale_factors[0]))
        out.append(int(input[3] * scale_factors[1]))
    else:
        assert False, "Either output_size or scale_factors must be presented"
    return out

def nll_loss_forward(self: List[int], target: List[int], weight: Optional[List[int]], reduction: int) -> Tuple[List[int], List[int]]:
    rank = len(self)
    assert 0 < rank and rank <= 2
    assert len(target) <= 1
    batch = self[0] if rank == 2 else 1
    if not (rank == 1 and len(target) == 0):
        assert self[0] == target[0]
    classes = self[rank - 1]
    nothing: List[int] = []
    assert weight is None or len(weight) == 1 and weight[0] == classes
    if reduction == 0 and rank == 2:
        per_item: List[int] = [batch]
    else:
        per_item = nothing
    return per_item, nothing


# ---- new tensors ----

def arange_end(end: number, inp0: Any, inp1: Any, inp2: Any, inp3: Any):
    assert end >= 0
    return [int(math.ceil(end))]

def arange_start(start: number, end: number, inp0: Any, inp1: Any, inp2: Any, inp3: Any):
    assert end >= 0
    assert end >= start
    return [int(math.ceil(end - start))]

def arange_start_step(start: number, end: number, step: number, inp0: Any, inp1: Any, inp2: Any, inp3: Any):
    assert step != 0
    if step < 0:
        assert start >= end
    else:
        assert end >= start
    return [int(math.ceil((end - start) / step))]


# ---- what depends on elements ----

def nonzero_lower_bound(input: List[int]):
    return [0, len(input)]

def nonzero_upper_bound(input: List[int]):
    return [numel(input), len(input)]
