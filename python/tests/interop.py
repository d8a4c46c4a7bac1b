"""Checks that other libraries read the vectors that w2vcl writes, and get the same values.

    python interop.py          checks those libraries that are installed
    python interop.py --all    a library that is missing is an error

One run is trained and written in every format. Values must be equal to the bit, unless a check says how near.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import w2vcl

CHECKS = []  # library, what it reads, function


def check(library, reads):
    """Adds a check. It takes the run and the folder of its files, and returns words and rows, or nothing."""
    return lambda function: CHECKS.append((library, reads, function)) or function


def main():
    demand, failed, checked = "--all" in sys.argv[1:], [], 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        run = w2vcl.train(sentences(), dim=12, model="sg", contexts=32, subword="ngram", out=folder / "run", progress=False)
        for name in ("v.bin", "v.txt", "v.vec", "v.glove.txt", "v.npy", "v.safetensors", "vectors.tsv", "v.txt.gz"):
            run.save(folder / name)
        for library, reads, function in CHECKS:
            if importlib.util.find_spec(library) is None:
                print(f"{library:12} {reads}: not installed{', which is an error' if demand else ''}")
                failed += [library] if demand else []
                continue
            answer = function(run, folder)
            if answer is not None:
                words, rows = answer
                assert list(words) == run.words, f"{library}, {reads}: other words"
                rows = np.asarray(rows)
                assert np.array_equal(rows.astype(np.float32), run.vectors), f"{library}, {reads}: other values"
            checked += 1
            print(f"{library:12} {reads}: the same")
    print(f"{checked} checks passed")
    sys.exit(f"missing: {', '.join(sorted(set(failed)))}" if failed else 0)


def sentences():
    """Words of many alphabets, with marks that formats might trip over."""
    words = ["cat", "naïve", "Straße", "слово", "言葉", "don't", '"quoted"', "null", "NaN", "3.14", "#tag", "a,b", "😀"]
    draw = np.random.default_rng(1)
    return [list(draw.choice(words, 8)) for _ in range(400)]


@check("numpy", ".npy, and the words beside it")
def numpy_file(run, folder):
    words = (folder / "v.words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return words, np.load(folder / "v.npy")


@check("numpy", "GloVe text")
def numpy_text(run, folder):
    lines = (folder / "v.glove.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return [line.split(" ")[0] for line in lines], np.array([line.split(" ")[1:] for line in lines], np.float32)


@check("gensim", "word2vec's binary format")
def gensim_binary(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(folder / "v.bin"), binary=True)
    return found.index_to_key, found.vectors


@check("gensim", "vectors.bin of a run folder")
def gensim_run(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(run.path / "vectors.bin"), binary=True)
    return found.index_to_key, found.vectors


@check("gensim", "word2vec's text format")
def gensim_text(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(folder / "v.txt"), binary=False)
    return found.index_to_key, found.vectors


@check("gensim", "word2vec's text format, with .gz")
def gensim_compressed(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(folder / "v.txt.gz"), binary=False)
    return found.index_to_key, found.vectors


@check("gensim", "fastText's .vec")
def gensim_vec(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(folder / "v.vec"), binary=False)
    return found.index_to_key, found.vectors


@check("gensim", "GloVe text, without a header")
def gensim_glove(run, folder):
    from gensim.models import KeyedVectors

    found = KeyedVectors.load_word2vec_format(str(folder / "v.glove.txt"), binary=False, no_header=True)
    return found.index_to_key, found.vectors


@check("gensim", "the array of run.keyed_vectors")
def gensim_keyed(run, folder):
    assert run.keyed_vectors.vectors is run.vectors
    return run.keyed_vectors.index_to_key, [run.keyed_vectors[word] for word in run.words]


@check("gensim", "and back: .kv and .model, by the advice of docs/guide.md")
def gensim_back(run, folder):
    from gensim.models import KeyedVectors, Word2Vec

    run.keyed_vectors.save(str(folder / "own.kv"))
    model = Word2Vec(sentences=[["a", "b", "c"]] * 20, vector_size=8, min_count=1, workers=1, seed=1)
    model.save(str(folder / "own.model"))
    try:
        w2vcl.load(folder / "own.model").words
        raise AssertionError("a pickle was read")
    except w2vcl.Error as error:
        assert "save_word2vec_format" in str(error)
    Word2Vec.load(str(folder / "own.model")).wv.save_word2vec_format(str(folder / "model.bin"), binary=True)
    theirs = w2vcl.load(folder / "model.bin")
    assert np.array_equal(theirs.vector(["a", "b", "c"]), model.wv[["a", "b", "c"]])
    KeyedVectors.load(str(folder / "own.kv")).save_word2vec_format(str(folder / "kv.bin"), binary=True)
    back = w2vcl.load(folder / "kv.bin")
    return back.words, back.vectors


@check("pandas", "word2vec's text format")
def pandas_text(run, folder):
    import csv

    import pandas

    table = pandas.read_csv(folder / "v.txt", sep=" ", skiprows=1, header=None, index_col=0, quoting=csv.QUOTE_NONE,
                            keep_default_na=False, dtype={0: str})
    return table.index, table.to_numpy(np.float32)


@check("pandas", "run.frame()")
def pandas_frame(run, folder):
    table = run.frame()
    return table.index, table.to_numpy()


@check("safetensors", ".safetensors")
def safetensors_file(run, folder):
    import safetensors.numpy

    found = safetensors.numpy.load_file(folder / "v.safetensors")
    return found["words"].tobytes().decode().split("\n"), found["vectors"]


@check("fasttext", ".vec, as pretrainedVectors")
def fasttext_vec(run, folder):
    import fasttext

    text = folder / "labelled.txt"
    text.write_text("".join(f"__label__{i % 2} {word}\n" for i, word in enumerate(run.words)), encoding="utf-8")
    model = fasttext.train_supervised(str(text), dim=12, pretrainedVectors=str(folder / "v.vec"), lr=0.0, epoch=1,
                                      thread=1, verbose=0)
    return run.words, [model.get_word_vector(word) for word in run.words]


@check("spacy", "word2vec's text format, by spacy init vectors")
def spacy_vectors(run, folder):
    import spacy

    subprocess.run([sys.executable, "-m", "spacy", "init", "vectors", "xx", folder / "v.txt", folder / "spacy"],
                   check=True, capture_output=True)
    nlp = spacy.load(folder / "spacy")
    return run.words, [nlp.vocab.get_vector(word) for word in run.words]


@check("spacy", "the array of run.vectors")
def spacy_array(run, folder):
    from spacy.vectors import Vectors
    from spacy.vocab import Vocab

    vocab = Vocab()
    vocab.vectors = Vectors(strings=vocab.strings, data=run.vectors, keys=run.words)
    return run.words, [vocab.get_vector(word) for word in run.words]


@check("tensorboard", "the projector's vectors.tsv and metadata.tsv")
def tensorboard_projector(run, folder):
    from tensorboard.plugins.projector import projector_plugin

    words = (folder / "metadata.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    return words, projector_plugin._read_tensor_tsv_file(str(folder / "vectors.tsv"))


@check("tensorboard", "events that w2vcl metrics writes")
def tensorboard_events(run, folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    w2vcl.command("metrics", run.path, "--format", "tensorboard", "--out", folder / "board")
    events = EventAccumulator(str(folder / "board")).Reload()
    losses = [np.float32(event.value) for event in events.Scalars("loss")]
    lines = [line.split(",") for line in w2vcl.command("metrics", run.path).splitlines()]
    assert losses == [np.float32(line[lines[0].index("loss")]) for line in lines[1:]]


@check("datasets", "the array of run.vectors")
def datasets_array(run, folder):
    import datasets

    datasets.disable_progress_bars()
    table = datasets.Dataset.from_dict({"word": run.words, "vector": run.vectors})
    table.save_to_disk(folder / "dataset")
    table = datasets.load_from_disk(folder / "dataset")
    return table["word"][:], table.with_format("numpy")["vector"][:]


@check("datasets", "the projector's vectors.tsv")
def datasets_tsv(run, folder):
    import datasets

    table = datasets.load_dataset("csv", data_files=str(folder / "vectors.tsv"), delimiter="\t", split="train",
                                  column_names=[str(i) for i in range(12)], cache_dir=str(folder / "cache"))
    return run.words, table.to_pandas().to_numpy(np.float32)


if __name__ == "__main__":
    main()
