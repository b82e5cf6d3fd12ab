"""What the workers of nets.py and steps.py measure of a call."""

import resource
import time


def times(call, seconds, least):
    """Nanoseconds of processor time of calls, made for some seconds, at least so many."""
    found, begin = [], time.perf_counter()
    while time.perf_counter() - begin < seconds or len(found) < least:
        start = time.process_time_ns()
        call()
        found.append(time.process_time_ns() - start)
    return found


def answer(question, f, x, numbers, allocated=lambda: 0):
    """To "result": the first numbers of f(x), a list. "time": nanoseconds of processor time of some calls. "faults": the page faults of a call, and what it
    adds to allocated(), bytes."""
    if question == "result":
        return numbers(f(x))
    if question == "time":
        return times(lambda: f(x), 0.5, 4)
    calls = 8
    before, bytes_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, allocated()
    for _ in range(calls):
        f(x)
    return [(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls, (allocated() - bytes_before) / calls]
