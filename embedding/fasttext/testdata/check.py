"""Holds w2vcl's fastText models against fastText and gensim.

    pip install numpy gensim fasttext-wheel
    python check.py golden          # writes the golden model and vectors of the Go tests
    python check.py compare W2VCL   # W2VCL is the program; prints the largest differences

compare takes 1,000 seen and 1,000 unseen words in each case: models of fastText
(skip-gram and CBOW, negative sampling and hierarchical softmax) that w2vcl reads, and
runs of w2vcl that fastText and gensim read. It fails above 1e-6.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

here = pathlib.Path(__file__).parent
limit = 1e-6
strange = ["a", "of", "naïve", "日本", "日本語", "👍🏽", "<", "<a>", "Ünïcödé", "'", "don't"]


def text_of(path):
    """Writes a text: the one in the program, and some lines of strange words."""
    text = subprocess.run(["zstd", "-dcq", here / "../../../testdata/sotu.txt.zst"], capture_output=True, check=True).stdout
    with open(path, "wb") as f:
        f.write(text)
        f.write((" ".join(strange) + "\n").encode() * 20)


def unseen(words, count):
    """Words that are not among words: seen ones with letters changed."""
    draw = random.Random(1)
    seen, found = set(words), []
    letters = "abcdefghijklmnopqrstuvwxyzäßéжシ日👍'-<>"
    while len(found) < count:
        word = list(draw.choice(words))
        for _ in range(draw.randint(1, 3)):
            word.insert(draw.randint(0, len(word)), draw.choice(letters))
        word = "".join(word)
        if word not in seen:
            seen.add(word)
            found.append(word)
    return found


def vectors_of(w2vcl, source, words, folder):
    """The vectors that w2vcl gives words."""
    (folder / "list.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    subprocess.run(
        [w2vcl, "convert", source, folder / "out.npy", "--words", folder / "list.txt", "--force"],
        check=True, capture_output=True,
    )
    assert (folder / "out.words.txt").read_text(encoding="utf-8").split("\n")[:-1] == words
    return numpy.load(folder / "out.npy")


def compare(w2vcl, name, source, model, folder):
    """Compares the vectors of source in w2vcl with those of model in fastText and gensim."""
    import fasttext
    from gensim.models.fasttext import load_facebook_vectors

    peer, facebook = fasttext.load_model(str(model)), load_facebook_vectors(str(model))
    vocabulary = [w for w in peer.get_words(on_unicode_error="replace") if w != "</s>"]
    draw = random.Random(2)
    worst = 0.0
    for kind, words in ("seen", draw.sample(vocabulary, min(1000, len(vocabulary)))), ("unseen", unseen(vocabulary, 1000)):
        ours = vectors_of(w2vcl, source, words, folder)
        differences = [
            abs(ours - numpy.array([f(w) for w in words])).max()
            for f in (peer.get_word_vector, facebook.get_vector)
        ]
        print(f"{name:28} {len(words):5} {kind:7} fasttext {differences[0]:.1e}  gensim {differences[1]:.1e}  largest value {abs(ours).max():.2f}")
        worst = max(worst, *differences)
    subwords, rows = peer.get_subwords("economically")
    rebuilt = numpy.mean([peer.get_input_vector(r) for r in rows], axis=0)
    worst = max(worst, abs(rebuilt - peer.get_word_vector("economically")).max() - limit)
    return worst


def check(w2vcl):
    import fasttext

    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text_of(folder / "text.txt")
        for model in "skipgram", "cbow":
            for loss in "ns", "hs":
                path = folder / f"{model}-{loss}.bin"
                fasttext.train_unsupervised(
                    str(folder / "text.txt"), model=model, loss=loss, dim=50, epoch=2, bucket=20_000, thread=2, verbose=0,
                ).save_model(str(path))
                worst = max(worst, compare(w2vcl, f"fastText {model} {loss}", path, path, folder))
        for options in (
            ["--mode", "cl", "--iterations", "100"],
            ["--mode", "cl", "--iterations", "100", "--context-weight", "1"],
            ["--mode", "vanilla", "--epochs", "1", "--min-ngram", "2", "--max-ngram", "4"],
        ):
            run, path = folder / "run", folder / "run.bin"
            subprocess.run(
                [w2vcl, "train", "--corpus", folder / "text.txt", "--out", run, "--subword", "ngram", "--dim", "50",
                 "--buckets", "20000", "--force", *options], check=True, capture_output=True,
            )
            subprocess.run([w2vcl, "convert", run, path, "--format", "fasttext-bin", "--force"], check=True, capture_output=True)
            title = "w2vcl " + " ".join(o.strip("-") for o in options[1::2])
            worst = max(worst, compare(w2vcl, title, run, path, folder))
            worst = max(worst, compare(w2vcl, title + ", read", path, path, folder))
    print(f"largest difference {worst:.1e}, limit {limit:.0e}")
    sys.exit(int(worst > limit))


def golden():
    """A small model, and what fastText and gensim say of its words and of others."""
    import fasttext

    with tempfile.TemporaryDirectory() as name:
        text = pathlib.Path(name) / "text.txt"
        text.write_text((" ".join(strange) + " the cat and the dog\nthe end of the cat\n") * 10, encoding="utf-8")
        others = ["cats", "日", "", "</s>", "é", "a" * 40, "x<y>"]
        for model, loss, buckets, maxn in ("skipgram", "ns", 40, 6), ("cbow", "hs", 40, 3), ("skipgram", "hs", 0, 0):
            file = f"{model}-{loss}-{maxn}"
            m = fasttext.train_unsupervised(
                str(text), model=model, loss=loss, dim=3, epoch=1, bucket=buckets, minn=min(1, maxn), maxn=maxn, minCount=1,
                thread=10, verbose=0,  # fewer threads leave a part of the table zero
            )
            m.save_model(str(here / f"{file}.bin"))
            words = m.get_words()
            lines = []
            for word in words + others:
                subwords, rows = m.get_subwords(word) if word else ([], [])
                lines.append({
                    "word": word, "seen": word in words, "vector": [float(x) for x in m.get_word_vector(word)],
                    "rows": [int(r) for r in rows],
                })
            (here / f"{file}.json").write_text("[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in lines) + "\n]\n", encoding="utf-8")


if sys.argv[1:] == ["golden"]:
    golden()
elif len(sys.argv) == 3 and sys.argv[1] == "compare":
    check(sys.argv[2])
else:
    sys.exit(__doc__)
