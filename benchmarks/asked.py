"""What the workers of nets.py answer of a call."""

import resource
import time


def answer(question, f, x, numbers, allocated=lambda: 0):
    """To "result": the first numbers of f(x), a list. "time": nanoseconds of processor time of some calls. "faults": the page faults of a call, and what it
    adds to allocated(), bytes."""
    if question == "result":
        return numbers(f(x))
    if question == "time":
        found, begin = [], time.perf_counter()
        while time.perf_counter() - begin < 0.5 or len(found) < 4:
            start = time.process_time_ns()
            f(x)
            found.append(time.process_time_ns() - start)
        return found
    calls = 8
    before, bytes_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, allocated()
    for _ in range(calls):
        f(x)
    return [(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls, (allocated() - bytes_before) / calls]
