"""Draws docs/demo-map.svg: nouns of the demo's text, near to each other where their vectors are.

    w2vcl demo --out runs/demo
    notebooks/.venv/bin/python docs/demo_map.py runs/demo docs/demo-map.svg   # make notebooks makes the .venv

The words are the nouns of testdata/eval/similarity/wordnet-nouns.txt that have another one near them. t-SNE (van der
Maaten and Hinton 2008) lays them out, k-means on the map colours them. There is no random number in it.
"""

import pathlib
import sys

import numpy as np
import w2vcl

HERE = pathlib.Path(__file__).resolve().parent

WIDTH, HEIGHT, MARGIN = 1200, 720, 28
NEAR = 0.5  # cosine of a word and the nearest other one, at least
GROUPS = 9
SIZES = (19, 11)  # of letters, of the most and the least frequent word

# Colours of the groups on a light and on a dark ground, of about the same lightness each.
LIGHT = ["#1f6fb4", "#b3471b", "#2a7d3f", "#9a3b8a", "#80691b", "#c02f4a", "#0f7a80", "#5f55b8", "#5b6470"]
DARK = ["#74b3f0", "#f0955f", "#74c98a", "#dd8fd0", "#d3b752", "#f5869a", "#58c7cd", "#a9a1f2", "#a9b4c0"]


def nouns():
    """The nouns of the similarity set, each once."""
    lines = (HERE.parent / "testdata/eval/similarity/wordnet-nouns.txt").read_text(encoding="utf-8").splitlines()
    return {word for line in lines if line and not line.startswith("#") for word in line.split("\t")[:2]}


def squares(points):
    """Squared distances between all points: (n, n)."""
    norms = (points**2).sum(axis=1)
    distances = norms[:, None] + norms[None, :] - 2 * points @ points.T
    np.fill_diagonal(distances, 0)
    return np.maximum(distances, 0)


def neighbours(distances, perplexity):
    """t-SNE's probabilities: a Gaussian around each point, as wide as gives the perplexity."""
    n = len(distances)
    p = np.zeros((n, n))
    for i in range(n):
        row = np.delete(distances[i], i)
        low, high = 1e-3, 1e6
        for _ in range(60):
            precision = np.sqrt(low * high)
            weights = np.exp(-(row - row.min()) * precision)
            weights /= weights.sum()
            entropy = -(weights * np.log(weights + 1e-300)).sum()
            low, high = (precision, high) if entropy > np.log(perplexity) else (low, precision)
        p[i] = np.insert(weights, i, 0)
    return (p + p.T) / (2 * n)


def tsne(vectors, perplexity=8, steps=1500):
    """Places in the plane: (n, 2). Begins with the two principal components."""
    p = neighbours(squares(vectors), perplexity)
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places = centred @ directions[:2].T
    places *= 1e-2 / places.std()
    speed = np.zeros_like(places)
    for step in range(steps):
        kernel = 1 / (1 + squares(places))
        np.fill_diagonal(kernel, 0)
        force = ((8 if step < 300 else 1) * p - kernel / kernel.sum()) * kernel
        gradient = 4 * (force.sum(axis=1)[:, None] * places - force @ places)
        speed = (0.5 if step < 300 else 0.8) * speed - 60 * gradient
        places = places + speed
    return places


def groups(places):
    """k-means; each centre begins at the place farthest from those before."""
    centres = places[[squares(places).sum(axis=1).argmax()]]
    while len(centres) < GROUPS:
        centres = np.vstack([centres, places[apart(places, centres).min(axis=1).argmax()]])
    for _ in range(100):
        of = apart(places, centres).argmin(axis=1)
        centres = np.array([places[of == g].mean(axis=0) for g in range(GROUPS)])
    return of


def apart(places, centres):
    """Squared distances: (n, GROUPS)."""
    return ((places[:, None] - centres[None, :]) ** 2).sum(axis=2)


def labels(words, places, sizes):
    """Where the letters of each word go, near its place: {index: (x, y)}. Words without room are left out."""
    taken, kept = [], {}
    steps = [(r * np.cos(a), r * np.sin(a)) for r in range(0, 34, 3) for a in np.arange(0, 6.28, 6.28 / max(1, r))]
    for i, (word, (x, y), size) in enumerate(zip(words, places, sizes)):
        half, height = 0.3 * size * len(word) + 2, 0.6 * size
        for dx, dy in steps:
            cx = min(max(x + dx, MARGIN + half), WIDTH - MARGIN - half)
            cy = min(max(y + dy, MARGIN + height), HEIGHT - MARGIN - height)
            if all(abs(cx - u) > half + w or abs(cy - v) > height + h for u, v, w, h in taken):
                taken.append((cx, cy, half, height))
                kept[i] = cx, cy
                break
    return kept


def draw(words, places):
    of = groups(places)
    low, high = places.min(axis=0), places.max(axis=0)
    places = MARGIN + (places - low) / (high - low) * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)
    sizes = np.linspace(*SIZES, len(words))
    light, dark = ("".join(f".g{g}{{fill:{c}}}" for g, c in enumerate(colours)) for colours in (LIGHT, DARK))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Nouns of the State of the Union addresses, placed by their vectors</title>",
        "<style>text{font-family:Helvetica,Arial,sans-serif;text-anchor:middle;dominant-baseline:central}"
        f".ground{{fill:#fbfbf9;stroke:#d9d9d2}}{light}"
        f"@media(prefers-color-scheme:dark){{.ground{{fill:#14171c;stroke:#30363d}}{dark}}}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10"/>',
    ]
    for i, (x, y) in labels(words, places, sizes).items():
        out.append(f'<text class="g{of[i]}" x="{x:.0f}" y="{y:.0f}" font-size="{sizes[i]:.0f}">{words[i]}</text>')
    return "\n".join([*out, "</svg>", ""])


def main(run, out):
    table = w2vcl.load(run).frame(unit=True)
    table = table[table.index.isin(nouns())]  # by falling count
    cosines = table.to_numpy() @ table.to_numpy().T
    np.fill_diagonal(cosines, -1)
    table = table[cosines.max(axis=1) >= NEAR]
    pathlib.Path(out).write_text(draw(list(table.index), tsne(table.to_numpy(dtype=float))), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: demo_map.py RUN OUT.svg")
    main(*sys.argv[1:])
