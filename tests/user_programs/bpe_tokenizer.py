"""Byte-pair encoding as a scripted module with dictionaries: merges by rank, unknown words, decoding."""

from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn


class Tokenizer(nn.Module):
    ranks: Dict[str, int]
    ids: Dict[str, int]
    pieces: Dict[int, str]
    cache: Dict[str, List[str]]

    def __init__(self, merges: List[Tuple[str, str]]):
        super().__init__()
        self.ranks = {a + " " + b: i for i, (a, b) in enumerate(merges)}
        letters = sorted(set("".join(a + b for a, b in merges)))
        pieces = letters + [a + b for a, b in merges]
        self.ids = {p: i for i, p in enumerate(pieces)}
        self.pieces = {i: p for i, p in enumerate(pieces)}
        self.cache = {}

    def pair(self, word: List[str]) -> Optional[Tuple[int, str]]:
        best: Optional[Tuple[int, str]] = None
        for i in range(len(word) - 1):
            key = word[i] + " " + word[i + 1]
            if key in self.ranks:
                rank = self.ranks[key]
                if best is None:
                    best = (rank, key)
                elif rank < best[0]:
                    best = (rank, key)
        return best

    def bpe(self, text: str) -> List[str]:
        if text in self.cache:
            return self.cache[text]
        word = [c for c in text]
        while True:
            found = self.pair(word)
            if found is None:
                break
            assert found is not None
            first, second = found[1].split(" ")[0], found[1].split(" ")[1]
            merged: List[str] = []
            i = 0
            while i < len(word):
                if i + 1 < len(word) and word[i] == first and word[i + 1] == second:
                    merged.append(first + second)
                    i += 2
                else:
                    merged.append(word[i])
                    i += 1
            word = merged
        self.cache[text] = word
        return word

    def normalize(self, text: str) -> str:
        out = ""
        for c in text.lower().strip():
            out += c if c.isalpha() or c == " " else " "
        return out

    def forward(self, text: str) -> Tuple[List[int], List[str]]:
        ids: List[int] = []
        unknown: List[str] = []
        for word in self.normalize(text).split():
            for piece in self.bpe(word + "_"):
                index = self.ids.get(piece, -1)
                if index < 0:
                    unknown.append(piece)
                else:
                    ids.append(index)
        return ids, unknown

    @torch.jit.export
    def decode(self, ids: List[int]) -> str:
        return "".join([self.pieces[i] for i in ids]).replace("_", " ").rstrip()

    @torch.jit.export
    def statistics(self) -> Dict[str, float]:
        lengths = [float(len(v)) for v in self.cache.values()]
        return {"words": float(len(lengths)), "pieces": sum(lengths), "longest": max(lengths) if len(lengths) > 0 else 0.0}


def main():
    merges = [("t", "h"), ("th", "e"), ("the", "_"), ("l", "o"), ("lo", "w"), ("e", "r"), ("er", "_"), ("n", "e"), ("ne", "w"), ("e", "s"), ("es", "t"), ("est", "_"), ("w", "i"), ("d", "_")]
    tokenizer = torch.jit.script(Tokenizer(merges))
    texts = ["The lower, the NEWEST!", "  wider low lowest ", "zebra the", ""]
    out = [tokenizer(t) for t in texts]
    back = [tokenizer.decode(ids) for ids, _ in out]
    return [out, back, tokenizer.statistics()]
