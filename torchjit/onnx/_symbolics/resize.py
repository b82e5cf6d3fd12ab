"""Images in other sizes, and samples of images."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import errors
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.creation import named
from torchjit.onnx.symbolic_helper import parse_args


def _scales(given: dict[str, Any], dims: int) -> list[float] | None:
    """The factors that a program says, None where it says sizes."""
    if "scale_factors" in given and not helper._is_none(given["scale_factors"]):
        return helper._get_const(given["scale_factors"], "fs", "scale_factors")
    names = {1: ["scales"], 2: ["scales_h", "scales_w"], 3: ["scales_d", "scales_h", "scales_w"]}[dims]
    found = [given.get(n) for n in names]
    if any(v is None or helper._is_none(v) for v in found):
        return None
    return [float(helper._get_const(v, "f", "scales")) for v in found]


def _resized(mode: str, dims: int, exact: bool = False) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        given = named(g, (x, *args))
        corners = "align_corners" in given and helper._parse_arg(given["align_corners"], "b")
        scales = _scales(given, dims)
        if g.opset < 11:
            return _upsampled(g, x, given, scales, mode, dims, corners)
        transformation = "align_corners" if corners else "half_pixel"
        if mode == "nearest" and not exact:
            transformation = "asymmetric"
        attributes: dict[str, Any] = {
            "mode_s": mode,
            "coordinate_transformation_mode_s": transformation,
            "cubic_coeff_a_f": -0.75,
            "nearest_mode_s": "round_prefer_ceil" if exact else "floor",
        }
        roi = g.none() if g.opset >= 13 else g.constant(torch.zeros([0], dtype=torch.float32))
        if scales is not None:
            return g.op("Resize", x, roi, g.constant([1.0, 1.0, *scales]), **attributes)
        sizes = g.op(
            "Concat",
            helper._slice_helper(g, g.op("Shape", x), [0], [0], [2]),
            helper._sizes_argument(g, given["output_size"]),
            axis_i=0,
        )
        scale = g.none() if g.opset >= 13 else g.constant(torch.zeros([0], dtype=torch.float32))
        return g.op("Resize", x, roi, scale, sizes, **attributes)

    return export


def _upsampled(
    g: Any, x: Any, given: dict[str, Any], scales: list[float] | None, mode: str, dims: int, corners: bool
) -> Any:
    """Before opset version 11 only factors are known, and no positions of corners."""
    if corners or mode == "cubic":
        helper._onnx_opset_unsupported(f"interpolate with mode={mode} and align_corners={corners}", g.opset, 11, x)
    if scales is None:
        sizes = helper._get_tensor_sizes(x)
        wanted = helper._maybe_get_const(given["output_size"], "is")
        if sizes is None or None in sizes[2:] or not isinstance(wanted, list):
            helper._onnx_opset_unsupported_detailed("interpolate", g.opset, 11, "sizes are not known", x)
        scales = [b / a for a, b in zip(sizes[2:], wanted)]
    if mode != "nearest":
        warnings.warn(
            f"ONNX export of interpolate with mode={mode} at opset version {g.opset}: the positions of corners are other ones than "
            "PyTorch's, and so are the results. They are the same from opset version 11 on.",
            errors.OnnxExporterWarning,
            stacklevel=2,
        )
    if min(scales) < 1:
        helper._onnx_opset_unsupported("interpolate to a smaller size", g.opset, 11, x)
    return g.op("Resize" if g.opset >= 10 else "Upsample", x, g.constant([1.0, 1.0, *scales]), mode_s=mode)


for _dims, _linear in {1: "linear", 2: "bilinear", 3: "trilinear"}.items():
    symbolic(f"upsample_nearest{_dims}d")(_resized("nearest", _dims))
    symbolic(f"_upsample_nearest_exact{_dims}d", since=11)(_resized("nearest", _dims, exact=True))
    symbolic(f"upsample_{_linear}{'' if _dims > 3 else _dims}d")(_resized("linear", _dims))
symbolic("upsample_bicubic2d")(_resized("cubic", 2))


@symbolic("grid_sampler", since=16)
@parse_args("v", "v", "i", "i", "b")
def grid_sampler(g: Any, x: Any, grid: Any, mode: int, padding_mode: int, align_corners: bool) -> Any:
    if helper._rank(x, "grid_sampler") != 4:
        helper._onnx_unsupported("grid_sampler of volumes", x)
    return g.op(
        "GridSample",
        x,
        grid,
        align_corners_i=int(align_corners),
        mode_s=("bilinear", "nearest", "bicubic")[mode],
        padding_mode_s=("zeros", "border", "reflection")[padding_mode],
    )


@symbolic("affine_grid_generator")
@parse_args("v", "is", "b")
def affine_grid_generator(g: Any, theta: Any, size: list[int], align_corners: bool) -> Any:
    """The grid that stays where it is, times the matrices."""
    dims = len(size) - 2
    stays = torch.eye(dims, dims + 1).unsqueeze(0)
    grid = torch.nn.functional.affine_grid(stays, [1, 1, *size[2:]], align_corners=align_corners).reshape(-1, dims)
    points = torch.cat([grid, torch.ones(grid.shape[0], 1)], 1)
    made = g.op("MatMul", g.constant(points), g.op("Transpose", theta, perm_i=[0, 2, 1]))
    return helper._reshape_helper(g, made, [size[0], *size[2:], dims])
