"""Checks that other libraries read the vectors that w2vcl writes, and get the same values.

    python interop.py          checks those libraries that are installed
    python interop.py --all    a library that is missing is an error, unless it is LARGE

One run is trained and written in every format. Values must be equal to the bit, unless a check says how near.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import w2vcl

LARGE = {"sentence_transformers"}  # which needs torch, a download of 3 GB
CHECKS = []  # library, what it reads, function


def check(library, reads):
    """Adds a check. It takes the run and the folder of its files, and returns words and rows, or nothing."""
    return lambda function: CHECKS.append((library, reads, function)) or function


def main():
    demand, failed, checked = "--all" in sys.argv[1:], [], 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        run = w2vcl.train(sentences(), dim=12, contexts=32, subword="ngram", out=folder / "run", progress=False)
        for name in ("v.bin", "v.txt", "v.vec", "v.glove.txt", "v.npy", "v.safetensors", "vectors.tsv", "v.txt.gz", "v.parquet", "v.int8.safetensors", "v.floret"):
            run.save(folder / name)
        run.save(folder / "model", format="model2vec")
        for library, reads, function in CHECKS:
            if importlib.util.find_spec(library) is None:
                missed = demand and library not in LARGE
                print(f"{library:12} {reads}: not installed{', which is an error' if missed else ''}")
                failed += [library] if missed else []
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


@check("safetensors", ".int8.safetensors, to a thousandth")
def safetensors_int8(run, folder):
    import safetensors.numpy

    found = safetensors.numpy.load_file(folder / "v.int8.safetensors")
    assert found["words"].tobytes().decode().split("\n") == run.words and found["vectors"].dtype == np.int8
    rows = found["vectors"] * found["scales"][:, None]
    cosines = (rows * run.vectors).sum(axis=1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(run.vectors, axis=1)
    assert cosines.min() > 0.999, cosines.min()


@check("pyarrow", ".parquet")
def pyarrow_parquet(run, folder):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder / "v.parquet")
    return table["word"].to_pylist(), np.stack(table["vector"].to_numpy())


@check("duckdb", ".parquet")
def duckdb_parquet(run, folder):
    import duckdb

    rows = duckdb.sql(f"select word, vector from '{folder / 'v.parquet'}'").fetchall()
    return [word for word, _ in rows], [vector for _, vector in rows]


@check("model2vec", "the folder of --format model2vec")
def model2vec_folder(run, folder):
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(str(folder / "model"))
    first, second = run.words[0], run.words[3]
    mean = (run[first] + run[second]) / 2
    assert np.allclose(model.encode([f"  {first} {second} unheard-of"])[0], mean, atol=1e-6)
    return run.words, model.encode(run.words)


@check("sentence_transformers", "the folder of --format model2vec, as a StaticEmbedding")
def sentence_transformers_folder(run, folder):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder / "model"), device="cpu")
    assert type(model[0]).__name__ == "StaticEmbedding"
    first, second = run.words[0], run.words[3]
    text = f"{first} {second} unheard-of"  # which has a vector of zeros
    assert np.allclose(model.encode([text])[0], (run[first] + run[second]) / 3, atol=1e-6)
    return run.words, model.encode(run.words)


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


@check("spacy", ".floret, by spacy init vectors --mode floret, to a millionth")
def spacy_floret(run, folder):
    import spacy

    subprocess.run([sys.executable, "-m", "spacy", "init", "vectors", "xx", folder / "v.floret", folder / "floret", "--mode", "floret"],
                   check=True, capture_output=True)
    nlp = spacy.load(folder / "floret")
    differences = np.array([nlp.vocab.get_vector(word) for word in run.words]) - run.vectors
    # Of values, or of a vector that is longer than 1: spaCy adds up in float32, in an order of its own.
    assert (np.abs(differences).max(axis=1) / np.maximum(1, np.linalg.norm(run.vectors, axis=1))).max() <= 1e-6


@check("floret", ".floret, as the rows of a model, to a millionth")
def floret_table(run, folder):
    import floret

    with open(folder / "v.floret", encoding="utf-8") as lines:
        size, dim, shortest, longest, hashes = map(int, next(lines).split()[:5])
        rows = np.array([line.split()[1:] for line in lines], np.float32)
    text = folder / "other.txt"
    text.write_text("\x01 \x02\n" * 10, encoding="utf-8")  # words that are none of ours
    model = floret.train_unsupervised(str(text), mode="floret", hashCount=hashes, bucket=size, minn=shortest, maxn=longest, dim=dim,
                                      minCount=1, epoch=1, thread=1, verbose=0)
    model.set_matrices(np.concatenate([model.get_input_matrix()[:-size], rows]), model.get_output_matrix())
    differences = np.array([model.get_word_vector(word) for word in run.words]) - run.vectors
    assert np.abs(differences).max() <= 1e-6, np.abs(differences).max()


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
