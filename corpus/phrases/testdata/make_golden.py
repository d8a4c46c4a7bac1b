"""Writes golden.json beside it: what gensim's Phrases makes of the first fifth of the text in the program.

    pip install gensim==4.4.0
    zstd -dc ../../../testdata/sotu.txt.zst > sotu.txt
    python make_golden.py sotu.txt

Lines are split at white space, and into sentences of 1,000 words; 400 are used. The texts with phrases
joined have a line for each sentence; golden.json has their SHA-256.
"""

import hashlib
import json
import pathlib
import sys

from gensim.models.phrases import ENGLISH_CONNECTOR_WORDS, Phrases

sentences = []
for line in open(sys.argv[1], encoding="utf-8"):
    words = line.split()
    sentences += [words[i : i + 1000] for i in range(0, len(words), 1000)]
sentences = sentences[:400]

cases = []
for scoring, threshold, common in (
    ("default", 2, sorted(ENGLISH_CONNECTOR_WORDS)),
    ("npmi", 0.5, []),
):
    text, passes = sentences, []
    for _ in range(2):
        p = Phrases(text, min_count=5, threshold=threshold, scoring=scoring, delimiter="_", connector_words=frozenset(common))
        found, joined = {}, []
        for s in text:
            tokens = list(p.analyze_sentence(s))
            joined.append([token for token, _ in tokens])
            found.update((token, score) for token, score in tokens if score is not None)
        text = joined
        best = sorted(found.items(), key=lambda x: (-x[1], x[0]))[:10]
        passes.append({
            "entries": len(p.vocab), "found": len(found), "best": [{"phrase": k, "score": v} for k, v in best],
            "sha256": hashlib.sha256("".join(" ".join(s) + "\n" for s in text).encode()).hexdigest(),
        })
    scorer = "gensim" if scoring == "default" else scoring
    cases.append({"scorer": scorer, "threshold": threshold, "common": common, "passes": passes})
pathlib.Path(__file__).with_name("golden.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
