"""torch._C._te: tensor expressions."""

from torchjit._tensorexpr.evaluation import BufferArg as BufferArg
from torchjit._tensorexpr.evaluation import CodeGen as CodeGen
from torchjit._tensorexpr.evaluation import SimpleIREvaluator as SimpleIREvaluator
from torchjit._tensorexpr.evaluation import Tensor as Tensor
from torchjit._tensorexpr.evaluation import construct_codegen as construct_codegen
from torchjit._tensorexpr.expressions import FUNCTIONS as _FUNCTIONS
from torchjit._tensorexpr.expressions import OF_TWO as _OF_TWO
from torchjit._tensorexpr.expressions import BufHandle as BufHandle
from torchjit._tensorexpr.expressions import Dtype as Dtype
from torchjit._tensorexpr.expressions import ExprHandle as ExprHandle
from torchjit._tensorexpr.expressions import VarHandle as VarHandle
from torchjit._tensorexpr.expressions import call as _call
from torchjit._tensorexpr.expressions import select as _select
from torchjit._tensorexpr.graphs import annotate_input_shapes as annotate_input_shapes
from torchjit._tensorexpr.graphs import fixup_missing_shape_info as fixup_missing_shape_info
from torchjit._tensorexpr.graphs import is_graph_compilable as is_graph_compilable
from torchjit._tensorexpr.graphs import make_shapes_symbolic as make_shapes_symbolic
from torchjit._tensorexpr.graphs import remove_graph_output as remove_graph_output
from torchjit._tensorexpr.graphs import remove_unused_self_argument as remove_unused_self_argument
from torchjit._tensorexpr.graphs import replace_list_output_with_tuple as replace_list_output_with_tuple
from torchjit._tensorexpr.graphs import trim_graph as trim_graph
from torchjit._tensorexpr.kernels import ArgValue as ArgValue
from torchjit._tensorexpr.kernels import TensorExprKernel as TensorExprKernel
from torchjit._tensorexpr.kernels import lower as lower
from torchjit._tensorexpr.loops import Compute as Compute
from torchjit._tensorexpr.loops import Compute2 as Compute2
from torchjit._tensorexpr.loops import LoopNest as LoopNest
from torchjit._tensorexpr.loops import Maximum as Maximum
from torchjit._tensorexpr.loops import Reduce as Reduce
from torchjit._tensorexpr.loops import Reducer as Reducer
from torchjit._tensorexpr.loops import Sum as Sum
from torchjit._tensorexpr.simplification import simplify as simplify
from torchjit._tensorexpr.statements import Block as Block
from torchjit._tensorexpr.statements import Cond as Cond
from torchjit._tensorexpr.statements import ExternalCall as ExternalCall
from torchjit._tensorexpr.statements import For as For
from torchjit._tensorexpr.statements import Stmt as Stmt
from torchjit._tensorexpr.statements import Store as Store


class Cast:
    """Values as other types."""

    @staticmethod
    def make(dtype: Dtype, x: ExprHandle) -> ExprHandle:
        """A value as a type."""
        return x.cast(dtype)


def _function(name: str) -> object:
    if name in _OF_TWO:

        def of_two(a: ExprHandle, b: ExprHandle) -> ExprHandle:
            return _call(name, a, b)

        made = of_two
    else:

        def of_one(a: ExprHandle) -> ExprHandle:
            return _call(name, a)

        made = of_one  # type: ignore[assignment]
    made.__name__, made.__doc__ = name, f"{name} of expressions."
    return made


globals().update({_name: _function(_name) for _name in [*_FUNCTIONS, *_OF_TWO]})


def ifThenElse(condition: ExprHandle, yes: ExprHandle, no: ExprHandle) -> ExprHandle:
    """One of two values, by a condition."""
    return _select(condition, yes, no)


for _made in [x for x in globals().values() if isinstance(x, type)]:
    _made.__module__ = __name__
