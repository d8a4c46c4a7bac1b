"""Makes searches.tsv, kept.tsv's lines of budgets and lengths.tsv from what search.py wrote.   python3 summary.py FOLDER"""

import csv
import os
import statistics
import sys

folder = sys.argv[1]


def rows(name):
    return list(csv.reader(open(os.path.join(folder, name)), delimiter="\t"))


def figure(x, digits=4):
    return ("%.*f" % (digits, x)).replace("0.", ".", 1).replace("-", "−")


def searches():
    lines = [r for r in rows("search.tsv") if r[0] != "mode"]
    lines = [(r + [""] * 5)[:12] + [float(r[12]) if len(r) == 13 else -1.0] for r in lines]  # -1: diverged
    out = [["mode", "epochs", "runs", "search: recipe", "search: best run", "settings of the best run", "kept back: recipe",
            "kept back: best run", "5 epochs: recipe", "5 epochs: best run"]]
    for mode in dict.fromkeys(r[0] for r in lines):
        mine = [r for r in lines if r[0] == mode]
        tried = [r for r in mine if r[1] == "search"]
        recipe = [r[12] for r in tried if r[4] == "recipe"]
        if not recipe:
            continue
        best = max(tried, key=lambda r: r[12])
        epochs = tried[0][2]

        def held(role, e):
            found = [r[12] for r in mine if r[1] == role and r[2] == e and r[5] == "held"]
            return figure(statistics.mean(found)) + ("" if len(found) == 2 else " (%d seed)" % len(found)) if found else ""

        out.append([mode, epochs if epochs != "-" else "", str(len(tried)), figure(recipe[0]), figure(best[12]), best[4], held("recipe", epochs),
                    held("chosen", epochs), *([held("recipe", "5"), held("chosen", "5")] if epochs not in ("-", "5") else ["", ""])])
    return out


def lengths():
    out = [["model, device", "pairs, 10 MB", "pairs, 100 MB", "median seconds, 10 MB", "median seconds, 100 MB", "difference",
            "least seconds, 10 MB", "least seconds, 100 MB", "difference, fastest run"]]
    lines = [r for r in rows("cost.tsv") if len(r) >= 10 and r[0] != "model"]
    names = {"cbow": "CBOW", "sg": "skip-gram", "cuda": "GPU", "cpu": "16 threads"}
    for model, device in dict.fromkeys((r[0], r[1]) for r in lines):
        mine = [[r for r in lines if r[:3] == [model, device, t]] for t in ("10 MB", "100 MB")]
        row = ["%s, %s" % (names[model], names.get(device, device))] + ["%.4g M" % (statistics.mean(float(r[5]) for r in m) / 1e6) for m in mine]
        for of in (statistics.median, min):
            a, b = (of(float(r[7]) for r in m) for m in mine)
            row += [figure(a, 3), figure(b, 3), ("%+.1f%%" % (100 * (b / a - 1))).replace("-", "−")]
        out.append(row)
    return out


def kept():
    groups = {}
    for r in rows("budgets.tsv"):
        if len(r) >= 6 and r[0] != "mode":
            groups.setdefault((r[1], r[2]), []).append((r[0], r[4], r[5]))
    out = [["device", "budget", "modes", "used of it", "not kept within 3%"]]
    for (device, budget), found in groups.items():
        ok = [float(u) for _, u, _ in found if u != "-" and abs(float(u) - 1) <= 0.03]
        bad = ["%s %s" % (m, u if u != "-" else why) for m, u, why in found if u == "-" or abs(float(u) - 1) > 0.03]
        out.append([device, budget, str(len(ok)), "%s to %s" % (figure(min(ok), 4), figure(max(ok), 4)) if ok else "", "; ".join(bad)])
    return out


for name, table in {"searches": searches, "lengths": lengths, "kept": kept}.items():
    if os.path.exists(os.path.join(folder, {"searches": "search.tsv", "lengths": "cost.tsv", "kept": "budgets.tsv"}[name])):
        print("==", name)
        print("\n".join("\t".join(r) for r in table()))
