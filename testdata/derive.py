"""Derives evaluation sets for word vectors from WordNet, for words of one text.

README.md describes the method in prose; this file is the method. All choices
are by rule and by count: no pair was picked or dropped by hand, and no word
vectors took part.
"""

import collections
import hashlib
import itertools
import re

PAIRS = 25  # word pairs a section of the analogy set at most; each ordered couple of pairs is a question
MIN_PAIRS = 6  # a section with fewer is left out
VOWELS = "aeiou"


def tokens(text):
    """Lower-case runs of letters and digits with apostrophes inside, as w2vcl's `words` tokenizer."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("\u2019", "'"))


# ---------------------------------------------------------------- similarity

BANDS = 5  # of equal width over Lin's similarity, 0 to 1
BAND_PAIRS = 100
SIMILARITY_MIN_COUNT = 50
MOST_PAIRS_OF_A_WORD = 5


def similarity(wn, counts):
    """Noun pairs with a score of 0 to 10 (ten times Lin's similarity of the first senses).

    The bands make all grades equally frequent: of pairs drawn blindly nearly
    all would be unrelated. Within a band the order is that of a hash.
    """
    nouns = {w: wn.senses["n", w][0] for w in sorted(counts) if _clear_noun(wn, counts, w)}
    scored = []
    for a, b in itertools.combinations(nouns, 2):
        if a[:4] != b[:4]:  # spelling must not give the answer away
            scored.append((wn.lin(nouns[a], nouns[b]), a, b))
    scored.sort(key=lambda s: hashlib.sha256(f"{s[1]} {s[2]}".encode()).digest())
    chosen, used, filled = [], collections.Counter(), collections.Counter()
    for score, a, b in scored:
        band = min(int(score * BANDS), BANDS - 1)
        if filled[band] < BAND_PAIRS and max(used[a], used[b]) < MOST_PAIRS_OF_A_WORD:
            chosen.append((a, b, 10 * score))
            filled[band] += 1
            used.update((a, b))
    return sorted(chosen, key=lambda p: (-p[2], p[:2]))


def _clear_noun(wn, counts, word):
    """Frequent, mostly a noun, mostly in its first sense, and not a form of another word."""
    return (
        counts[word] >= SIMILARITY_MIN_COUNT
        and len(word) > 2
        and ("n", word) in wn.senses
        and wn.share("n", word) >= 0.75
        and wn.first_sense_share("n", word) >= 0.5
        and not any(word in wn.irregular[pos] for pos in "nv")
        and not (word.endswith("s") and ("n", word[:-1]) in wn.senses)
    )


# ---------------------------------------------------------------- analogies


def analogies(wn, counts, min_count):
    """Sections of word pairs: name → [(a, b), …], the most frequent pairs first."""
    sections = {}
    for name, candidates in (
        ("capital-country", _capitals(wn, counts)),
        ("country-nationality", _nationalities(wn, counts)),
        ("male-female", _genders(wn)),
        ("singular-plural", _inflected(wn, "n", _plurals)),
        ("verb-past", _inflected(wn, "v", _pasts)),
        ("verb-participle", _inflected(wn, "v", _participles)),
        ("verb-third-person", _inflected(wn, "v", _third_persons)),
        ("adjective-comparative", _graded(wn, "er")),
        ("adjective-superlative", _graded(wn, "est")),
        ("adjective-adverb", _adverbs(wn)),
        ("adjective-opposite", _opposites(wn)),
        ("noun-adjective", _relational_adjectives(wn)),
        ("verb-noun", _deverbal_nouns(wn)),
    ):
        pairs = _most_frequent(candidates, counts, min_count)
        if len(pairs) >= MIN_PAIRS:
            sections[name] = pairs
    return sections


def questions(sections):
    """The sections as text in the format of word2vec's questions-words.txt."""
    for name, pairs in sections.items():
        yield f": {name}"
        for first, second in itertools.permutations(pairs, 2):
            yield " ".join(first + second)


def _most_frequent(candidates, counts, min_count):
    """At most PAIRS pairs by falling count of the rarer word; a word appears in one pair only."""
    pairs = {(a, b) for a, b in candidates if a != b and min(counts[a], counts[b]) >= min_count}
    chosen, used = [], set()
    for a, b in sorted(pairs, key=lambda p: (-min(counts[p[0]], counts[p[1]]), p)):
        if len(chosen) < PAIRS and not used & {a, b}:
            chosen.append((a, b))
            used |= {a, b}
    return chosen


def _name(synset, counts):
    """Of the synset's names that are one plain word the text's most frequent, lower-cased; or \"\"."""
    names = [w.lower() for w in synset.words if re.fullmatch("[A-Za-z]+", w)]
    return max(names, key=lambda w: counts[w], default="")


def _synset(wn, lemma, gloss):
    """The noun synset of lemma whose gloss holds the given words."""
    return next(k for k in wn.senses["n", lemma] if gloss in wn.synsets[k].gloss)


def _countries(wn):
    country = _synset(wn, "country", "territory occupied by a nation")
    return {k for k in wn.synsets if k[0] == "n" and country in wn.ancestors(k) and k != country}


def _capitals(wn, counts):
    capital = _synset(wn, "national_capital", "capital city of a nation")
    countries = _countries(wn)
    for key, synset in wn.synsets.items():
        if key[0] == "n" and capital in wn.ancestors(key):
            for p in synset.pointers:
                if p.symbol == "#p" and p.target in countries:
                    yield _name(synset, counts), _name(wn.synsets[p.target], counts)


def _nationalities(wn, counts):
    """The adjective that WordNet ties to a country; of several, the text's most frequent."""
    best = {}
    countries = _countries(wn)
    for key in wn.synsets:
        if key[0] == "a":
            for adjective, country, target in wn.targets(key, "\\"):
                if target in countries:
                    known = best.get(country.lower(), "")
                    best[country.lower()] = max(known, adjective.lower(), key=lambda w: counts[w])
    return best.items()


def _genders(wn):
    """Antonyms that name persons, where the first is explained as male and the second as female."""
    person = _synset(wn, "person", "a human being")
    singular = []
    for key in wn.synsets:
        if key[0] == "n" and person in wn.ancestors(key):
            for a, b, target in wn.targets(key, "!"):
                if person in wn.ancestors(target) and _gender(wn, key) == "m" and _gender(wn, target) == "f":
                    singular.append((a.lower(), b.lower()))
    yield from singular
    for a, b in singular:
        for pair in itertools.product(_plurals(wn, a), _plurals(wn, b)):
            yield pair


def _gender(wn, key):
    """'m' or 'f' by the first word of that kind in the gloss."""
    found = re.search(r"\b(?:(male|man|boy|masculine)|(female|woman|girl|feminine))\b", wn.synsets[key].gloss)
    return None if not found else "m" if found[1] else "f"


def _inflected(wn, pos, forms):
    """(lemma, form) for lemmas that are nearly always of this part of speech and no form of another word."""
    for p, lemma in wn.senses:
        if p == pos and len(lemma) > 1 and lemma.isalpha() and wn.share(pos, lemma) >= 0.9 and lemma not in wn.irregular[pos]:
            for form in forms(wn, lemma):
                yield lemma, form


def _irregular_forms(wn, pos, lemma):
    table = wn.irregular[pos]
    return [form for form, lemmas in table.items() if lemma in lemmas]


def _plurals(wn, noun):
    return _irregular_forms(wn, "n", noun) or [_add_s(noun)]


def _third_persons(wn, verb):
    return [_add_s(verb)]


def _pasts(wn, verb):
    """The past where it is also the past participle (made, called), so that the pair means one thing."""
    irregular = [f for f in _irregular_forms(wn, "v", verb) if not f.endswith("ing")]
    return (irregular if len(irregular) == 1 else []) if irregular else [_add_ed(verb, "ed")]


def _participles(wn, verb):
    irregular = [f for f in _irregular_forms(wn, "v", verb) if f.endswith("ing")]
    return irregular or [verb[:-1] + "ing" if verb.endswith("e") and verb[-2:] not in ("ee", "ye") else verb + "ing"]


def _graded(wn, ending):
    """Comparatives (er) or superlatives (est) of adjectives."""
    for pos, adjective in wn.senses:
        if pos == "a" and adjective.isalpha() and wn.share("a", adjective) >= 0.5:
            irregular = [f for f in _irregular_forms(wn, "a", adjective) if f.endswith(ending)]
            yield from ((adjective, f) for f in irregular or [_add_ed(adjective, ending)])


def _adverbs(wn):
    for key in wn.synsets:
        if key[0] == "r":
            for adverb, adjective, target in wn.targets(key, "\\"):
                if target[0] == "a" and adverb.lower().endswith("ly"):
                    yield adjective.lower(), adverb.lower()


def _opposites(wn):
    """Antonyms made with a prefix: possible, impossible."""
    for key in wn.synsets:
        if key[0] == "a":
            for a, b, _ in wn.targets(key, "!"):
                if re.fullmatch("(?:un|in|im|il|ir|dis|non)" + re.escape(a.lower()), b.lower()):
                    yield a.lower(), b.lower()


def _relational_adjectives(wn):
    """Adjectives in -al, -ic, -ary or -ous that pertain to a noun: nation, national."""
    for key in wn.synsets:
        if key[0] == "a":
            for adjective, noun, target in wn.targets(key, "\\"):
                a, n = adjective.lower(), noun.lower()
                if target[0] == "n" and adjective.islower() and noun.islower() and a[:3] == n[:3]:
                    if re.search("(?:al|ic|ary|ous)$", a):
                        yield n, a


def _deverbal_nouns(wn):
    """Nouns in -ment, -tion, -sion or -ance derived from a verb: govern, government."""
    for key in wn.synsets:
        if key[0] == "v":
            for verb, noun, target in wn.targets(key, "+"):
                v, n = verb.lower(), noun.lower()
                if target[0] == "n" and v[:3] == n[:3] and re.search("(?:ment|[ts]ion|ance)$", n):
                    if wn.share("v", v) >= 0.5:
                        yield v, n


def _add_s(word):
    if re.search("(?:s|x|z|ch|sh)$", word):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _add_ed(word, ending):
    """The regular past (ed), comparative (er) or superlative (est)."""
    if word.endswith("e"):
        return word + ending[1:]
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "i" + ending
    return word + ending
