"""Modules of torch.nn and calls of torch.nn.functional that tests/test_ways.py runs in every way.

MODULES: for each class, constructors' arguments and the inputs of one call. FUNCTIONS: for each function, a call with inputs x, y, z.
Inputs: r(sizes) normal numbers, u(sizes) in (0, 1), i(limit, sizes) ints. What is left out stands in NO_MODULES and NO_FUNCTIONS with
the reason.
"""

_REDUCTIONS = ["", "reduction='sum'", "reduction='none'"]
_R2, _R3 = "r(2, 3)", "r(2, 3, 8)"
_IMAGE, _VOLUME = "r(2, 4, 8, 8)", "r(1, 4, 5, 5, 5)"


def _each(arguments, inputs):
    return [(a, inputs) for a in arguments]


MODULES = {
    **{name: _each([""], _R2) for name in (
        "Hardsigmoid", "Hardswish", "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softsign", "Tanh", "Tanhshrink", "Identity",
    )},
    **{name: _each(["", "0.3"], _R2) for name in ("CELU", "ELU", "Hardshrink", "LeakyReLU", "Softshrink")},
    "GELU": _each(["", "approximate='tanh'"], _R2), "GLU": _each(["", "0"], "r(2, 4)"),
    "Hardtanh": _each(["", "-0.5, 0.7", "-2, 2"], _R2), "Threshold": _each(["0.1, 20.0", "0, 1"], _R2),
    "Softplus": _each(["", "2, 1"], _R2), "RReLU": _each(["", "0.1, 0.2"], _R2),
    "Softmax": _each(["dim=1", "dim=0"], _R2), "Softmin": _each(["dim=1"], _R2), "LogSoftmax": _each(["dim=-1"], _R2), "Softmax2d": _each([""], _IMAGE),
    **{name: _each(["", "0.2"], _IMAGE) for name in ("AlphaDropout", "Dropout", "Dropout2d", "FeatureAlphaDropout")},
    "Dropout1d": _each([""], _R3), "Dropout3d": _each([""], _VOLUME),
    "Linear": _each(["3, 4", "3, 4, bias=False", "3, 4, dtype=torch.float64"], _R2), "Bilinear": _each(["3, 3, 4", "3, 3, 4, bias=False"], "r(2, 3), r(2, 3)"),
    "Flatten": _each(["", "0, 1"], _IMAGE), "Unflatten": _each(["1, (2, 2)", "1, torch.Size([2, 2])"], _IMAGE),
    "ChannelShuffle": _each(["2"], _IMAGE), "PixelShuffle": _each(["2"], _IMAGE), "PixelUnshuffle": _each(["2"], _IMAGE),
    "Fold": _each(["(4, 4), 2", "(4, 4), 2, stride=2, padding=1"], "r(2, 8, 9)"), "Unfold": _each(["3", "2, dilation=2, padding=1, stride=2"], _IMAGE),
    "Conv1d": _each(["3, 4, 3", "3, 6, 3, stride=2, padding=1, groups=3", "3, 4, 3, padding='same', dilation=2", "3, 4, 3, padding=1, padding_mode='circular'"], _R3),
    "Conv2d": _each(["4, 4, 3", "4, 4, 3, bias=False", "4, 4, (1, 3), padding='valid'", "4, 4, 3, padding=1, padding_mode='reflect'", "4, 4, 3, groups=4"], _IMAGE),
    "Conv3d": _each(["4, 2, 3", "4, 4, 2, groups=2, padding=1, padding_mode='replicate'"], _VOLUME),
    "ConvTranspose1d": _each(["3, 4, 3", "3, 3, 3, stride=2, output_padding=1, groups=3"], _R3),
    "ConvTranspose2d": _each(["4, 2, 3", "4, 4, 3, stride=2, padding=1, bias=False"], _IMAGE), "ConvTranspose3d": _each(["4, 2, 3"], _VOLUME),
    "AvgPool1d": _each(["2", "3, 1, 1, count_include_pad=False"], _R3), "AvgPool2d": _each(["2", "3, 2, 1, ceil_mode=True", "2, divisor_override=3"], _IMAGE),
    "AvgPool3d": _each(["2"], _VOLUME), "LPPool1d": _each(["2, 3"], _R3), "LPPool2d": _each(["2, 3, 2"], _IMAGE), "LPPool3d": _each(["2, 2"], _VOLUME),
    "MaxPool1d": _each(["2", "3, 2, 1, 2"], _R3), "MaxPool2d": _each(["2", "3, 2, 1, ceil_mode=True", "2, return_indices=True"], _IMAGE),
    "MaxPool3d": _each(["2", "2, return_indices=True"], _VOLUME),
    "MaxUnpool1d": _each(["2"], "r(1, 1, 2), torch.tensor([[[1, 2]]])"), "MaxUnpool2d": _each(["2"], "r(1, 1, 1, 2), torch.tensor([[[[1, 2]]]])"),
    "MaxUnpool3d": _each(["2"], "r(1, 1, 1, 1, 2), torch.tensor([[[[[1, 2]]]]])"),
    "AdaptiveAvgPool1d": _each(["3"], _R3), "AdaptiveAvgPool2d": _each(["3", "(2, 3)", "(3, None)"], _IMAGE), "AdaptiveAvgPool3d": _each(["2", "(None, 2, 3)"], _VOLUME),
    "AdaptiveMaxPool1d": _each(["3", "3, return_indices=True"], _R3), "AdaptiveMaxPool2d": _each(["3", "(None, 2)", "3, return_indices=True"], _IMAGE),
    "AdaptiveMaxPool3d": _each(["2"], _VOLUME),
    "FractionalMaxPool2d": _each(["2, output_size=3", "2, output_ratio=0.5", "2, output_size=3, return_indices=True"], _IMAGE),
    "FractionalMaxPool3d": _each(["2, output_size=2"], _VOLUME),
    "BatchNorm1d": _each(["3", "3, affine=False", "3, track_running_stats=False", "3, momentum=None"], _R3),
    "BatchNorm2d": _each(["4"], _IMAGE), "BatchNorm3d": _each(["4"], _VOLUME), "SyncBatchNorm": [],
    "InstanceNorm1d": _each(["3", "3, affine=True"], _R3), "InstanceNorm2d": _each(["4", "4, track_running_stats=True"], _IMAGE), "InstanceNorm3d": _each(["4"], _VOLUME),
    "GroupNorm": _each(["2, 4", "2, 4, affine=False"], _IMAGE), "LayerNorm": _each(["3", "3, elementwise_affine=False", "[2, 3]", "3, bias=False"], _R2),
    "RMSNorm": _each(["3", "[2, 3], eps=0.1, elementwise_affine=False"], _R2), "LocalResponseNorm": _each(["2", "3, 0.1, 0.5, 2.0"], _IMAGE), "CrossMapLRN2d": [],
    "ConstantPad1d": _each(["2, 1.5"], _R3), "ConstantPad2d": _each(["(1, 2, 0, -1), 0.5"], _IMAGE), "ConstantPad3d": _each(["1, 2.0"], _VOLUME),
    "ZeroPad1d": _each(["1"], _R3), "ZeroPad2d": _each(["1"], _IMAGE), "ZeroPad3d": _each(["1"], _VOLUME), "CircularPad1d": _each(["1"], _R3),
    "CircularPad2d": _each(["1"], _IMAGE), "CircularPad3d": _each(["1"], _VOLUME), "ReflectionPad1d": _each(["2"], _R3), "ReflectionPad2d": _each(["(1, 2, 0, 1)"], _IMAGE), "ReflectionPad3d": _each(["1"], _VOLUME),
    "ReplicationPad1d": _each(["2"], _R3), "ReplicationPad2d": _each(["1"], _IMAGE), "ReplicationPad3d": _each(["1"], _VOLUME),
    "Upsample": _each(["scale_factor=2", "size=(5, 6), mode='bilinear'", "scale_factor=1.5, mode='bicubic', align_corners=True", "scale_factor=(2.0, 0.5)"], _IMAGE),
    "UpsamplingBilinear2d": _each(["scale_factor=2"], _IMAGE), "UpsamplingNearest2d": _each(["size=(3, 5)"], _IMAGE),
    "Embedding": _each(["5, 3", "5, 3, padding_idx=1", "5, 3, scale_grad_by_freq=True"], "i(5, 2, 4)"),
    "EmbeddingBag": _each(["5, 3", "5, 3, mode='sum'", "5, 3, mode='max'", "5, 3, padding_idx=2"], "i(5, 2, 4)")
    + _each(["5, 3, mode='sum', include_last_offset=True"], "i(5, 6), torch.tensor([0, 2, 6])"),
    "CosineSimilarity": _each(["", "0"], "r(2, 3), r(2, 3)"), "PairwiseDistance": _each(["", "1.0, keepdim=True"], "r(2, 3), r(2, 3)"),
    **{name: _each(_REDUCTIONS, "r(2, 3), r(2, 3)") for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "PoissonNLLLoss")},
    "BCELoss": _each(_REDUCTIONS, "u(2, 3), u(2, 3)"), "BCEWithLogitsLoss": _each([*_REDUCTIONS, "pos_weight=torch.tensor([1.0, 2.0, 3.0])"], "r(2, 3), u(2, 3)"),
    "KLDivLoss": _each(["reduction='batchmean'", "reduction='sum', log_target=True"], "r(2, 3), u(2, 3)"),
    "CrossEntropyLoss": _each([*_REDUCTIONS, "label_smoothing=0.1", "weight=torch.tensor([1.0, 2.0, 3.0]), ignore_index=1"], "r(4, 3), i(3, 4)")
    + _each([""], "r(4, 3), u(4, 3)"),
    "NLLLoss": _each([*_REDUCTIONS, "weight=torch.tensor([1.0, 2.0, 3.0])"], "r(4, 3), i(3, 4)"), "NLLLoss2d": _each([""], "r(2, 3, 2, 2), i(3, 2, 2, 2)"),
    "CTCLoss": _each(["", "reduction='none', zero_infinity=True"], "r(6, 2, 4).log_softmax(2), i(3, 2, 2) + 1, torch.tensor([6, 5]), torch.tensor([2, 1])"),
    "CosineEmbeddingLoss": _each([*_REDUCTIONS, "margin=0.2"], "r(2, 3), r(2, 3), torch.tensor([1, -1])"),
    "MarginRankingLoss": _each([*_REDUCTIONS, "0.5"], "r(3), r(3), torch.tensor([1, -1, 1])"),
    "HingeEmbeddingLoss": _each([*_REDUCTIONS, "0.5"], "r(3), torch.tensor([1, -1, 1])"), "SoftMarginLoss": _each(_REDUCTIONS, "r(3), torch.tensor([1.0, -1.0, 1.0])"),
    "MultiLabelMarginLoss": _each(_REDUCTIONS, "r(2, 3), torch.tensor([[0, 2, -1], [1, -1, 0]])"), "MultiLabelSoftMarginLoss": _each(_REDUCTIONS, "r(2, 3), u(2, 3)"),
    "MultiMarginLoss": _each([*_REDUCTIONS, "2, 0.5"], "r(4, 3), i(3, 4)"), "GaussianNLLLoss": _each(["", "full=True"], "r(2, 3), r(2, 3), u(2, 3)"),
    "TripletMarginLoss": _each([*_REDUCTIONS, "swap=True"], "r(2, 3), r(2, 3), r(2, 3)"), "TripletMarginWithDistanceLoss": _each([""], "r(2, 3), r(2, 3), r(2, 3)"),
    "AdaptiveLogSoftmaxWithLoss": _each(["6, 8, [3, 5], div_value=2.0"], "r(4, 6), i(8, 4)"),
    "RNN": _each(["3, 4", "3, 4, nonlinearity='relu'", "3, 4, 2, bidirectional=True, batch_first=True"], "r(5, 2, 3)") + [("3, 4", "r(5, 3)"), ("3, 4", "r(5, 2, 3), r(1, 2, 4)")],
    "GRU": _each(["3, 4", "3, 4, 2, bias=False, bidirectional=True"], "r(5, 2, 3)") + [("3, 4", "r(5, 2, 3), r(1, 2, 4)")],
    "LSTM": _each(["3, 4", "3, 4, 2, bidirectional=True", "3, 4, proj_size=2"], "r(5, 2, 3)") + [("3, 4", "r(5, 2, 3), (r(1, 2, 4), r(1, 2, 4))")],
    "RNNCell": _each(["3, 4", "3, 4, nonlinearity='relu'"], _R2), "GRUCell": _each(["3, 4"], "r(2, 3), r(2, 4)"), "LSTMCell": _each(["3, 4"], "r(2, 3), (r(2, 4), r(2, 4))"),
    "MultiheadAttention": _each(["4, 2", "4, 2, batch_first=True", "4, 2, bias=False, add_zero_attn=True"], "r(3, 2, 4), r(3, 2, 4), r(3, 2, 4)"),
    "TransformerEncoderLayer": _each(["4, 2, 8", "4, 2, 8, activation='gelu', norm_first=True, batch_first=True"], "r(3, 2, 4)"),
    "TransformerDecoderLayer": _each(["4, 2, 8"], "r(3, 2, 4), r(5, 2, 4)"),
    "TransformerEncoder": _each(["nn.TransformerEncoderLayer(4, 2, 8), 2"], "r(3, 2, 4)"), "TransformerDecoder": _each(["nn.TransformerDecoderLayer(4, 2, 8), 1"], "r(3, 2, 4), r(5, 2, 4)"),
    "Transformer": _each(["4, 2, 1, 1, 8"], "r(3, 2, 4), r(5, 2, 4)"), "Sequential": _each(["nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5)"], _R2),
}  # fmt: skip

_LAZY = "becomes another class at its first call, whose configurations stand above"
NO_MODULES = {
    **dict.fromkeys(("Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Container", "RNNBase", "RNNCellBase"), "has no forward"),
    "CrossMapLRN2d": "an autograd.Function, which no program can hold", "SyncBatchNorm": "refuses tensors of the CPU", "DataParallel": "needs several devices",
    **{f"Lazy{kind}{n}d": _LAZY for kind in ("BatchNorm", "InstanceNorm", "Conv", "ConvTranspose") for n in (1, 2, 3)}, "LazyLinear": _LAZY,
}  # fmt: skip

FUNCTIONS = {
    **{f: [(f"{f}(x)", _R2)] for f in (
        "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu",
        "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "normalize", "pdist",
    )},
    **{f: [(f"{f}(x * 1)", _R2)] for f in ("celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_")},
    "threshold_": [("threshold_(x * 1, 0.1, 0.5)", _R2)], "threshold": [("threshold(x, 0.1, 0.5)", _R2)], "glu": [("glu(x, 0)", _R2)],
    **{f: [(f"{f}(x, 1)", _R2), (f"{f}(x, 0, dtype=torch.float64)", _R2)] for f in ("softmax", "softmin", "log_softmax")},
    "gumbel_softmax": [("gumbel_softmax(x, hard=True, dim=1)", _R2)], "prelu": [("prelu(x, y)", "r(2, 3), r(3)")], "one_hot": [("one_hot(x, 5)", "i(5, 2, 3)"), ("one_hot(x)", "i(5, 3)")],
    **{f: [(f"{f}(x, 0.4, False)", _IMAGE)] for f in ("dropout", "alpha_dropout", "dropout2d", "feature_alpha_dropout")},
    "dropout1d": [("dropout1d(x, training=False)", _R3)], "dropout3d": [("dropout3d(x, training=False)", _VOLUME)],
    "linear": [("linear(x, y, z)", "r(2, 3), r(4, 3), r(4)"), ("linear(x, y)", "r(3), r(4, 3)")], "bilinear": [("bilinear(x, y, z)", "r(2, 3), r(2, 3), r(4, 3, 3)")],
    "conv1d": [("conv1d(x, y, z, 2, 1)", "r(2, 3, 8), r(4, 3, 3), r(4)")], "conv2d": [("conv2d(x, y, padding='same')", "r(2, 4, 8, 8), r(4, 4, 3, 3)")],
    "conv3d": [("conv3d(x, y)", "r(1, 4, 5, 5, 5), r(2, 4, 2, 2, 2)")], "conv_tbc": [("conv_tbc(x, y, z, 1)", "r(5, 2, 3), r(3, 3, 4), r(4)")],
    "conv_transpose1d": [("conv_transpose1d(x, y)", "r(2, 3, 8), r(3, 4, 3)")], "conv_transpose2d": [("conv_transpose2d(x, y, stride=2)", "r(2, 4, 3, 3), r(4, 2, 3, 3)")],
    "conv_transpose3d": [("conv_transpose3d(x, y)", "r(1, 4, 3, 3, 3), r(4, 2, 2, 2, 2)")],
    **{f"avg_pool{n}d": [(f"avg_pool{n}d(x, 2)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"max_pool{n}d": [(f"max_pool{n}d(x, 2)", s), (f"max_pool{n}d(x, 2, return_indices=True)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"max_pool{n}d_with_indices": [(f"max_pool{n}d_with_indices(x, 2)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"adaptive_avg_pool{n}d": [(f"adaptive_avg_pool{n}d(x, 2)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"adaptive_max_pool{n}d": [(f"adaptive_max_pool{n}d(x, 2)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"adaptive_max_pool{n}d_with_indices": [(f"adaptive_max_pool{n}d_with_indices(x, 2)", s)] for n, s in ((1, _R3), (2, _IMAGE), (3, _VOLUME))},
    **{f"fractional_max_pool{n}d{w}": [(f"fractional_max_pool{n}d{w}(x, 2, output_size=2, _random_samples=y)", f"{s}, u({b}, 4, {n})")] for n, s, b in ((2, _IMAGE, 2), (3, _VOLUME, 1)) for w in ("", "_with_indices")},
    "lp_pool1d": [("lp_pool1d(x, 2.0, 2)", _R3)], "lp_pool2d": [("lp_pool2d(x, 2.0, 2)", _IMAGE)], "lp_pool3d": [("lp_pool3d(x, 2.0, 2)", _VOLUME)],
    "max_unpool1d": [("max_unpool1d(x, y, 2)", "r(1, 1, 2), torch.tensor([[[1, 2]]])")], "max_unpool2d": [("max_unpool2d(x, y, 2)", "r(1, 1, 1, 2), torch.tensor([[[[1, 2]]]])")],
    "max_unpool3d": [("max_unpool3d(x, y, 2)", "r(1, 1, 1, 1, 2), torch.tensor([[[[[1, 2]]]]])")],
    "batch_norm": [("batch_norm(x, y, z)", "r(2, 3, 8), r(3), u(3)")], "instance_norm": [("instance_norm(x)", _IMAGE)],
    "group_norm": [("group_norm(x, 2)", _IMAGE)], "layer_norm": [("layer_norm(x, [3])", _R2)],
    "rms_norm": [("rms_norm(x, [3])", _R2), ("rms_norm(x, [3], y, 0.1)", "r(2, 3), r(3)")],
    "scaled_dot_product_attention": [
        ("scaled_dot_product_attention(x, y, z)", "r(2, 5, 4), r(2, 6, 4), r(2, 6, 3)"),
        ("scaled_dot_product_attention(x, y, z, is_causal=True, scale=0.3)", "r(2, 2, 5, 4), r(2, 2, 5, 4), r(2, 2, 5, 4)"),
        ("scaled_dot_product_attention(x, y, z, enable_gqa=True)", "r(2, 4, 5, 4), r(2, 2, 5, 4), r(2, 2, 5, 4)"),
    ],
    "local_response_norm": [("local_response_norm(x, 2)", _IMAGE)],
    "affine_grid": [("affine_grid(x, [2, 1, 3, 3])", "r(2, 2, 3)")], "grid_sample": [("grid_sample(x, y, align_corners=False)", "r(2, 4, 8, 8), r(2, 3, 3, 2)"), ("grid_sample(x, y, 'nearest', 'border', True)", "r(2, 4, 8, 8), r(2, 3, 3, 2)")],
    "interpolate": [("interpolate(x, scale_factor=2.0)", _IMAGE), ("interpolate(x, size=[5, 6], mode='bilinear', align_corners=False)", _IMAGE), ("interpolate(x, size=[5, 6], mode='bicubic', antialias=True)", _IMAGE)],
    "upsample": [("upsample(x, scale_factor=2.0)", _IMAGE)], "upsample_bilinear": [("upsample_bilinear(x, scale_factor=2)", _IMAGE)], "upsample_nearest": [("upsample_nearest(x, scale_factor=2)", _IMAGE)],
    "pad": [("pad(x, [1, 2])", _R3), ("pad(x, [1, 2], mode='reflect')", _R3), ("pad(x, [1, -1, 2, 0], value=1.5)", _IMAGE)], "fold": [("fold(x, [4, 4], [2, 2])", "r(2, 8, 9)")], "unfold": [("unfold(x, [3, 3])", _IMAGE)],
    "pixel_shuffle": [("pixel_shuffle(x, 2)", _IMAGE)], "pixel_unshuffle": [("pixel_unshuffle(x, 2)", _IMAGE)], "channel_shuffle": [("channel_shuffle(x, 2)", _IMAGE)], "native_channel_shuffle": [("native_channel_shuffle(x, 2)", _IMAGE)],
    "embedding": [("embedding(x, y)", "i(5, 2, 3), r(5, 3)"), ("embedding(x, y, padding_idx=1)", "i(5, 2, 3), r(5, 3)")], "embedding_bag": [("embedding_bag(x, y)", "i(5, 2, 3), r(5, 3)"), ("embedding_bag(x, y, mode='sum')", "i(5, 2, 3), r(5, 3)")],
    "cosine_similarity": [("cosine_similarity(x, y)", "r(2, 3), r(2, 3)")], "pairwise_distance": [("pairwise_distance(x, y)", "r(2, 3), r(2, 3)")],
    **{f: [(f"{f}(x, y)", "r(2, 3), r(2, 3)"), (f"{f}(x, y, reduction='none')", "r(2, 3), r(2, 3)")] for f in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss")},
    "binary_cross_entropy": [("binary_cross_entropy(x, y)", "u(2, 3), u(2, 3)")], "binary_cross_entropy_with_logits": [("binary_cross_entropy_with_logits(x, y)", "r(2, 3), u(2, 3)")],
    "kl_div": [("kl_div(x, y, reduction='batchmean')", "r(2, 3), u(2, 3)")], "cross_entropy": [("cross_entropy(x, y, label_smoothing=0.2)", "r(4, 3), i(3, 4)")], "nll_loss": [("nll_loss(x, y)", "r(4, 3), i(3, 4)")],
    "ctc_loss": [("ctc_loss(x, y, torch.tensor([6, 5]), torch.tensor([2, 1]))", "r(6, 2, 4).log_softmax(2), i(3, 2, 2) + 1")],
    "cosine_embedding_loss": [("cosine_embedding_loss(x, y, z)", "r(2, 3), r(2, 3), torch.tensor([1, -1])")], "margin_ranking_loss": [("margin_ranking_loss(x, y, z)", "r(3), r(3), torch.tensor([1, -1, 1])")],
    "hinge_embedding_loss": [("hinge_embedding_loss(x, y)", "r(3), torch.tensor([1, -1, 1])")], "soft_margin_loss": [("soft_margin_loss(x, y)", "r(3), torch.tensor([1.0, -1.0, 1.0])")],
    "multilabel_margin_loss": [("multilabel_margin_loss(x, y)", "r(2, 3), torch.tensor([[0, 2, -1], [1, -1, 0]])")], "multilabel_soft_margin_loss": [("multilabel_soft_margin_loss(x, y)", "r(2, 3), u(2, 3)")],
    "multi_margin_loss": [("multi_margin_loss(x, y)", "r(4, 3), i(3, 4)")], "gaussian_nll_loss": [("gaussian_nll_loss(x, y, z)", "r(2, 3), r(2, 3), u(2, 3)")],
    "triplet_margin_loss": [("triplet_margin_loss(x, y, z)", "r(2, 3), r(2, 3), r(2, 3)")], "triplet_margin_with_distance_loss": [("triplet_margin_with_distance_loss(x, y, z)", "r(2, 3), r(2, 3), r(2, 3)")],
}  # fmt: skip

NO_FUNCTIONS = {
    **dict.fromkeys(("assert_int_or_pair", "boolean_dispatch", "handle_torch_function", "has_torch_function_unary", "has_torch_function_variadic"), "computes nothing"),
    "multi_head_attention_forward": "what MultiheadAttention calls, whose configurations stand above",
}  # fmt: skip

# Ways that a module or function cannot go, by the start of its text and the way, with the reason. PyTorch cannot go them either.
CANNOT = {
    ("TripletMarginWithDistanceLoss", "script"): "has a Python function as attribute",
    ("triplet_margin_with_distance_loss", "script"): "takes a Python function",
    ("upsample_bilinear", "script"): "passes arguments that have no type in programs",
    ("GaussianNLLLoss", "script lite"): "checks variances in a block with a context, which lite programs have not",
    ("gaussian_nll_loss", "script lite"): "checks variances in a block with a context, which lite programs have not",
    ("GaussianNLLLoss", "exported"): "decides by the elements of a tensor",
    ("gaussian_nll_loss", "exported"): "decides by the elements of a tensor",
    ("one_hot(x)", "exported"): "the size of its result lies in the elements of a tensor",
    ("AdaptiveLogSoftmaxWithLoss", "exported"): "decides by the elements of a tensor",
    ("AdaptiveLogSoftmaxWithLoss", "script"): "takes modules from a list by an index that is no literal",
    ("upsample_nearest", "script"): "passes arguments that have no type in programs",
}  # fmt: skip
