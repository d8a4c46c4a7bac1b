"""Reads the WordNet 3.0 database (files index.*, data.*, index.sense, *.exc).

The formats are those of WordNet's manual pages wndb(5WN), senseidx(5WN) and
morphy(7WN). Only what derive.py needs is kept: synsets, their pointers, the
senses of each word in order of frequency, how often each sense was tagged, and
irregular inflections.
"""

import collections
import functools
import math
import re
from typing import NamedTuple

POS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SENSE_TYPE = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}  # 5: satellite adjective


class Pointer(NamedTuple):
    symbol: str  # "@" hypernym, "@i" instance of, "!" antonym, "\\" pertainym, "+" derivation, "#p" part of
    target: tuple  # (pos, offset)
    source_word: int  # number of the word in this synset, from 1; 0: the whole synset
    target_word: int


class Synset(NamedTuple):
    words: list  # as written, without syntactic markers such as "(a)"
    pointers: list
    gloss: str


class WordNet:
    """synsets: (pos, offset) → Synset; senses: (pos, lemma) → keys, most frequent first."""

    def __init__(self, read):
        """read(name) gives the text of one file of the database."""
        self.synsets = {}
        self.senses = {}
        self.tagged = collections.Counter()  # (pos, lemma, key) → occurrences in the sense-tagged texts
        self.irregular = {}  # pos → {inflected form: [lemma, …]}
        for pos, name in POS.items():
            for line in _entries(read("data." + name)):
                key, synset = _synset(pos, line)
                self.synsets[key] = synset
            for line in _entries(read("index." + name)):
                fields = line.split()
                offsets = fields[-int(fields[2]):]
                self.senses[pos, fields[0]] = [(pos, offset) for offset in offsets]
            self.irregular[pos] = {
                fields[0]: fields[1:] for fields in map(str.split, read(name + ".exc").splitlines())
            }
        for line in read("index.sense").splitlines():
            sense, offset, _, count = line.split()
            lemma, _, rest = sense.partition("%")
            pos = SENSE_TYPE[rest[0]]
            self.tagged[pos, lemma, (pos, offset)] += int(count)
        self._information = None

    def share(self, pos, lemma):
        """How much of the tagged uses of lemma are of this part of speech, 0 to 1."""
        uses = {p: sum(self.tagged[p, lemma, key] for key in self.senses.get((p, lemma), ())) for p in POS}
        return uses[pos] / sum(uses.values()) if any(uses.values()) else 0.0

    def first_sense_share(self, pos, lemma):
        """How much of the tagged uses of lemma in this part of speech are of its first sense."""
        counts = [self.tagged[pos, lemma, key] for key in self.senses.get((pos, lemma), ())]
        return counts[0] / sum(counts) if any(counts) else 0.0

    def targets(self, key, symbol):
        """(word of this synset, word of the target synset, its key) for each pointer between words."""
        synset = self.synsets[key]
        for p in synset.pointers:
            if p.symbol == symbol and p.source_word and p.target_word:
                yield synset.words[p.source_word - 1], self.synsets[p.target].words[p.target_word - 1], p.target

    @functools.lru_cache(maxsize=None)
    def ancestors(self, key):
        """The synset and all above it, by hypernym and instance pointers."""
        found = {key}
        for p in self.synsets[key].pointers:
            if p.symbol in ("@", "@i"):
                found |= self.ancestors(p.target)
        return frozenset(found)

    def information(self, key):
        """Resnik's information content of a noun synset from the tag counts, 0.1 added to each sense."""
        if self._information is None:
            mass = collections.Counter()
            for (pos, _, sense), count in self.tagged.items():
                if pos == "n":
                    for above in self.ancestors(sense):
                        mass[above] += count + 0.1
            top = max(mass.values())
            self._information = {k: -math.log(m / top) for k, m in mass.items()}
        return self._information.get(key, 0.0)

    def lin(self, a, b):
        """Lin's similarity of two noun synsets: 2·IC(lowest common ancestor) / (IC(a) + IC(b))."""
        shared = max((self.information(k) for k in self.ancestors(a) & self.ancestors(b)), default=0.0)
        total = self.information(a) + self.information(b)
        return 2 * shared / total if shared > 0 else 0.0


def _entries(text):
    """The lines of a database file without its licence header, whose lines begin with a blank."""
    return (line for line in text.splitlines() if line and not line.startswith(" "))


def _synset(pos, line):
    body, _, gloss = line.partition("|")
    fields = body.split()
    count = int(fields[3], 16)
    words = [re.sub(r"\(.*\)$", "", fields[4 + 2 * i]) for i in range(count)]
    at = 4 + 2 * count
    pointers = []
    for i in range(int(fields[at])):
        symbol, offset, target_pos, ends = fields[at + 1 + 4 * i : at + 5 + 4 * i]
        target_pos = "a" if target_pos == "s" else target_pos
        pointers.append(Pointer(symbol, (target_pos, offset), int(ends[:2], 16), int(ends[2:], 16)))
    return (pos, fields[0]), Synset(words, pointers, gloss.strip())
