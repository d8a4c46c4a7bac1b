"""Keywords, for type checkers. Made by go test ./cmd/w2vcl -run Keywords -update."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict, Union

Path = Union[str, "os.PathLike[str]"]


class Settings(TypedDict, total=False):
    """Flags of w2vcl plan."""

    activation: str | None  #: function applied to the values of a convolution (cnn): NAME is relu, tanh or none
    batch: int | None  #: N positive pairs in a minibatch; in mode parw2v words that share negatives; in mode cl words of an iteration, where 0 means 45,000, or fewer if the vocabulary or the text is small
    batch_size: int | None  #: another name of batch
    buckets: int | None  #: hash n-grams to N vectors (ngram); hash only the n-grams of a length that has more than N (cnn); vectors that no word needs take no memory
    bucket: int | None  #: another name of buckets
    budget: str | None  #: train for a BUDGET of time or work, in place of epochs and iterations: a time, building M included (60s, 10m), or a number of pairs (2e9pairs) or words (5e8words)
    cache: Path | None  #: keep the encoded text in the folder DIR, and reuse it while text and settings are the same (default: a large text has a file in the run folder until the run is finished)
    cbow: int | None  #: as in gensim
    char_dim: int | None  #: values E of a symbol's embedding (cnn, recurrent)
    checkpoint: str | int | None  #: how often to save what 'w2vcl resume' needs: WHEN is a time (10m, 90s; the first after a minute), a number of iterations, 0 to save only when interrupted, or keep: every 10m, and the last stays, for 'w2vcl resume iterations'
    combine_rule: str | None  #: how GPUs or ranks that share the text combine their changes of a row: NAME is touched (the mean over those that changed the row), adasum (the sum of what is orthogonal, the mean of what is parallel), mean (the mean over all, as published for BlazingText and pWord2Vec) or sum (the sum)
    compose: str | None  #: what is trained as the vector of a word of the text: NAME is sum (a vector of its own together with what subword composes) or spelling (what subword composes, alone)
    compute_loss: bool | int | None  #: as in gensim
    config: Path | None  #: read settings from a TOML FILE; flags win over it
    context_weight: float | None  #: vectors.bin has W + X times C: word vectors plus a part of the context vectors; 0 leaves only word vectors
    contexts: int | None  #: L iterations an epoch: M has about positives times L context samples for each word
    decay: str | None  #: how the learning rate falls: NAME is linear (down to lr_end), epochs (the same, but only after each epoch) or none
    device: str | None  #: where to train: NAME is cpu, cuda (modes cl, vanilla, word2vec, pword2vec, fullw2v, fullregister, parw2v), cuda:N for GPU number N, or cuda:N,M for 2, 4 or 8 of them (these modes except vanilla)
    size: int | None  #: dimensions N of a vector
    vector_size: int | None  #: another name of dim
    layer1_size: int | None  #: another name of dim
    directed: bool | int | None  #: edges of the graph lead from the first node to the second only
    dynamic_window: bool | int | None  #: draw each window's size from 1 to window, as word2vec does; =false fixes it (ppmi counts the mean of all draws)
    shrink_windows: bool | int | None  #: another name of dynamic_window
    epochs: int | None  #: train N epochs: passes over the text, or over M with model sg, where one is contexts iterations
    iter: int | None  #: another name of epochs
    epoch: int | None  #: another name of epochs
    field: str | None  #: take the text from field NAME of JSON lines, or from that column of CSV, TSV or parquet
    filters: str | float | Sequence[float] | None  #: filters N of each width, or a number for each, with commas (cnn)
    force: bool | int | None  #: replace the run folder at out, a matrix file that does not fit, and a graph at graph_dot
    freeze: str | None  #: keep what init has as it is, to the bit, while new words are trained (CPU): NAME is none, words (words and their contexts), parts (n-grams) or known (words, contexts and n-grams)
    gram: str | float | Sequence[float] | None  #: characters N of a symbol: 1 reads characters, more overlapping n-grams of them, 1-5 n-grams of each of these lengths (cnn)
    graph: Path | None  #: train on random walks over the graph at PATH in place of a text: two nodes a line; - is standard input
    graph_dot: Path | None  #: write the Gorgonia graph that is trained to FILE (Graphviz)
    hierarchical_softmax: bool | int | None  #: predict words by their paths in a Huffman tree, without negatives, on the CPU
    hs: bool | int | None  #: another name of hierarchical_softmax
    init: Path | None  #: go on from the model of PATH, a run folder, or from the vectors of a file: words, n-grams or network, and contexts. Words that the text lacks keep their vectors
    pretrained_vectors: Path | None  #: another name of init
    pretrainedVectors: Path | None  #: another name of init
    init_moments: bool | int | None  #: start from the optimizer's moments of init, which was trained with checkpoint keep (CPU)
    iterations: int | None  #: train N iterations; 0 means epochs; without these, models positional and cbow train 2,048 to 4,096, or 1,024 on a short text
    join_lines: bool | int | None  #: read the text as one stream, cut every max_sentence words: lines do not end sentences
    lowercase: bool | int | None  #: lower-case the text
    lr: float | None  #: learning rate X at the start (in mode cl the default follows from optimizer and dim)
    alpha: float | None  #: another name of lr
    learning_rate: float | None  #: another name of lr
    lr_end: float | None  #: learning rate X at the end of a decay
    min_alpha: float | None  #: another name of lr_end
    matrix: Path | None  #: keep the matrix M in FILE: a FILE that fits is reused, else M is built and written (default: memory only)
    max_chars: int | None  #: read at most N characters of a word (cnn, recurrent)
    max_memory: str | None  #: refuse a run that needs more than SIZE: 4GB, 500MB, or 75% of the machine (default what is available)
    max_ngram: int | None  #: characters N of the longest n-grams (ngram)
    maxn: int | None  #: another name of max_ngram
    max_n: int | None  #: another name of max_ngram
    max_sentence: int | None  #: cut lines longer than N words
    max_vocab: int | None  #: keep the N most frequent words; 0 keeps all that min_count leaves
    max_vocab_size: int | None  #: another name of max_vocab
    max_final_vocab: int | None  #: another name of max_vocab
    min_count: int | None  #: remove words that occur fewer than N times
    minCount: int | None  #: another name of min_count
    min_ngram: int | None  #: characters N of the shortest n-grams (ngram)
    minn: int | None  #: another name of min_ngram
    min_n: int | None  #: another name of min_ngram
    model: str | None  #: what a word is predicted from: NAME is positional (the mean of the words around it, weighted by position), cbow (the plain mean of the words around it) or sg (one of them, sampled from the matrix M: as in the W2V-CL paper)
    negative: int | None  #: negatives K for each positive pair
    neg: int | None  #: another name of negative
    noise: str | None  #: where negatives come from: NAME is matrix (how often a word was found as a context) or counts (how often in the corpus)
    noise_exponent: float | None  #: draw negatives by the counts of noise to the power X, with 0 all words alike; in mode ppmi, raise the counts of contexts to that power (the default follows from noise and mode)
    ns_exponent: float | None  #: another name of noise_exponent
    optimizer: str | None  #: how gradients change the tables: NAME is adam (two moments a value), adam-row (one second moment per word), rmsprop (one moment a value, of squares), adagrad (by the sum of squares so far) or sgd (plain gradient descent)
    p: float | None  #: return parameter P of node2vec: a small P often makes walks go straight back
    positives: float | None  #: context samples N of a word in an iteration, on average over the words (default 5 with iterations; else it follows from the text and contexts: as many as it takes to use each context of the text about 16 times, up to a limit that falls with dim)
    precision: str | None  #: how a GPU stores its tables: NAME is float32, half (16 bits, see docs/cuda.md) or half-tables (16 bits for both tables of fullw2v and pword2vec)
    preset: str | None  #: where the defaults come from, see docs/papers.md: NAME is tuned (the best recipe known), paper (the paper of the mode), w2vcl (W2V-CL and its baseline), fullw2v (FULL-W2V and the codes it is compared with), pword2vec (pWord2Vec), blazingtext (BlazingText, in mode word2vec), parw2v (PAR-Word2Vec, with uniform negatives), word2vec (word2vec.c's defaults, with skip-gram), glove (GloVe) or vanilla-long (a baseline tuned as long as cl, at ten times the pairs of vanilla's default)
    q: float | None  #: in-out parameter Q of node2vec: a small Q makes walks lead far away
    sample: float | None  #: subsample words more frequent than T; 0 keeps all; -1, the default of mode cl without model sg, means 1,600 occurrences in the text (cbow: 800)
    subsample: float | None  #: another name of sample
    t: float | None  #: another name of sample
    seed: int | None  #: N from which all randomness comes
    sg: int | None  #: as in gensim
    shared_negatives: int | None  #: all words share N negatives in each step, which weigh as much as negative for each sample; with model sg, 0 draws each word's own
    shift: float | None  #: subtract the logarithm of K from associations, as if a pair had K negatives (mode ppmi)
    shuffle: bool | int | None  #: shuffle the rows of M; =false leaves contexts in the order of the text, as they are found
    standardize: bool | int | None  #: give features mean 0 and variance 1 over the vocabulary; =false leaves them as they are (cnn, recurrent)
    subword: str | None  #: compose word vectors from spelling, also those of words that the text lacks: NAME is none, ngram (character n-grams, hashed as in fastText), cnn (convolutions over characters) or recurrent (a recurrent network over characters)
    subword_lr: float | None  #: learning rate of the encoder: X times lr (default depends on the mode and on subword)
    sync: int | None  #: GPUs or ranks that share the text combine their tables every N words of the text, and at the end of an epoch (default: GPUs 128 times in a run, or 16 times if they exchange data by NCCL, ranks without GPUs 4 times an epoch; all at least every 16 million words, but GPUs not before 16 words for each of a vocabulary above a million)
    tempering: float | None  #: give words samples in proportion to the power X of their contexts in the text; 0 gives every word the same number
    threads: int | None  #: use N threads; 0 uses every processor. The sentence-ordered modes, from word2vec to parw2v, repeat a result only with one thread; the results of other modes do not depend on N
    workers: int | None  #: another name of threads
    thread: int | None  #: another name of threads
    together: bool | int | None  #: update both tables at once, each against the old rows of the other, in place of two steps (on the CPU); in mode fullw2v, where it is the default, all pairs of a window at once, in place of one after the other as published
    tokenizer: Path | None  #: how a line is split: NAME is whitespace (text that is tokenized already) or words (raw text: runs of letters, digits and apostrophes)
    unseen: str | None  #: where the vectors of words that the text lacks come from: NAME is encoder (what subword composes; without an encoder there are none) or regress (n-grams fitted to the trained vectors by ridge regression; the run folder has them beside the encoder)
    vocab: Path | None  #: take words and counts from FILE, in word2vec's form; if FILE does not exist, write the text's words and counts to it
    read_vocab: Path | None  #: another name of vocab
    save_vocab: Path | None  #: another name of vocab
    walk_length: int | None  #: N nodes in a walk
    walks: int | None  #: N walks from each node of the graph
    num_walks: int | None  #: another name of walks
    weight_decay: float | None  #: decoupled weight decay X
    weighted: bool | int | None  #: the third column of the graph holds weights of the edges
    widths: str | float | Sequence[float] | None  #: how many symbols filters span: a LIST with commas (cnn)
    window: int | None  #: words N on either side of the centre word (fullw2v, fullregister: half of it, rounded up, is the radius W_f)
    ws: int | None  #: another name of window
    x_max: float | None  #: counts from X on weigh 1, smaller ones less (mode glove)


class Training(Settings, total=False):
    """Flags of w2vcl train."""

    data: Path | None  #: DIR with the sets for scores, or one file (default: the sets that come with w2vcl)
    scores: int | None  #: score the vectors N times during training, at equal steps; 'w2vcl metrics' has the scores, too


class Resumption(TypedDict, total=False):
    """Flags of w2vcl resume."""

    budget: str | None  #: train for a BUDGET in all, at the learning rates of such a run from here on
    cache: Path | None  #: keep the encoded text in the folder DIR, and reuse it while text and settings are the same (default: a large text has a file in the run folder until the run is finished)
    checkpoint: str | int | None  #: how often to save what 'w2vcl resume' needs: WHEN is a time (10m, 90s; the first after a minute), a number of iterations, 0 to save only when interrupted, or keep: every 10m, and the last stays, for 'w2vcl resume iterations'
    context_weight: float | None  #: vectors.bin has W + X times C: word vectors plus a part of the context vectors; 0 leaves only word vectors
    data: Path | None  #: DIR with the sets for scores, or one file (default: the sets that come with w2vcl)
    device: str | None  #: where to train: NAME is cpu, cuda (modes cl, vanilla, word2vec, pword2vec, fullw2v, fullregister, parw2v), cuda:N for GPU number N, or cuda:N,M for 2, 4 or 8 of them (these modes except vanilla)
    epochs: int | None  #: train N epochs in all, at the learning rates of a run of N from here on
    iter: int | None  #: another name of epochs
    epoch: int | None  #: another name of epochs
    force: bool | int | None  #: replace a matrix file that does not fit
    graph: Path | None  #: the graph is now at PATH
    iterations: int | None  #: train N iterations in all, at the learning rates of a run of N from here on
    lr: float | None  #: learning rate X at the start of a decay: lower it after training diverged
    alpha: float | None  #: another name of lr
    learning_rate: float | None  #: another name of lr
    lr_end: float | None  #: learning rate X at the end of a linear decay
    min_alpha: float | None  #: another name of lr_end
    matrix: Path | None  #: keep the matrix M in FILE: a FILE that fits is reused, else M is built and written (default: memory only)
    max_memory: str | None  #: refuse a run that needs more than SIZE: 4GB, 500MB, or 75% of the machine (default what is available)
    precision: str | None  #: how a GPU stores its tables: NAME is float32, half (16 bits, see docs/cuda.md) or half-tables (16 bits for both tables of fullw2v and pword2vec)
    scores: int | None  #: score the vectors N times during training, at equal steps; 'w2vcl metrics' has the scores, too
    threads: int | None  #: use N threads; 0 uses every processor. The sentence-ordered modes, from word2vec to parw2v, repeat a result only with one thread; the results of other modes do not depend on N
    workers: int | None  #: another name of threads
    thread: int | None  #: another name of threads
    unseen: str | None  #: where the vectors of words that the text lacks come from: NAME is encoder (what subword composes; without an encoder there are none) or regress (n-grams fitted to the trained vectors by ridge regression; the run folder has them beside the encoder)
    vocab: Path | None  #: take words and counts from FILE, in word2vec's form; if FILE does not exist, write the text's words and counts to it
    read_vocab: Path | None  #: another name of vocab
    save_vocab: Path | None  #: another name of vocab


class Evaluation(TypedDict, total=False):
    """Flags of w2vcl eval."""

    against: Path | None  #: compare with the vectors of DIR|VECTORS: differences, with intervals and p-values by bootstrap
    all: bool | int | None  #: show all metrics, the main ones first
    folds: int | None  #: nodes: also cross-validate with N folds of pairs of node and label, as PAR-Word2Vec does; 0 does not
    graph: Path | None  #: links: leave the edges of the graph in FILE, which were trained on, out of the ranking
    ratios: str | float | Sequence[float] | None  #: nodes: FRACTIONS of the nodes to learn from
    repeats: int | None  #: nodes: N random splits for each fraction
    restrict_vocab: int | None  #: use only the N most frequent words; 0 uses all
    sections: bool | int | None  #: show every section of an analogy set
    seed: int | None  #: nodes and links: N from which the splits come
    task: str | None  #: only the task NAME: similarity, analogy, categorization, classification, nodes, links (default: the first three)


class Conversion(TypedDict, total=False):
    """Flags of w2vcl convert."""

    force: bool | int | None  #: replace OUT if it is a file of vectors
    format: str | None  #: write NAME whatever OUT is called: text (.txt), binary (.bin), vec (.vec), glove (.glove), npy (.npy), safetensors (.safetensors), projector (.tsv), fasttext-bin (.fasttext)


class Variants(TypedDict, total=False):
    """Flags of w2vcl compare."""

    batch: int | Sequence[int] | None  #: N positive pairs in a minibatch; in mode parw2v words that share negatives; in mode cl words of an iteration, where 0 means 45,000, or fewer if the vocabulary or the text is small
    batch_size: int | Sequence[int] | None  #: another name of batch
    budget: str | None  #: train each run for this long: BUDGET is 60s, 2e9pairs, 5e8words, epochs=N, iterations=N or recipe (default: see equal)
    cache: Path | Sequence[Path] | None  #: keep the encoded text in the folder DIR, and reuse it while text and settings are the same (default: a large text has a file in the run folder until the run is finished)
    cbow: int | None  #: as in gensim
    classify: bool | int | None  #: also score the finished runs on classes of sentences; takes minutes for each run
    compute_loss: bool | int | None  #: as in gensim
    config: Path | None  #: read variants and settings from a TOML FILE, or take the experiment of that name; flags win over it
    contexts: int | Sequence[int] | None  #: L iterations an epoch: M has about positives times L context samples for each word
    data: Path | None  #: DIR of evaluation sets, or one file (default: the sets that come with w2vcl); with graph the file of the nodes' labels
    device: str | Sequence[str] | None  #: where to train: NAME is cpu, cuda (modes cl, vanilla, word2vec, pword2vec, fullw2v, fullregister, parw2v), cuda:N for GPU number N, or cuda:N,M for 2, 4 or 8 of them (these modes except vanilla)
    dim: int | Sequence[int] | None  #: dimensions N of a vector
    size: int | Sequence[int] | None  #: another name of dim
    vector_size: int | Sequence[int] | None  #: another name of dim
    layer1_size: int | Sequence[int] | None  #: another name of dim
    directed: bool | int | Sequence[bool | int] | None  #: edges of the graph lead from the first node to the second only
    dynamic_window: bool | int | Sequence[bool | int] | None  #: draw each window's size from 1 to window, as word2vec does; =false fixes it (ppmi counts the mean of all draws)
    shrink_windows: bool | int | Sequence[bool | int] | None  #: another name of dynamic_window
    equal: str | None  #: without budget, what all runs have as much of as the first run: NAME is seconds, pairs or epochs
    external: Path | None  #: score vectors of another program beside ours: FILE is NAME=VECTORS,seconds=S,epochs=N,memory=SIZE, of which only NAME=VECTORS is required; a repeated NAME is another seed
    graph: Path | Sequence[Path] | None  #: train on random walks over the graph at PATH in place of a text: two nodes a line; - is standard input
    join_lines: bool | int | Sequence[bool | int] | None  #: read the text as one stream, cut every max_sentence words: lines do not end sentences
    lowercase: bool | int | Sequence[bool | int] | None  #: lower-case the text
    max_memory: str | Sequence[str] | None  #: refuse a run that needs more than SIZE: 4GB, 500MB, or 75% of the machine (default what is available)
    max_sentence: int | Sequence[int] | None  #: cut lines longer than N words
    max_vocab: int | Sequence[int] | None  #: keep the N most frequent words; 0 keeps all that min_count leaves
    max_vocab_size: int | Sequence[int] | None  #: another name of max_vocab
    max_final_vocab: int | Sequence[int] | None  #: another name of max_vocab
    min_count: int | Sequence[int] | None  #: remove words that occur fewer than N times
    minCount: int | Sequence[int] | None  #: another name of min_count
    model: str | Sequence[str] | None  #: what a word is predicted from: NAME is positional (the mean of the words around it, weighted by position), cbow (the plain mean of the words around it) or sg (one of them, sampled from the matrix M: as in the W2V-CL paper)
    negative: int | Sequence[int] | None  #: negatives K for each positive pair
    neg: int | Sequence[int] | None  #: another name of negative
    p: float | Sequence[float] | None  #: return parameter P of node2vec: a small P often makes walks go straight back
    points: int | None  #: score each run N times during training
    precision: str | Sequence[str] | None  #: how a GPU stores its tables: NAME is float32, half (16 bits, see docs/cuda.md) or half-tables (16 bits for both tables of fullw2v and pword2vec)
    preset: str | Sequence[str] | None  #: where the defaults come from, see docs/papers.md: NAME is tuned (the best recipe known), paper (the paper of the mode), w2vcl (W2V-CL and its baseline), fullw2v (FULL-W2V and the codes it is compared with), pword2vec (pWord2Vec), blazingtext (BlazingText, in mode word2vec), parw2v (PAR-Word2Vec, with uniform negatives), word2vec (word2vec.c's defaults, with skip-gram), glove (GloVe) or vanilla-long (a baseline tuned as long as cl, at ten times the pairs of vanilla's default)
    q: float | Sequence[float] | None  #: in-out parameter Q of node2vec: a small Q makes walks lead far away
    quick: bool | int | None  #: a short version, to check that everything works: one seed, one second of training, scored once, unless config or other flags say otherwise
    sample: float | Sequence[float] | None  #: subsample words more frequent than T; 0 keeps all; -1, the default of mode cl without model sg, means 1,600 occurrences in the text (cbow: 800)
    subsample: float | Sequence[float] | None  #: another name of sample
    t: float | Sequence[float] | None  #: another name of sample
    seed: int | Sequence[int] | None  #: N from which all randomness comes
    seeds: int | None  #: N runs of each variant, with seeds from seed on
    sg: int | None  #: as in gensim
    subword: str | Sequence[str] | None  #: compose word vectors from spelling, also those of words that the text lacks: NAME is none, ngram (character n-grams, hashed as in fastText), cnn (convolutions over characters) or recurrent (a recurrent network over characters)
    threads: int | Sequence[int] | None  #: use N threads; 0 uses every processor. The sentence-ordered modes, from word2vec to parw2v, repeat a result only with one thread; the results of other modes do not depend on N
    workers: int | Sequence[int] | None  #: another name of threads
    thread: int | Sequence[int] | None  #: another name of threads
    tokenizer: Path | Sequence[Path] | None  #: how a line is split: NAME is whitespace (text that is tokenized already) or words (raw text: runs of letters, digits and apostrophes)
    vocab: Path | Sequence[Path] | None  #: take words and counts from FILE, in word2vec's form; if FILE does not exist, write the text's words and counts to it
    read_vocab: Path | Sequence[Path] | None  #: another name of vocab
    save_vocab: Path | Sequence[Path] | None  #: another name of vocab
    walk_length: int | Sequence[int] | None  #: N nodes in a walk
    walks: int | Sequence[int] | None  #: N walks from each node of the graph
    num_walks: int | Sequence[int] | None  #: another name of walks
    weighted: bool | int | Sequence[bool | int] | None  #: the third column of the graph holds weights of the edges
    window: int | Sequence[int] | None  #: words N on either side of the centre word (fullw2v, fullregister: half of it, rounded up, is the radius W_f)
    ws: int | Sequence[int] | None  #: another name of window
