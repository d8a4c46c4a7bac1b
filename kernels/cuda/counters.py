#!/usr/bin/env python3
"""Count what the GPU kernels of all modes do, with NVIDIA's Nsight Compute (ncu).

    kernels/cuda/counters.py [--w2vcl bin/w2vcl] [--corpus wiki.txt] --out counted [--runs cl,parw2v] [--peer NAME=COMMAND]
    kernels/cuda/counters.py --from counted/counters.txt [--out counted]

It trains a little with every mode under ncu and prints for each kernel, of its longest launch, what tables 4 to 6 of the
FULL-W2V paper have: throughput, demand for memory and issue slots. A launch is longer than in training, because ncu empties
the caches before it. --peer counts the kernels of another program as well. --out gets counters.txt (what ncu wrote),
kernels.csv, roofline-l2.svg and roofline-memory.svg. --from needs no GPU.
"""
import argparse
import csv
import math
import os
import shlex
import subprocess
import sys
import tempfile

# Sentence-ordered modes have one kernel: many epochs make a launch train a large part of the text, and two launches are
# counted. The launches of vanilla are small, so it has little text.
RUNS = {
    "fullw2v": ("--mode fullw2v --epochs 100", 2),
    "fullw2v W_f 5": ("--mode fullw2v --window 10 --epochs 100", 2),
    "fullw2v half": ("--mode fullw2v --precision half --epochs 100", 2),
    "fullw2v W_f 5 half": ("--mode fullw2v --window 10 --precision half --epochs 100", 2),
    "fullregister": ("--mode fullregister --epochs 100", 2),
    "pword2vec": ("--mode pword2vec --epochs 100", 2),
    "word2vec": ("--mode word2vec --epochs 100", 2),
    "cbow": ("--mode word2vec --model cbow --epochs 100", 2),
    "parw2v": ("--mode parw2v --epochs 100", 2),
    "vanilla dense": ("--mode vanilla --preset paper --window 5 --epochs 1 --sample 1e-7 --dim 500 --min-count 50", 0),
    "vanilla lazy": ("--mode vanilla --epochs 1 --sample 1e-7 --dim 500 --min-count 50", 0),
    "cl": ("--iterations 40", 0),
    "cl half": ("--iterations 40 --precision half", 0),
    "cl untempered": ("--model sg --iterations 40 --tempering 0 --positives 1 --shared-negatives 0", 0),
    "cl cnn": ("--model sg --iterations 40 --subword cnn", 0),
    "cl ngram": ("--iterations 40 --subword ngram", 0),
}

METRICS = {
    "seconds": "gpu__time_duration.sum",
    "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "system": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__t_bytes.sum",
    "l2": "lts__t_bytes.sum",
    "l2 share": "lts__t_bytes.sum.pct_of_peak_sustained_elapsed",
    "memory": "dram__bytes.sum",
    "memory share": "dram__bytes.sum.pct_of_peak_sustained_elapsed",
    "ipc": "sm__inst_executed.avg.per_cycle_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "eligible": "smsp__warps_eligible.avg.per_cycle_active",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "add": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "multiply": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "fma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "fma share": "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.pct_of_peak_sustained_elapsed",
    "half": "sm__ops_path_tensor_src_fp16.sum",
    "bfloat": "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "waits": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "barriers": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
}
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 0.01}

TABLES = {  # title: {column: text of a kernel}
    "Throughput": {
        "µs": lambda k: f"{1e6 * k['seconds']:.1f}",
        "Gop/s": lambda k: f"{flops(k) / (k['seconds'] or 1) / 1e9:.0f}",
        "multiprocessors": lambda k: f"{k['sm']:.1%}",
        "memory system": lambda k: f"{k['system']:.1%}",
        "instructions a cycle": lambda k: f"{k['ipc']:.2f}",
    },
    "Demand for memory": {
        "L1 MB": lambda k: f"{k['l1'] / 1e6:.2f}",
        "L2 MB": lambda k: f"{k['l2'] / 1e6:.2f}",
        "of L2": lambda k: f"{k['l2 share']:.1%}",
        "memory MB": lambda k: f"{k['memory'] / 1e6:.2f}",
        "of memory": lambda k: f"{k['memory share']:.1%}",
    },
    "Issue slots": {
        "used": lambda k: f"{k['issue']:.1%}",
        "eligible warps": lambda k: f"{k['eligible']:.2f}",
        "warps": lambda k: f"{k['warps']:.1%}",
        "registers": lambda k: f"{k['registers']:.0f}",
        "waits for memory": lambda k: f"{k['waits']:.2f}",
        "waits at barriers": lambda k: f"{k['barriers']:.2f}",
    },
}


def flops(k):
    """Operations in float32, and those of the tensor cores."""
    return k["add"] + k["multiply"] + 2 * k["fma"] + k["half"] + k["bfloat"]


def count(name, command, launches):
    """Runs a command under ncu and returns what ncu wrote. Launches 2 and 3 of each kernel are counted."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "counters.csv")
        ncu = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", log, "--clock-control", "none", "--target-processes", "all"]
        ncu += ["--kernel-id", ":::[23]", "--metrics", ",".join(METRICS.values())]
        if launches:
            ncu += ["--launch-count", str(launches), "--kill", "yes"]
        said = subprocess.run(ncu + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if not os.path.exists(log):
            sys.exit(f"counters.py: {name}: ncu wrote nothing:\n{said}")
        with open(log) as f:
            return f"==PROGRAM== {name}\n{f.read().strip()}\n"


def kernels(text):
    """Returns the longest launch of each kernel of each program, by falling time."""
    found = []
    for part in ("\n" + text).split("\n==PROGRAM== ")[1:]:
        name, *lines = part.splitlines()
        rows = list(csv.DictReader(line for line in lines if line.startswith('"')))
        if len(rows) < 2:
            sys.exit(f"counters.py: {name}: ncu has counted no kernel: {lines[-1] if lines else ''}")
        longest = {}
        for row in rows[1:]:  # rows[0] has the units
            k = {"run": name, "kernel": row["Kernel Name"].split("(")[0]}
            for key, metric in METRICS.items():
                value = row[metric].replace(",", "")
                k[key] = 0.0 if value in ("", "n/a", "nan") else float(value) * UNITS.get(rows[0][metric], 1)
            if k["kernel"] not in longest or k["seconds"] > longest[k["kernel"]]["seconds"]:
                longest[k["kernel"]] = k
        found += sorted(longest.values(), key=lambda k: (-k["seconds"], k["kernel"]))
    if not found:
        sys.exit("counters.py: there is no line ==PROGRAM==: these are no counters of this script")
    return found


def roof(found, amount, share):
    """A peak of the GPU a second: what the kernel that came nearest reached, by its share of the peak."""
    best = max(found, key=lambda k: k[share])
    return amount(best) / best["seconds"] / best[share] if best[share] else math.nan


def roofline(found, key):
    """Draws the kernels below the roofs of L2 or of memory and of float32 (S. Williams et al., Roofline, 2009) as SVG."""
    slope, flat = roof(found, lambda k: k[key], key + " share"), roof(found, lambda k: 2 * k["fma"], "fma share")
    points = [(flops(k) / k[key], flops(k) / k["seconds"], f"{k['run']}: {k['kernel']}") for k in found if flops(k) and k[key] and k["seconds"]]
    xs = [p[0] for p in points] + [flat / slope]
    ys = [p[1] for p in points] + [flat]
    x0, x1, y0, y1 = math.log10(min(xs) / 2), math.log10(max(xs) * 2), math.log10(min(ys) / 2), math.log10(max(ys) * 2)

    def at(x, y):
        return f"{60 + 400 * (math.log10(x) - x0) / (x1 - x0):.1f} {410 - 400 * (math.log10(y) - y0) / (y1 - y0):.1f}"

    low, high = max(10**x0, 10**y0 / slope), 10**x1
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="700" height="450" font-family="sans-serif" font-size="11">']
    out += ['<path d="M60 10V410H460" fill="none" stroke="#000"/>', '<text x="60" y="440">operations for a byte of %s</text>' % ("L2" if key == "l2" else key)]
    out += ['<text x="15" y="410" transform="rotate(-90 15 410)">operations a second</text>']
    for x in range(math.ceil(x0), math.floor(x1) + 1):
        out.append(f'<text x="{at(10**x, 10**y0).split()[0]}" y="425" text-anchor="middle">1e{x}</text>')
    for y in range(math.ceil(y0), math.floor(y1) + 1):
        out.append(f'<text x="55" y="{at(10**x0, 10**y).split()[1]}" text-anchor="end">1e{y}</text>')
    line = [(low, low * slope), (flat / slope, flat), (high, flat)]
    out.append('<path d="M%s" fill="none" stroke="#0072b2" stroke-width="2"/>' % "L".join(at(x, y) for x, y in line))
    out.append(f'<text x="470" y="20" fill="#0072b2">roof: {slope / 1e12:.1f} TB/s, {flat / 1e12:.1f} Top/s in float32</text>')
    for i, (x, y, name) in enumerate(points):
        color, (px, py) = f"hsl({137 * i % 360},70%,40%)", at(x, y).split()
        out.append(f'<circle cx="{px}" cy="{py}" r="4" fill="{color}"/><text x="470" y="{38 + 15 * i}" fill="{color}">{name}</text>')
    return "\n".join(out + ["</svg>\n"])


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--w2vcl", default="bin/w2vcl")
    flags.add_argument("--corpus", default=os.path.join(os.path.dirname(__file__), "../../testdata/sotu.txt.zst"))
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--runs", default=",".join(RUNS), help="of " + ", ".join(RUNS))
    flags.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    flags.add_argument("--from", dest="source", metavar="FILE")
    flags.add_argument("--out", metavar="DIR")
    o = flags.parse_args()
    if o.source:
        with open(o.source) as f:
            text = f.read()
    else:
        text = ""
        with tempfile.TemporaryDirectory() as folder:
            train = [o.w2vcl, "train", "--quiet", "--force", "--seed", "1", "--device", o.device, "--corpus", o.corpus, "--out", folder + "/run"]
            programs = [(name, train + RUNS[name][0].split(), RUNS[name][1]) for name in o.runs.split(",")]
            for peer in o.peer:
                name, command = peer.split("=", 1)
                programs.append((name, shlex.split(command), 0))
            for program in programs:
                print(program[0], file=sys.stderr)
                text += count(*program)
    found = kernels(text)
    columns = {name: content for table in TABLES.values() for name, content in table.items()}
    if o.out:
        os.makedirs(o.out, exist_ok=True)
        files = {"counters.txt": text} if not o.source else {}
        files |= {"roofline-l2.svg": roofline(found, "l2"), "roofline-memory.svg": roofline(found, "memory")}
        for name, content in files.items():
            with open(os.path.join(o.out, name), "w") as f:
                f.write(content)
        with open(os.path.join(o.out, "kernels.csv"), "w", newline="") as f:
            table = csv.writer(f, lineterminator="\n")
            table.writerow(["run", "kernel", *columns])
            table.writerows([k["run"], k["kernel"], *(content(k) for content in columns.values())] for k in found)
    width = [max(len(k[key]) for k in found) for key in ("run", "kernel")]
    for title, table in TABLES.items():
        print(f"{title}\n  {'run':{width[0]}}  {'kernel':{width[1]}}" + "".join(f"  {name:>12}" for name in table))
        for k in found:
            print(f"  {k['run']:{width[0]}}  {k['kernel']:{width[1]}}" + "".join(f"  {content(k):>{max(12, len(name))}}" for name, content in table.items()))
        print()
    print("Shares are of the GPU's peak. Waits are cycles of a warp for each instruction issued.")


if __name__ == "__main__":
    main()
