"""torch.onnx.verification: models are exported, run by onnxruntime and compared."""

from __future__ import annotations

import io
from typing import Any

import torchjit as torch
from torchjit._C._onnx import TrainingMode
from torchjit.onnx import _capture, utils

__all__ = ["verify"]


def _flat(values: Any) -> list[Any]:
    """The tensors of arguments or results, as arrays."""
    if isinstance(values, torch.Tensor):
        return [values.detach().cpu().numpy()]
    if isinstance(values, (bool, int, float)):
        return [torch.tensor(values).numpy()]
    items = values.values() if isinstance(values, dict) else values
    return [] if values is None else [array for v in items for array in _flat(v)]


def _ort_session(model: bytes, ort_providers: Any) -> Any:
    """A session of onnxruntime. Raises ImportError where the package is missing."""
    try:
        import onnxruntime  # type: ignore[import-not-found]
    except ImportError as e:
        raise ImportError("onnxruntime is required for export verification: pip install onnxruntime") from e
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=list(ort_providers))


def _run_ort(session: Any, arrays: list[Any]) -> list[Any]:
    """What a session gives for arrays: sequences are spread."""
    names = [i.name for i in session.get_inputs()]
    results = session.run(None, dict(zip(names, arrays)))
    return [array for r in results for array in (r if isinstance(r, list) else [r])]


def _compare(
    found: list[Any],
    expected: list[Any],
    rtol: float,
    atol: float,
    percentage: float | None,
    shapes: bool,
    dtypes: bool,
) -> None:
    """Raises AssertionError where results differ, by more elements than the percentage allows."""
    assert len(found) == len(expected), f"the exported model has {len(found)} results, the model {len(expected)}"
    for i, (a, b) in enumerate(zip(found, expected)):
        assert not shapes or a.shape == b.shape, f"result {i} has the shape {a.shape}, the model's {b.shape}"
        assert not dtypes or a.dtype == b.dtype, f"result {i} has the element type {a.dtype}, the model's {b.dtype}"
        try:
            torch.testing.assert_close(
                torch.from_numpy(a),
                torch.from_numpy(b).to(torch.from_numpy(a).dtype),
                rtol=rtol,
                atol=atol,
                equal_nan=True,
            )
        except AssertionError:
            wrong = 100 * float(
                (~torch.isclose(torch.from_numpy(a), torch.from_numpy(b), rtol, atol, equal_nan=True)).double().mean()
            )
            if percentage is None or wrong > percentage:
                raise


def verify(
    model: Any,
    input_args: Any,
    input_kwargs: Any = None,
    do_constant_folding: bool = True,
    dynamic_axes: Any = None,
    input_names: Any = None,
    output_names: Any = None,
    training: TrainingMode = TrainingMode.EVAL,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool = True,
    verbose: bool = False,
    fixed_batch_size: bool = False,
    use_external_data: bool = False,
    additional_test_inputs: Any = None,
    remained_onnx_input_idx: Any = None,
    flatten: bool = True,
    ignore_none: bool = True,
    check_shape: bool = True,
    check_dtype: bool = True,
    ort_providers: Any = ("CPUExecutionProvider",),
    rtol: float = 0.001,
    atol: float = 1e-07,
    acceptable_error_percentage: float | None = None,
    **_: Any,
) -> None:
    """Exports a model and compares what onnxruntime computes with what it computes, for the arguments and for additional ones.

    Raises AssertionError where results differ, ImportError where onnxruntime is missing, and what export raises.
    """
    args = input_args if isinstance(input_args, tuple) else (input_args,)
    given = (*args, input_kwargs) if input_kwargs else args
    file = io.BytesIO()
    utils.export(
        model,
        given,
        file,
        training=training,
        verbose=verbose,
        input_names=input_names,
        output_names=output_names,
        opset_version=opset_version,
        do_constant_folding=do_constant_folding,
        keep_initializers_as_inputs=keep_initializers_as_inputs,
        dynamic_axes=dynamic_axes,
    )
    session = _ort_session(file.getvalue(), ort_providers)
    with utils.select_model_mode_for_export(model, training), torch.no_grad():
        for case in [given, *(additional_test_inputs or ())]:
            bound = _capture.arguments(model, case if isinstance(case, tuple) else (case,))
            arrays = _flat(bound)
            kept = arrays if remained_onnx_input_idx is None else [arrays[i] for i in remained_onnx_input_idx]
            found = _run_ort(session, kept)
            _compare(found, _flat(model(*bound)), rtol, atol, acceptable_error_percentage, check_shape, check_dtype)
