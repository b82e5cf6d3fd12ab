"""torch.jit._ScriptProfile counts the nodes that run, line by line."""

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
