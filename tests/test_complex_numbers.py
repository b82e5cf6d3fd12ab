"""Complex numbers as arguments of operators on real tensors: they make the result complex, or are refused, but never lose their imaginary part."""

import warnings

import pytest

from tests.attack import operators as attack

# Operators whose results do not take the number: it is compared or counted only, or its truth is meant.
TRUTHS = {"aten::eq", "aten::ne", "aten::eq_", "aten::ne_", "aten::not_equal", "aten::not_equal_", "aten::isin", "aten::result_type"}


def with_numbers():
    """Samples of every overload that has numbers among its arguments, with the place of one."""
    places = {}
    for schema, operator, arguments in attack.targets():
        for overload, args, keywords in attack.samples().get(schema.name, []):
            if overload != schema.overload_name:
                continue
            for place, (name, kind, *_) in enumerate(arguments):
                if kind in ("number", "Optional[number]") and (place < len(args) or name in keywords):
                    places.setdefault((f"{schema.name}.{overload}", name), (schema, operator, args, keywords, place))
    return places


PLACES = with_numbers()


def made(x):
    if isinstance(x, attack.Written):
        return eval(x, vars(attack))
    if isinstance(x, attack.T):
        return attack.tensor(x.dtype, x.shape, top=x.top)
    if isinstance(x, (list, tuple)):
        return [made(y) for y in x]
    return x


def test_there_are_numbers():
    assert len(PLACES) > 100


@pytest.mark.parametrize("place", PLACES, ids=lambda p: f"{p[0]}-{p[1]}")
def test_imaginary_parts_are_not_lost(place):
    schema, operator, args, keywords, at = PLACES[place]
    if any(isinstance(x, (attack.Q, attack.S)) or isinstance(x, attack.T) and x.dtype.startswith("complex") for x in args):
        pytest.skip("the sample is not of real tensors")
    args, keywords = [made(x) for x in args], {name: made(x) for name, x in keywords.items()}
    if at < len(args):
        args[at] = 2 + 1j
    else:
        keywords[place[1]] = 2 + 1j
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = operator(*args, **keywords)
    except (RuntimeError, TypeError, NotImplementedError) as e:
        assert "internal error" not in str(e)
        return
    kept = [t for t in attack.tensors(result) if t.is_complex()]
    assert kept or isinstance(result, complex) or schema.name in TRUTHS, result
