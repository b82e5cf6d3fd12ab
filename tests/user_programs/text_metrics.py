"""Scores for text: edit distance with the list of operations, BLEU with clipped n-grams, word error rate by a formatted report."""

import math
from typing import Dict, List, Tuple

import torch


@torch.jit.script
def edit_operations(a: List[str], b: List[str]) -> Tuple[int, List[str]]:
    table: List[List[int]] = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        table[i][0] = i
    for j in range(len(b) + 1):
        table[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i][j] = min(min(table[i - 1][j] + 1, table[i][j - 1] + 1), table[i - 1][j - 1] + cost)
    operations: List[str] = []
    i, j = len(a), len(b)
    while i > 0 or j > 0:
        if i > 0 and j > 0 and a[i - 1] == b[j - 1] and table[i][j] == table[i - 1][j - 1]:
            i, j = i - 1, j - 1
        elif i > 0 and j > 0 and table[i][j] == table[i - 1][j - 1] + 1:
            operations.append(f"{a[i - 1]}>{b[j - 1]}")
            i -= 1
            j -= 1
        elif i > 0 and table[i][j] == table[i - 1][j] + 1:
            operations.append("-" + a[i - 1])
            i -= 1
        else:
            operations.append("+" + b[j - 1])
            j -= 1
    return table[-1][-1], operations[::-1]


@torch.jit.script
def ngrams(words: List[str], n: int) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for i in range(len(words) - n + 1):
        key = " ".join(words[i : i + n])
        counts[key] = counts.get(key, 0) + 1
    return counts


@torch.jit.script
def bleu(candidate: str, references: List[str], order: int = 4) -> float:
    words = candidate.split()
    refs = [r.split() for r in references]
    logs: List[float] = []
    for n in range(1, order + 1):
        mine = ngrams(words, n)
        clipped, total = 0, 0
        limits: Dict[str, int] = {}
        for r in refs:
            for k, v in ngrams(r, n).items():
                limits[k] = max(v, limits[k]) if k in limits else v
        for k, v in mine.items():
            total += v
            if k in limits:
                clipped += min(v, limits[k])
        if total == 0 or clipped == 0:
            return 0.0
        logs.append(math.log(clipped / total))
    closest = -1
    for r in refs:
        if closest < 0 or abs(len(r) - len(words)) < abs(closest - len(words)):
            closest = len(r)
    penalty = 1.0 if len(words) > closest else math.exp(1 - closest / len(words))
    return penalty * math.exp(sum(logs) / float(len(logs)))


@torch.jit.script
def report(pairs: List[Tuple[str, str]]) -> str:
    errors, words = 0, 0
    lines: List[str] = []
    for number, (said, heard) in enumerate(pairs):
        d, ops = edit_operations(said.split(" "), heard.split(" "))
        errors += d
        words += len(said.split(" "))
        lines.append("{}: {} {}".format(number, d, ",".join(ops) if len(ops) > 0 else "ok"))
    rate = 100.0 * errors / words
    lines.append("wer %d/%d = %s%%" % (errors, words, str(round(10 * rate) / 10)))
    return "\n".join(lines).upper()


def main():
    return [
        edit_operations(list("kitten"), list("sitting")),
        edit_operations([], ["a"]),
        round(bleu("the cat sat on the mat today", ["the cat sat on the mat", "a cat was on the mat today"]), 9),
        bleu("nothing", ["else here"]),
        report([("the quick brown fox", "the quick brow fox"), ("hello", "hello"), ("a b c", "b c d")]),
    ]
