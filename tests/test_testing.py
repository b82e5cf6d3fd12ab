"""torch.testing: FileCheck, assert_close, and test cases."""

import os
import pathlib
import subprocess
import sys
import types

import pytest

import torchjit as torch
from torchjit import _C
from torchjit.testing import FileCheck, assert_close

TEXT = "alpha beta\ngamma delta\nalpha epsilon\nzeta\n"


def test_checks_that_hold():
    (
        FileCheck()
        .check("alpha")
        .check_same("beta")
        .check_next("gamma")
        .check_not("zeta")
        .check_regex(r"eps\w+")
        .run(TEXT)
    )
    FileCheck().check_count("alpha", 2, exactly=True).check("zeta").run(TEXT)
    FileCheck().check_dag("zeta").check_dag("alpha").run(TEXT)
    FileCheck().run("# CHECK: alpha\n# CHECK-NEXT: gamma", TEXT)
    FileCheck().run(
        checks_file="# CHECK: aten::relu", graph=_C.parse_ir("graph(%x):\n  %1 = aten::relu(%x)\n  return (%1)")
    )


@pytest.mark.parametrize(
    "check, text",
    [
        (
            FileCheck().check("nope"),
            'Expected to find "nope" but did not find it\nSearched string:\nalpha beta\n~~~~ <--- HERE\n',
        ),
        (FileCheck().check_count("alpha", 1, exactly=True), 'Expected to not find "alpha" but found it\n'),
        (FileCheck().check("alpha").check_next("zeta"), 'Expected to not find "\\n" but found it\n'),
        (FileCheck(), "No checks have been added"),
    ],
)
def test_checks_that_do_not_hold(check, text):
    with pytest.raises(RuntimeError) as raised:
        check.run(TEXT)
    assert str(raised.value).startswith(text)


def test_a_check_that_was_never_run_says_so(capsys):
    FileCheck().check("a")
    assert capsys.readouterr().out == "You have not run this instance of FileCheck!\nFileCheck checks:\n\tCHECK: a\n"


T = torch.tensor
CLOSE = [(T([1.0]), T([1.0 + 1e-7]), {}), (1.0, 1.0 + 1e-9, {}), ([T(1), {"a": 2.0}], [T(1), {"a": 2.0}], {}), (None, None, {}),
         (T([float("nan")]), T([float("nan")]), {"equal_nan": True}), (T([1.0]), T([1.0], dtype=torch.float64), {"check_dtype": False}),
         (T([]), T([]), {}), (T([1.0]), T([1.5]), {"rtol": 0.0, "atol": 1.0})]  # fmt: skip


@pytest.mark.parametrize("actual, expected, options", CLOSE, ids=lambda v: "")
def test_what_is_close(actual, expected, options):
    assert_close(actual, expected, **options)


@pytest.mark.parametrize(
    "actual, expected, options, text",
    [
        (T([1.0, 2.0, 3.0]), T([1.0, 2.0, 4.0]), {},
         "Tensor-likes are not close!\n\nMismatched elements: 1 / 3 (33.3%)\nGreatest absolute difference: 1.0 at index (2,) "
         "(up to 1e-05 allowed)\nGreatest relative difference: 0.25 at index (2,) (up to 1.3e-06 allowed)"),
        (T([[1, 2]]), T([[1, 4]]), {}, "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n"
         "Greatest absolute difference: 2 at index (0, 1)\nGreatest relative difference: 0.5 at index (0, 1)"),
        ([1.0, 2.0], [1.0, 3.0], {}, "Scalars are not close!\n\nAbsolute difference: 1.0 (up to 1e-07 allowed)\n"
         "Relative difference: 0.3333333333333333 (up to 1e-07 allowed)\n\nThe failure occurred for item [1]"),
        ({"a": 1}, {"b": 1}, {}, "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
         "Additional keys in the actual mapping: ['a']"),
        ([1], [1, 2], {}, "The length of the sequences mismatch: 1 != 2"),
        (T([1.0]), T([[1.0]]), {}, "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([1, 1])."),
        (True, False, {}, "Booleans mismatch: True is not False"),
        (1, 1.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
        (1, 2, {"msg": "mine"}, "mine"),
        (1, 2, {"msg": lambda m: m[:7]}, "Scalars"),
    ],
    ids=lambda v: "",
)  # fmt: skip
def test_what_is_not_close(actual, expected, options, text):
    with pytest.raises(AssertionError) as raised:
        assert_close(actual, expected, **options)
    assert str(raised.value) == text


def test_tolerances_come_in_pairs():
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol' must be either specified or omitted, but got no atol"):
        assert_close(T(1.0), T(1.0), rtol=1.0)


def test_recorded_texts_are_written_and_compared(tmp_path, monkeypatch):
    from torchjit.testing._internal.common_utils import TestCase

    module = types.ModuleType("recorded_texts")
    module.__file__ = str(tmp_path / "recorded_texts.py")
    monkeypatch.setitem(sys.modules, "recorded_texts", module)
    case = type("Case", (TestCase,), {"__module__": "recorded_texts"})()
    with pytest.raises(RuntimeError, match=r"I got this output for Case.runTest \(part\)"):
        case.assertExpected("a\n", "part")
    monkeypatch.setenv("EXPECTTEST_ACCEPT", "1")
    case.assertExpected("a\n", "part")
    monkeypatch.delenv("EXPECTTEST_ACCEPT")
    case.assertExpected("a", "part")
    assert (tmp_path / "expect" / "Case.runTest-part.expect").read_text() == "a\n"
    with pytest.raises(AssertionError):
        case.assertExpected("b", "part")


def test_run_tests_runs_the_tests_of_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from torchjit.testing._internal.common_utils import TestCase, run_tests\n"
        "class C(TestCase):\n"
        "    def test_a(self):\n"
        "        self.assertEqual(1, 1)\n"
        "    def test_b(self):\n"
        "        self.assertEqual(1, 2)\n"
        "if __name__ == '__main__':\n"
        "    run_tests()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parents[1])}
    done = [subprocess.run([sys.executable, program, *words], env=env, capture_output=True, text=True) for words in ([], ["C.test_a", "--seed", "3"])]
    assert [d.returncode for d in done] == [1, 0]
    assert "Ran 2 tests" in done[0].stderr and "Ran 1 test" in done[1].stderr


def test_what_is_compiled_in_a_test_case_is_saved_and_loaded():
    from torchjit.testing._internal.jit_utils import JitTestCase

    seen = []

    class Case(JitTestCase):
        def _compared_saved_loaded(self, m):
            super()._compared_saved_loaded(m)
            seen.append(m)

    case = Case()
    case.setUp()
    try:
        torch.jit.script(torch.nn.LSTM(2, 3))  # its forward is overloaded: it has no code
    finally:
        case.tearDown()
    count = len(seen)
    torch.jit.script(torch.nn.ReLU())
    assert count and len(seen) == count


@pytest.mark.filterwarnings("ignore")  # of deprecated functions, and of reductions
def test_every_module_and_function_of_the_tables_compiles():
    from torchjit.testing._internal import common_nn
    from torchjit.testing._internal import jit_metaprogramming_utils as utils

    cases = [*utils.get_all_nn_module_tests(), *common_nn.criterion_tests]
    names = {utils.get_nn_module_class_from_kwargs(**case) for case in cases}
    assert {"Linear", "Conv2d", "LSTMCell", "CrossEntropyLoss", "MultiheadAttention"} <= names
    for case in cases:
        made = utils.try_get_nn_module_compiled_mod_and_inputs(**case)
        assert (made is None) == (case["module_name"] == "CrossMapLRN2d")
        if made is not None:
            module, inputs = made
            assert isinstance(module, torch.jit.ScriptModule) and module.submodule.original_name == case["module_name"]
            module(*inputs)
    for case in utils.nn_functional_tests:
        function, inputs = utils.get_nn_functional_compiled_fn_and_inputs(*case)
        function(*inputs)
        args = utils.create_input((case[1], *case[2]))[0]
        function, inputs = utils.gen_script_fn_and_args(case[0], "nn_functional", *args)
        torch.manual_seed(0)
        found = function(*inputs)
        torch.manual_seed(0)
        assert_close(found, getattr(torch.nn.functional, case[0])(*args))


def test_programs_made_of_names():
    from torchjit.testing._internal import jit_metaprogramming_utils as utils

    one = torch.ones(1)
    assert utils.get_script_args((one, 2, [one], "s")) == (["i0", "i1: List[torch.Tensor]"], [one, [one]], ["i0", "2", "i1", "'s'"])
    assert utils.get_call("mul", "method", ["a", "b"], {"c": 1}) == "a.mul(b, c=1)"
    assert utils.get_call("relu", "nn_functional", ["a"], {}) == "torch.nn.functional.relu(a)"
    with pytest.raises(RuntimeError, match="Unsupported function type"):
        utils.get_call("relu", "other", ["a"], {})
    (size, made, copied, kept), named = utils.create_input((2, (3,), one, utils.dont_convert((1, 2))), call_kwargs={"p": (2,)})
    assert size == 2 and made.shape == (3,) and made.requires_grad and copied.requires_grad and kept == (1, 2) and named["p"].shape == (2,)
    scripted, traced = utils.create_script_fn(None, "add", "functional"), utils.create_traced_fn(None, torch.add, cache_traced_fn=True)
    assert torch.equal(scripted(one, 2), traced(one, 2)) and "aten::add" in str(scripted.last_graph) and "aten::add" in str(traced.last_graph)
    kept_trace = traced.kept[0]
    assert torch.equal(traced(one + 1, 2), one + 3) and traced.kept[0] is kept_trace
    assert torch.equal(traced(one, 3), one + 3) and traced.kept[0] is not kept_trace
    utils.check_alias_annotation("add_", (torch.ones(2), torch.ones(2)), {}, aten_name="add_")
    name = utils.get_nn_mod_test_name
    assert (name(module_name="Linear", desc="x"), name(fullname="Foo")) == ("test_nn_Linear_x", "test_nn_Foo")


def test_division_of_files_with_and_without_a_future():
    from torchjit.testing._internal.test_module import future_div, no_future_div

    for f, wanted in [
        (future_div.div_int_future, 0.5), (future_div.div_float_future, 25.12), (no_future_div.div_int_nofuture, 0.5),
        (no_future_div.div_float_nofuture, 25.12),
    ]:  # fmt: skip
        assert f() == torch.jit.script(f)() == wanted
