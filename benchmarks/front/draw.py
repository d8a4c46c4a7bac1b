#!/usr/bin/env python3
"""Draws quality against seconds: front.svg, from the lines of front.tsv and two-threads.tsv.

    python3 draw.py
"""

import csv
import math
from pathlib import Path

HERE = Path(__file__).parent
FAMILIES = [  # name, colour, and what a setting has and has not
    ("cl --model cbow", "#1f5fbf", [], ["--mode ", "--model ", "--subword none", "fasttext", "word2vec.c", "gensim"]),
    ("cl --subword none", "#7fb2e5", ["--subword none"], ["--mode "]),
    ("cl --model sg", "#888888", ["--model sg"], ["--mode ", "ngram"]),
    ("word2vec cbow, n-grams", "#d9730d", ["--mode word2vec", "ngram"], []),
    ("word2vec cbow", "#e8b07a", ["--mode word2vec"], ["ngram"]),
    ("pword2vec", "#3a8f4d", ["--mode pword2vec"], []),
    ("fastText cbow", "#b5273a", ["fasttext cbow"], []),
    ("word2vec.c cbow", "#7b3fa0", ["word2vec.c"], []),
    ("gensim cbow", "#111111", ["gensim"], []),
]
PANELS = [("2 threads of a CPU", ["2 threads"], 4, 190), ("16 threads of a CPU", ["16 threads", "12 threads"], 4, 400), ("a GPU (H200)", ["H200"], 0.6, 4)]
WIDTH, HEIGHT, LOW, HIGH = 270, 300, 0.50, 0.63
LEFT, TOP, GAP = 50, 34, 24


def points():
    """Yields the device, setting, seconds and mean of every run."""
    for name, device in [("two-threads.tsv", "2 threads"), ("front.tsv", None)]:
        with open(HERE / name, encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                yield device or row["device"], row["setting"], float(row["seconds"]), float(row["mean"])


def family(setting):
    for i, (_, _, has, lacks) in enumerate(FAMILIES):
        if all(x in setting for x in has) and not any(x in setting for x in lacks):
            return i
    return None


def text(x, y, words, anchor="middle", size=12, colour="#333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{words}</text>'


def panel(left, title, devices, low, high, runs):
    """Returns the elements of a panel: grid, and a line for each family and dimension."""
    def across(seconds):
        return left + WIDTH * math.log(seconds / low) / math.log(high / low)

    def down(score):
        return TOP + HEIGHT * (HIGH - score) / (HIGH - LOW)

    yield text(left + WIDTH / 2, TOP - 14, title, size=14)
    yield f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>'
    for hundredths in range(50, 63, 2):
        y = down(hundredths / 100)
        yield f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>'
        if left == LEFT:
            yield text(left - 6, y + 4, f".{hundredths}", "end")
    for seconds in [0.7, 1, 2, 3, 5, 10, 20, 50, 100, 200]:
        if low <= seconds <= high:
            yield text(across(seconds), TOP + HEIGHT + 16, f"{seconds:g} s")
    for i, (_, colour, _, _) in enumerate(FAMILIES):
        for dim in [100, 300]:
            line = sorted((s, m) for d, setting, s, m in runs if d in devices and family(setting) == i and ("dim 300" in setting) == (dim == 300))
            at = [(across(s), down(max(m, LOW))) for s, m in line]
            if len(at) > 1:
                yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            fill = colour if dim == 100 else "#fff"
            for x, y in at:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def main():
    runs, body = list(points()), []
    for i, (title, devices, low, high) in enumerate(PANELS):
        body += panel(LEFT + i * (WIDTH + GAP), title, devices, low, high, runs)
    x, y = LEFT, TOP + HEIGHT + 42
    for name, colour, _, _ in FAMILIES:
        width = 30 + 7 * len(name)
        if x + width > LEFT + 3 * WIDTH + 2 * GAP:
            x, y = LEFT, y + 20
        body += [f'<circle cx="{x + 6}" cy="{y - 4}" r="4" fill="{colour}"/>', text(x + 16, y, name, "start")]
        x += width
    body.append(text(LEFT, y + 22, "Mean of five evaluation sets against seconds of the whole process. Filled: dimension 100; open: 300.", "start", colour="#666"))
    width, height = LEFT + 3 * WIDTH + 2 * GAP + 16, y + 34
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">'
    (HERE / "front.svg").write_text("\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *body, "</svg>"]) + "\n", encoding="utf-8")


main()
