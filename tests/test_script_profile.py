"""torch.jit._ScriptProfile and torch.jit.line_profile count the nodes that run, line by line."""

import pytest

import torchjit as torch


def test_hits_are_nodes_and_rounds():
    @torch.jit.script
    def f(x, n: int):
        for i in range(n):
            x = x * i + 1
        return x

    profile = torch.jit._ScriptProfile()
    profile.enable()
    f(torch.ones(2), 3)
    f(torch.ones(2), 1)
    profile.disable()
    f(torch.ones(2), 5)
    (stats,) = profile.profile._dump_stats()
    first = stats.source().starting_lineno()
    assert stats.source().text().splitlines()[2].strip() == "for i in range(n):"
    counts = {line - first: found.count() for line, found in stats.line_map().items()}
    assert counts == {2: 2 + 4, 3: 2 * 4}  # a loop once at its start and once in each round
    assert all(found.duration_ns() > 0 for found in stats.line_map().values())


def test_results_are_the_same_and_two_profiles_count():
    @torch.jit.script
    def f(n: int):
        total = 0
        while total < n:
            total += 3
        return total

    one, other = torch.jit._ScriptProfile(), torch.jit._ScriptProfile()
    one.enable()
    f(7)
    other.enable()
    assert f(7) == 9
    one.disable()
    other.disable()
    hits = [sum(x.count() for x in p.profile._dump_stats()[0].line_map().values()) for p in (one, other)]
    assert hits[0] == 2 * hits[1] > 0


def test_line_profile_is_a_context():
    @torch.jit.script
    def f(x):
        y = x + 1
        return y * y

    with torch.jit.line_profile() as lines:
        f(torch.ones(2))
        assert str(lines) == "<unfinished torch.jit.line_profile>"
        with pytest.raises(RuntimeError, match="counts already"):
            lines.__enter__()
    f(torch.ones(2))
    assert [(line.text.strip(), line.hits) for line in lines.lines()] == [("y = x + 1", 1), ("return y * y", 1)]
    assert all(line.nanoseconds > 0 for line in lines.lines())
    assert "Line Contents" in str(lines) and "    return y * y" in str(lines)


def test_line_profile_ends_with_an_error():
    @torch.jit.script
    def f(x):
        return torch.mm(x, x)

    with pytest.raises(RuntimeError), torch.jit.line_profile() as lines:
        f(torch.ones(2, 3))
    counted = lines.lines()
    f(torch.ones(2, 2))
    assert lines.lines() == counted
