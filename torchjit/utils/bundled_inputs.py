"""Example inputs that are kept within compiled modules, small and rebuilt when they are asked for."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torchjit as torch
from torchjit._C import ListType, TupleType

T = TypeVar("T")

# Tensors over more elements than this are not kept as they are.
MAX_RAW_TENSOR_SIZE = 16


class InflatableArg(NamedTuple):
    """An input that is kept as another value.

    fmt is an expression that gives the input, with {} where the kept value stands; or fmt_fn is the text of a method, named {}, that does.
    """

    value: Any
    fmt: str = "{}"
    fmt_fn: str = ""


def bundle_inputs(
    model: Any, inputs: Any, info: Any = None, *, _receive_inflate_expr: list[str] | None = None
) -> Any:  # fmt: skip
    """A copy of a compiled module that has inputs: a sequence of tuples for forward, or a dict of such by methods of the module.

    What an earlier call has bundled is left out. info are texts, for forward or by method. The copy has the methods get_all_bundled_inputs,
    get_num_bundled_inputs, get_bundled_inputs_functions_and_info and, for each method, get_all_bundled_inputs_for_NAME.
    Raises Exception where the model is not compiled or inputs are missing.
    """
    if not isinstance(model, torch.jit.ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    ignored_methods, ignored_attributes = _get_bundled_inputs_attributes_and_methods(model)
    copied = torch._C._hack_do_not_use_clone_module_with_class(model._c, ignored_methods, ignored_attributes)
    clone = torch.jit._recursive.wrap_cpp_module(copied)
    if isinstance(inputs, dict):
        by_method = {getattr(clone, f.__name__): found for f, found in inputs.items()}
        infos = {getattr(clone, f.__name__): text for f, text in info.items()} if isinstance(info, dict) else None
        augment_many_model_functions_with_bundled_inputs(clone, by_method, _receive_inflate_expr, infos)
    else:
        augment_model_with_bundled_inputs(clone, inputs, _receive_inflate_expr, info)
    return clone


def augment_model_with_bundled_inputs(
    model: Any, inputs: Sequence[tuple[Any, ...]] | None = None, _receive_inflate_expr: list[str] | None = None,
    info: list[str] | None = None, skip_size_check: bool = False,
) -> None:  # fmt: skip
    """Gives a compiled module inputs for forward; without inputs its method _generate_bundled_inputs_for_forward makes them."""
    if not isinstance(model, torch.jit.ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    forward: Any = model.forward
    if not hasattr(forward, "name"):
        forward.name = "forward"
    augment_many_model_functions_with_bundled_inputs(
        model, {forward: inputs}, _receive_inflate_expr, {forward: info} if info else None, skip_size_check
    )


def augment_many_model_functions_with_bundled_inputs(
    model: Any, inputs: dict[Callable[..., Any], Any], _receive_inflate_expr: list[str] | None = None,
    info: dict[Callable[..., Any], list[str]] | None = None, skip_size_check: bool = False,
) -> None:  # fmt: skip
    """Gives a compiled module inputs for methods.

    Raises Exception where the model is not compiled or has inputs already, where there is no method, where a method has neither inputs nor a method
    _generate_bundled_inputs_for_NAME or both, and for large tensors unless skip_size_check; TypeError where inputs are no sequence of tuples.
    """
    if not isinstance(model, torch.jit.ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    if not inputs:
        raise Exception("Please provide inputs for at least 1 function")
    if hasattr(model, "get_all_bundled_inputs") or hasattr(model, "get_bundled_inputs_functions_and_info"):
        raise Exception(
            "Models can only be augmented with bundled inputs once. This Model seems to have already been augmented with bundled inputs. Please start "
            "afresh with one that doesn't have bundled inputs."
        )
    described = ""
    for function, input_list in inputs.items():
        name = _name_of(function)
        if input_list is not None and not isinstance(input_list, Sequence):
            raise TypeError(f"Error inputs for function {name} is not a Sequence")
        _define_inputs(model, name, input_list, _receive_inflate_expr, skip_size_check)
        texts = repr(list(info[function])) if info is not None and function in info else "[]"
        described += f"""
            temp_dict : Dict[str, List[str]] = {{}}
            info: List[str] = {texts}
            temp_dict['info'] = info
            temp_dict['get_inputs_function_name'] = ['get_all_bundled_inputs_for_{name}']
            all_inputs['{name}'] = temp_dict
        """
        if name == "forward":
            model.define(textwrap.dedent("""
                def get_all_bundled_inputs(self):
                    return self.get_all_bundled_inputs_for_forward()
            """))  # fmt: skip
            model.define(textwrap.dedent("""
                def get_num_bundled_inputs(self):
                    return len(self.get_all_bundled_inputs_for_forward())
            """))  # fmt: skip
    model.define(textwrap.dedent(f"""
        def get_bundled_inputs_functions_and_info(self):
            all_inputs : Dict[str, Dict[str,List[str]]] = {{}}
            {textwrap.indent(textwrap.dedent(described), " " * 12).strip()}
            return all_inputs
    """))  # fmt: skip


def _name_of(function: Any) -> str:
    """The name of a method."""
    if hasattr(function, "__name__"):
        return str(function.__name__)
    if hasattr(function, "name"):
        return str(function.name)
    raise Exception('At least one of your functions has no attribute name please ensure all have one. m.foo.name = "foo"')


def _define_inputs(model: Any, name: str, input_list: Any, receive: list[str] | None, skip_size_check: bool) -> None:
    """Keeps the inputs of a method and defines what rebuilds them."""
    generate = "_generate_bundled_inputs_for_" + name
    if hasattr(model, generate):
        if input_list is not None:
            raise Exception(f"inputs[{name}] is not None, but {generate} is already defined")
    elif not input_list:
        raise Exception(f"inputs for {name} must be specified if {generate} is not already defined")
    else:
        types = [arg.type for arg in getattr(model, name).schema.arguments[1:]]
        model._c._register_attribute(f"_bundled_inputs_deflated_{name}", ListType(TupleType(types)), [])
        kept, expressions = [], []
        for i, args in enumerate(input_list):
            if not isinstance(args, (tuple, list)):
                raise TypeError(f"Error bundled input for function {name} idx: {i} is not a Tuple or a List")
            values, texts = _deflated(model, name, i, args, receive, skip_size_check)
            kept.append(tuple(values))
            expressions.append("(" + ", ".join(texts) + ",)")
        if receive is not None:
            receive.extend(expressions)
        setattr(model, f"_bundled_inputs_deflated_{name}", kept)
        model.define(
            f"def {generate}(self):\n    deflated = self._bundled_inputs_deflated_{name}\n    return [\n"
            + "".join(f"        {e},\n" for e in expressions) + "    ]\n"
        )  # fmt: skip
    model.define(
        f"def get_all_bundled_inputs_for_{name}(self):\n    all_inputs = self.{generate}()\n    assert all_inputs is not None\n    return all_inputs\n"
    )


def _deflated(model: Any, name: str, i: int, args: Any, receive: Any, skip_size_check: bool) -> tuple[list[Any], list[str]]:
    """What is kept for the arguments of one input, and the expressions that rebuild them."""
    values, texts = [], []
    for j, arg in enumerate(args):
        helper_name = _get_inflate_helper_fn_name(j, i, name)
        value, text, helper = _inflate_expr(arg, f"deflated[{i}][{j}]", helper_name, skip_size_check=skip_size_check)
        values.append(value)
        texts.append(text)
        if helper:
            model.define(textwrap.dedent(helper))
    return values, texts


def _inflate_expr(arg: Any, ref: str, inflate_helper_fn_name: str, skip_size_check: bool = False) -> tuple[Any, str, str | None]:
    """What is kept for an argument, the expression that rebuilds it, and the text of a method that this calls, if any."""
    if isinstance(arg, InflatableArg):
        if arg.fmt_fn:
            if arg.fmt not in ("{}", ""):
                raise Exception(f"Bundled input argument at position '{ref}' has both arg.fmt_fn => \n{arg.fmt_fn} \n and arg.fmt  => {arg.fmt}. "
                                "Please choose `arg.fmt` if the deflater is straightforward or `arg.fmt_fn` if you need a function.")  # fmt: skip
            return arg.value, f"self.{inflate_helper_fn_name}({ref})", arg.fmt_fn.format(inflate_helper_fn_name)
        return arg.value, arg.fmt.format(ref), None
    if not isinstance(arg, torch.Tensor):
        return arg, ref, None
    elements = arg.storage().size()
    if elements <= MAX_RAW_TENSOR_SIZE or skip_size_check:
        return arg, ref, None
    if arg.is_contiguous() and arg.numel() <= MAX_RAW_TENSOR_SIZE:
        return arg.clone(), ref, None
    for memory_format in (torch.contiguous_format, torch.channels_last):
        if arg.is_contiguous(memory_format=memory_format) and bool((arg == arg.flatten()[0]).all()):
            format_name = str(memory_format).rpartition(".")[2]
            return arg.flatten()[0].clone().expand(*arg.size()), f"{ref}.contiguous(memory_format=torch.{format_name})", None
    raise Exception(f"Bundled input argument at position '{ref}' is a tensor with storage size {elements}. You probably don't want to bundle this as an input. ")


def _get_bundled_inputs_attributes_and_methods(script_module: Any) -> tuple[list[str], list[str]]:
    """The methods and attributes that bundling has given a module."""
    methods: list[str] = []
    attributes: list[str] = []
    if hasattr(script_module, "get_all_bundled_inputs"):
        methods += ["get_all_bundled_inputs", "get_num_bundled_inputs", "run_on_bundled_input"]
    if hasattr(script_module, "get_bundled_inputs_functions_and_info"):
        methods.append("get_bundled_inputs_functions_and_info")
        for name in script_module.get_bundled_inputs_functions_and_info():
            methods += [f"get_all_bundled_inputs_for_{name}", f"_generate_bundled_inputs_for_{name}"]
            attributes.append(f"_bundled_inputs_deflated_{name}")
            for i, args in enumerate(getattr(script_module, attributes[-1], ()) or ()):
                methods += [_get_inflate_helper_fn_name(j, i, name) for j in range(len(args))]
    return methods, attributes


def _get_inflate_helper_fn_name(arg_idx: int, input_idx: int, function_name: str) -> str:
    return f"_inflate_helper_for_{function_name}_input_{input_idx}_arg_{arg_idx}"


def bundle_randn(*size: Any, dtype: Any = None) -> InflatableArg:
    """An input of random numbers, new ones each time."""
    return InflatableArg(value=torch.zeros(1, dtype=dtype).expand(*size), fmt="torch.randn_like({})")


def bundle_large_tensor(t: torch.Tensor) -> InflatableArg:
    """An input that is kept as it is, however large."""
    return InflatableArg(value=t, fmt="{}")
