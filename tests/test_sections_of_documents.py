"""Each thing that was found to differ from the documents PyTorch was designed by has a test that shows it, or a line in docs/differences.md.

A row of SHOWN is DOCUMENT | WHAT | WHERE: WHERE is FILE::TEST, whose comment names the document, or words of a line of differences.md, in
quotes, or several of both, separated by ` + `.
"""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

SHOWN = """
IR document | the graph of simple_lstm | tests/test_documents.py::test_lists_that_nothing_reads_are_no_part_of_a_loop
IR document | kinds of attributes | tests/test_documents.py::test_kinds_of_attributes
IR document | nodes found by a schema | tests/test_documents.py::test_nodes_are_found_by_a_schema
IR document | values belong to one graph | tests/test_documents.py::test_values_belong_to_one_graph + gojit/extend_test.go::TestGraphsOwnTheirValues
IR document | operations take their arguments off a stack | gojit/extend_test.go::TestOperationsReadTheirNode
IR document | names of functions of nodes in Go | "`insertInput`, `eraseInput`, `namedInput`"
IR document | operators that read their node | gojit/extend_test.go::TestOperationsReadTheirNode
IR document | executors specialize by arguments | tests/test_documents.py::test_executors_specialize_by_arguments
IR document | registration by dlopen | tests/test_documents.py::test_libraries_for_pytorch_are_refused
IR document | custom operators in source that Go compiles | gojit/custom_test.go::TestCustomOperatorsAndForks
IR document | SymbolicVariable | "`SymbolicVariable`"
IR document | Dynamic, World, LoadWorld, StoreWorld | "`Dynamic`, `World`"
JIT overview | Lexer, tokens (old) | gojit/extend_test.go::TestLexerInjectsBlocks
JIT overview | SugaredValue of one's own (old) | gojit/extend_test.go::TestSugaredValuesOfOutside
JIT overview | FusionGroup with a Subgraph (old) | tests/test_documents.py::test_fusion_groups_are_made
JIT overview | a ScriptModule without __init__ | tests/test_documents.py::test_script_modules_without_init_are_compiled
JIT overview | Futures and forks in traces | tests/test_documents.py::test_traces_know_futures
JIT overview | exits inside of with | tests/test_documents.py::test_with_blocks_are_left
JIT overview | names in the example of exits | tests/test_documents.py::test_names_of_values_behind_exits
JIT overview | dead code | tests/test_documents.py::test_dead_writes_are_removed
JIT overview | optimized cells without gradients | tests/test_documents.py::test_cells_are_one_group
JIT overview | optimized cells with gradients | tests/test_documents.py::test_cells_are_one_differentiable_graph
JIT overview | texts with graphs behind them | tests/test_documents.py::test_shown_graphs_are_read_back_and_run
JIT overview | products with a common factor | tests/test_documents.py::test_batched_products_have_a_side
JIT overview | the graph that is shown is the one that ran | tests/test_shown_graphs.py::test_programs_run_what_is_shown
JIT overview | running the graph that is shown | tests/test_shown_graphs.py::test_shown_graphs_run_as_calls_do
JIT overview | groups while the fuser is off | tests/test_documents.py::test_groups_are_shown_where_they_run
JIT overview | the fusion strategy | tests/test_documents.py::test_specializations_are_limited + tests/test_executor.py::test_groups_compute_what_python_computes
JIT overview | PYTORCH_JIT_LOG_LEVEL | tests/test_documents.py::test_passes_are_logged + tests/test_documents.py::test_logging_is_set_by_a_program
JIT overview | PYTORCH_JIT_TYPE_VERBOSITY | tests/test_documents.py::test_verbosity_of_types
JIT overview | PYTORCH_JIT_OPT_LIMIT | tests/test_documents.py::test_optimizations_are_limited
JIT overview | ConstantChunk and RequiresGradCheck run | tests/test_documents.py::test_chunks_and_checks_of_graphs_run
JIT overview | prim::Guard, prim::BailOut | "`prim::Guard`, `prim::BailOut`"
JIT overview | check_ad, JitTestCase | tests/test_documents.py::TestPrograms
JIT overview | forks in source that Go compiles | gojit/custom_test.go::TestCustomOperatorsAndForks
Source-code read note | Symbol | gojit/extend_test.go::TestSymbolsAreInterned
Source-code read note | MyModule, without __init__ | tests/test_documents.py::test_script_methods_are_compiled_without_init
Source-code read note | ScriptMethodStub | tests/test_documents.py::test_script_methods_are_stubs
Source-code read note | executors of gradients of code | tests/test_documents.py::test_code_has_executors_of_gradients
Source-code read note | the graph that is shown of a module ran | tests/test_shown_graphs.py::test_modules_run_what_is_shown
Export IR specification | texts of graphs | tests/test_export.py::test_text_of_a_graph + "nodes named `%add_tensor`"
Export IR specification | FakeTensor | "`FakeTensor(dtype=..., size=[...], device=...)`"
Export IR specification | nn_module_stack | tests/test_export.py::test_metadata + "`nn_module_stack`, innermost module first"
Export IR specification | symbols of sizes | tests/test_export.py::test_sizes_that_are_dynamic + "symbols of sizes"
Export IR specification | the example of cond | tests/test_export.py::test_control_flow
Export IR specification | cond of functorch | tests/test_documents.py::test_cond_has_its_name_in_functorch
Export IR specification | functions that are exported | tests/test_export.py::test_what_is_no_module + "functions that are exported"
Export IR specification | aten::_assert_async | tests/test_documents.py::test_assertions_of_tensors_run + tests/test_documents.py::test_assertions_of_tensors_are_exported
"""

ROWS = [tuple(part.strip() for part in line.split(" | ")) for line in SHOWN.strip().splitlines()]


def comment(place):
    """The comment of a test, in Python or in Go."""
    file, name = place.split("::")
    text = (ROOT / file).read_text()
    if file.endswith(".go"):
        found = re.search(rf"((?:^//.*\n)+)func {name}\(", text, flags=re.M)
        assert found is not None, f"{file} has no commented {name}"
        return " ".join(found[1].replace("//", " ").split())
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return ast.get_docstring(node) or ""
    raise AssertionError(f"{file} has no {name}")


@pytest.mark.parametrize("document, what, where", ROWS, ids=[f"{document}: {what}" for document, what, _ in ROWS])
def test_is_shown(document, what, where):
    places = where.split(" + ")
    assert places
    for place in places:
        if place.startswith('"'):
            assert place.strip('"') in (ROOT / "docs" / "differences.md").read_text()
        else:
            assert document.lower() in comment(place).lower(), place


def test_a_test_that_is_not_there_is_noticed():
    with pytest.raises(AssertionError, match="has no test_of_nothing"):
        comment("tests/test_documents.py::test_of_nothing")
    with pytest.raises(AssertionError, match="has no commented TestOfNothing"):
        comment("gojit/extend_test.go::TestOfNothing")
