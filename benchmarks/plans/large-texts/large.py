#!/usr/bin/env python3
"""A text of 10 GB, end to end: speed of reading, peak memory of training beside what plan says, M under a
limit, different words, damaged files. Each step is a whole process; its peak is the kernel's.

    large.py --w2vcl bin/w2vcl --folder /data/large                       # all of it: 60 GB of disk, some 20 minutes on 16 cores
    large.py --w2vcl bin/w2vcl --folder /tmp/small --bytes 300MB train    # less, and some steps: read train gpu matrix different damage

FOLDER gets large.tsv, a line a step, and each step's output. The exit code is 1 if a bar is missed.
"""
import argparse, collections, glob, hashlib, json, os, random, shutil, subprocess, sys, time

root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("steps", nargs="*", default=["read", "train", "gpu", "matrix", "different", "damage"])
parser.add_argument("--w2vcl", default="w2vcl", help="the program; for gpu one that was built with the tag gpu")
parser.add_argument("--folder", required=True, help="for everything; what is there is used again")
parser.add_argument("--bytes", default="10GB", help="of the text")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--different", type=int, default=50_000_000, help="different words of the second text")
parser.add_argument("--limit", type=int, default=3600, help="seconds of a step")
o = parser.parse_args()
w2vcl = shutil.which(o.w2vcl) or sys.exit(f"{o.w2vcl}: there is no such program")
w2vcl = os.path.abspath(w2vcl)
os.makedirs(o.folder, exist_ok=True)
os.chdir(o.folder)
table, missed = open("large.tsv", "a"), []
text = f"text-{o.bytes}.txt"
common = ["--corpus", text, "--cache", "cache", "--min-count", "5", "--max-vocab", "200000"]
Step = collections.namedtuple("Step", "rc seconds peak output")


def run(name, *command, rc=0, **environment):
    """Runs a command; returns its exit code, seconds, peak in bytes and output."""
    log, start = open(f"{name}.log", "w"), time.time()
    child = subprocess.Popen(["timeout", str(o.limit), *map(str, command)], stdout=log, stderr=log, env=os.environ | environment)
    _, status, usage = os.wait4(child.pid, 0)  # the maximum of timeout and of what it started
    child.returncode = os.waitstatus_to_exitcode(status)
    output = open(f"{name}.log").read()
    step = Step(child.returncode, time.time() - start, usage.ru_maxrss * 1024, output)
    line = [name, step.rc, f"{step.seconds:.2f} s", f"{usage.ru_utime + usage.ru_stime:.1f} s of processors", f"{step.peak / 1e6:.0f} MB", *command]
    print(*line[:5], flush=True)
    print(*line, sep="\t", file=table, flush=True)
    if step.rc != rc:
        missed.append(f"{name}: exit code {step.rc}, see {name}.log: {output[-300:]}")
    return step


def bar(what, good):
    line = f"{'ok    ' if good else 'MISSED'} {what}"
    print(line, flush=True)
    print(line, file=table, flush=True)
    if not good:
        missed.append(what)


def train(name, *flags, slack=600e6):
    """Trains, and compares the peak with plan's and with the tables."""
    flags = [*common, *flags]
    plan = run(f"plan-{name}", w2vcl, "plan", *flags, "--json")
    step = run(f"train-{name}", w2vcl, "train", *flags, "--quiet", "--force", "--out", f"run-{name}")
    if plan.rc or step.rc:
        return
    memory = json.loads(next(line for line in plan.output.splitlines() if line.startswith("{")))["memory_bytes"]
    tables = memory["tables"] + memory["moments"]
    share = memory["peak"] / step.peak
    bar(f"{name}: plan says at most {memory['peak'] / 1e6:.0f} MB, measured {step.peak / 1e6:.0f} MB: {share:.3f} of it, 0.98 to 1.10", 0.98 <= share <= 1.10)
    bar(f"{name}: {step.peak / 1e6:.0f} MB are tables and moments of {tables / 1e6:.0f} MB and {(step.peak - tables) / 1e6:.0f} MB, at most {slack / 1e6:.0f}", step.peak - tables <= slack)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


if not os.path.exists(text):
    run("generate", w2vcl, "bench", "generate", "--bytes", o.bytes, "--out", text)
if "read" in o.steps:
    shutil.rmtree("cache", ignore_errors=True)
    step = run("build", w2vcl, "corpus", "build", *common, "--max-memory", "1GB", "--quiet")
    speed = os.path.getsize(text) / 1e6 / step.seconds
    bar(f"reading and encoding: {speed:.0f} MB/s, at least 150", speed >= 150)
ordered = ["--dim", "100", "--epochs", "1", "--sample", "1e-5", "--negative", "5"]
if "train" in o.steps:
    for mode in ("pword2vec", "word2vec"):
        train(mode, "--mode", mode, *ordered, "--max-memory", "1GB", "--threads", o.threads)
    train("cl", "--mode", "cl", "--dim", "100", "--negative", "5", "--contexts", "8192", "--iterations", "64", "--max-memory", "2GB", "--threads", o.threads)
if "gpu" in o.steps:
    for mode in ("fullw2v", "pword2vec", "word2vec"):
        train(f"cuda-{mode}", "--mode", mode, *ordered, "--max-memory", "4GB", "--device", "cuda")
if "matrix" in o.steps:
    sums = {}
    for limit in ("4GB", "16GB"):
        path = f"m-{limit}.w2vm"
        step = run(f"matrix-{limit}", w2vcl, "matrix", "build", "--corpus", text, "--matrix", path, "--force", "--max-vocab", "1000000", "--min-count", "1",
                   "--contexts", "8192", "--max-memory", limit, "--threads", o.threads, "--quiet")
        if step.rc == 0:
            sums[limit] = sha256(path)
            bar(f"M under {limit}: {step.peak / 1e6:.0f} MB", step.peak <= float(limit[:-2]) * 1e9)
    bar(f"M has the same SHA-256: {sums}", len(sums) == 2 and len(set(sums.values())) == 1)
    if shutil.which("go"):
        step = run("columns", "go", "test", "-C", root, "./wordcontext", "-run", "^$", "-bench", "FirstColumns", "-benchtime", "3x", W2VCL_MATRIX=os.path.abspath("m-4GB.w2vm"))
        took = [float(line.split()[2]) / 1e9 for line in step.output.splitlines() if line.startswith("BenchmarkFirstColumns")]
        bar(f"the first 64 columns by one thread: {took} s, at most 2", took != [] and took[0] <= 2)
if "different" in o.steps:
    if not os.path.exists("different.txt"):
        run("generate-different", w2vcl, "bench", "generate", "--bytes", f"{o.different * 192 // 10**7}MB", "--different", o.different, "--out", "different.txt")
    step = run("count", w2vcl, "corpus", "build", "--corpus", "different.txt", "--cache", "cache-different", "--min-count", "3", "--max-memory", "2GB", "--vocab", "words.txt", "--quiet")
    bar(f"different words under 2GB: {step.peak / 1e6:.0f} MB", step.peak <= 2e9)
    if step.rc:
        sys.exit(f"missed: {missed}")
    counts = dict(line.split() for line in open("words.txt") if not line.startswith("</s>"))
    sample = random.Random(1).sample(sorted(counts), min(1000, len(counts)))
    open("sample.txt", "w").write("\n".join(sample) + "\n")
    subprocess.run("tr ' ' '\\n' < different.txt | LC_ALL=C grep -Fx -f sample.txt | LC_ALL=C sort | uniq -c > counted.txt", shell=True, check=True)
    counted = {word: count for count, word in map(str.split, open("counted.txt"))}
    bar(f"counts of {len(sample)} words are those of sort | uniq -c", counted == {word: counts[word] for word in sample})
if "damage" in o.steps:
    shutil.rmtree("cache-damage", ignore_errors=True)
    shutil.copytree("cache", "cache-damage")
    path = glob.glob("cache-damage/*.w2vtext")[0]
    flags = [w2vcl, "corpus", "build", *common[:2], "--cache", "cache-damage", *common[4:], "--quiet"]
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)[0]
        f.seek(-1, 1)
        f.write(bytes([byte ^ 16]))
    step = run("flipped", *flags, rc=1)
    bar("a changed byte is refused, and the file named", step.rc == 1 and path in step.output)
    os.truncate(path, os.path.getsize(path) - 1)
    step = run("truncated", *flags, rc=1)
    bar("a file without its end is refused and named", step.rc == 1 and path in step.output)
    shutil.rmtree("cache-damage")
for line in missed:
    print("missed:", line, file=sys.stderr)
sys.exit(bool(missed))
