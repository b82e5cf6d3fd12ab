"""Packs the direction numbers of Joe and Kuo: python pack.py new-joe-kuo-6.21201 directions.bin

The text has a line of titles and then, for each dimension from the second: d, s, a, m_1 ... m_s. Of each the packed form has five bits of
the degree s, the s-1 bits of a, and the k-1 bits of m_k above its last, which is one; the first bit of a byte is its highest."""
import sys


def bits(line):
    _, degree, a, *initial = map(int, line.split())
    yield format(degree, "05b")
    for width, number in [(degree - 1, a), *((k, m >> 1) for k, m in enumerate(initial))]:
        if width:
            yield format(number, f"0{width}b")


def pack(lines):
    text = "".join(piece for line in lines for piece in bits(line))
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


if __name__ == "__main__":
    with open(sys.argv[1]) as source, open(sys.argv[2], "wb") as packed:
        next(source)
        packed.write(pack(source))
