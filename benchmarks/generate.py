"""Writes a random text or graph of any size; needs NumPy.

    generate.py --bytes 10e9 --out large.txt
    generate.py --nodes 1000000 --edges 5000000 --blocks 50 --labels labels.txt --out graph.txt

Words follow the law of Zipf and Mandelbrot, p(rank) ~ (rank+3)^-1.45, without an end: the vocabulary grows as in
enwiki.txt, to about 2.4·n^0.7 words in n. A line has 1 to 39 words.

Without --blocks a graph is an R-MAT graph with the parameters of Graph500 (Chakrabarti et al., "R-MAT: A Recursive Model
for Graph Mining", SDM 2004). With --blocks it is a degree-corrected block model (Karrer and Newman, Physical Review E 83,
2011): the block of node v is v mod blocks, a fifth of the edges leads to another block, and the expected degree of the node
with rank r in its block is in proportion to 1/sqrt(r). No edge leads from a node to itself; an edge may occur more than once.
"""

import argparse

import numpy as np

AT_ONCE = 1 << 20  # words or edges
SYLLABLES = [c + v for v in "aeiou" for c in "bcdfghjklmnpqrstvwxz"]


def name(word):
    """Two syllables or more, so that frequent words are short, and an n behind every other name."""
    odd, word = word % 2, word // 2 + 100
    syllables = [SYLLABLES[word % 100]]
    word //= 100
    while word > 0:
        word -= 1
        syllables.append(SYLLABLES[word % 100])
        word //= 100
    return "".join(syllables) + "n" * odd


def write_text(out, size, random):
    written = 0
    while written < size:
        ranks = 3 * ((1 - random.random(AT_ONCE)) ** (-1 / 0.45) - 1)
        words = [name(word) for word in np.fmod(ranks, 2.0**48).astype(np.int64).tolist()]
        ends = np.cumsum(random.integers(1, 40, AT_ONCE // 20)).tolist()
        for first, end in zip([0, *ends], ends):
            if written < size and end <= AT_ONCE:
                written += out.write(" ".join(words[first:end]) + "\n")


def recursive_edges(nodes, random):
    ends = np.zeros((2, AT_ONCE), np.int64)
    for _ in range((nodes - 1).bit_length()):
        quadrant = np.searchsorted([0.57, 0.76, 0.95], random.random(AT_ONCE), side="right")
        ends = 2 * ends + [quadrant // 2, quadrant % 2]
    return ends[:, (ends < nodes).all(axis=0)]


def block_edges(nodes, blocks, random):
    block = random.integers(0, blocks, AT_ONCE)
    moved = (block + random.integers(1, blocks, AT_ONCE)) % blocks
    of = np.stack([block, np.where(random.random(AT_ONCE) < 0.2, moved, block)])
    sizes = (nodes - of + blocks - 1) // blocks
    return of + blocks * (sizes * random.random(of.shape) ** 2).astype(np.int64)  # u² has the density 1/(2·sqrt(x))


def write_graph(out, nodes, edges, blocks, random):
    while edges > 0:
        ends = block_edges(nodes, blocks, random) if blocks else recursive_edges(nodes, random)
        ends = ends[:, ends[0] != ends[1]][:, :edges]
        np.savetxt(out, ends.T, fmt="%d")
        edges -= ends.shape[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=float, default=1e9, help="size of the text")
    parser.add_argument("--nodes", type=int, help="write a graph of so many nodes")
    parser.add_argument("--edges", type=int, help="default 5 for each node")
    parser.add_argument("--blocks", type=int, help="blocks of nodes, 2 or more; without them R-MAT")
    parser.add_argument("--labels", help="write the block of each node to this file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    o = parser.parse_args()
    random = np.random.default_rng(o.seed)
    with open(o.out, "w", encoding="ascii") as out:
        if o.nodes:
            write_graph(out, o.nodes, o.edges or 5 * o.nodes, o.blocks, random)
        else:
            write_text(out, o.bytes, random)
    if o.labels:
        with open(o.labels, "w", encoding="ascii") as labels:
            labels.writelines(f"{v} {v % o.blocks}\n" for v in range(o.nodes))


if __name__ == "__main__":
    main()
