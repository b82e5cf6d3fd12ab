"""Prefix beam search for connectionist temporal classification, with a bigram model in a dictionary."""

import math
from typing import Dict, List, Tuple

import torch
from torch import Tensor

NEGATIVE = -1e30


@torch.jit.script
def add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    if b <= -1e29:
        return a
    return a + math.log1p(math.exp(b - a))


@torch.jit.script
class Scores:
    def __init__(self, blank: float, label: float):
        self.blank = blank
        self.label = label

    def total(self) -> float:
        return add(self.blank, self.label)

    def __lt__(self, other: "Scores") -> bool:
        return self.total() < other.total()


def prefix_search(logits: Tensor, alphabet: str, bigrams: Dict[str, float], beam: int, weight: float = 0.3) -> List[Tuple[str, float]]:
    probabilities = logits.log_softmax(-1)
    prefixes: Dict[str, Scores] = {"": Scores(0.0, -1e30)}
    for t in range(probabilities.size(0)):
        following: Dict[str, Scores] = {}
        row: List[float] = probabilities[t].tolist()
        for prefix, scores in prefixes.items():
            for k, p in enumerate(row):
                if k == 0:
                    entry = following[prefix] if prefix in following else Scores(-1e30, -1e30)
                    entry.blank = add(entry.blank, scores.total() + p)
                    following[prefix] = entry
                    continue
                c = alphabet[k]
                repeated = prefix.endswith(c)
                if repeated:
                    same = following[prefix] if prefix in following else Scores(-1e30, -1e30)
                    same.label = add(same.label, scores.label + p)
                    following[prefix] = same
                bigram = prefix[-1:] + c
                bonus = bigrams[bigram] * weight if bigram in bigrams else 0.0
                start = scores.blank if repeated else scores.total()
                longer = prefix + c
                entry = following[longer] if longer in following else Scores(-1e30, -1e30)
                entry.label = add(entry.label, start + p + bonus)
                following[longer] = entry
        ranked: List[Tuple[float, str]] = []
        for prefix, scores in following.items():
            ranked.append((scores.total(), prefix))
        ranked.sort(reverse=True)
        prefixes = torch.jit.annotate(Dict[str, Scores], {})
        for total, prefix in ranked[:beam]:
            prefixes[prefix] = following[prefix]
    return [(prefix, scores.total()) for prefix, scores in prefixes.items()]


@torch.jit.script
def greedy(logits: Tensor, alphabet: str) -> str:
    best = torch.unique_consecutive(logits.argmax(-1))
    out = ""
    for i in best:
        k = int(i)
        if k != 0:
            out = out + alphabet[k]
    return out


def main():
    search = torch.jit.script(prefix_search)
    alphabet = "-abc"
    t = torch.arange(32, dtype=torch.float64).view(8, 4)
    logits = torch.sin(t * t) * 3
    found = search(logits, alphabet, {"ab": 1.0, "bc": 0.5, "aa": -2.0}, 4)
    plain = search(logits, alphabet, {}, 2, 0.0)
    return [[(p, round(s, 6)) for p, s in found], [(p, round(s, 6)) for p, s in plain], greedy(logits, alphabet)]
