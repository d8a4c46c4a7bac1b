"""How much faster two GPUs would train large-batch CBOW, by what they divide: from the times of kernels (../../one-step/cbow) and of exchanges (exchange.txt)."""
import csv
import pathlib

kernels = {  # N, n-grams: compose, means, step 1, words, places, rows, n-grams at T 45,000, in microseconds
    (100, False): (0, 14, 38, 10, 48, 31, 0),
    (100, True): (19, 14, 39, 10, 48, 33, 134),
    (300, False): (0, 31, 82, 23, 77, 76, 0),
    (300, True): (45, 31, 82, 23, 77, 81, 260),
}
shared = {}  # rows, of, bytes: microseconds
with open(pathlib.Path(__file__).with_name("exchange.txt")) as file:
    for x in csv.DictReader(file, delimiter="\t"):
        if x["shares"] == "1" and x["meets"] == "0":
            shared[int(x["rows"]), int(x["of"]), int(x["bytes"])] = float(x["microseconds"])
meet = 5

for (n, ngrams), (compose, means, step1, words, places, rows, train) in kernels.items():
    one = sum(kernels[n, ngrams])
    row, half, parts = shared[9000, 18116, 4 * n], shared[9000, 18116, 2 * n], shared[50000, 100000, 2 * n]
    by_rows = means + step1 / 2 + row + meet + words + places + rows / 2 + meet
    by_rows += compose / 2 + row + meet + half + train / 2 + parts + meet if ngrams else row
    sums = shared[22500, 45000, 4 * n] / 2  # half of a GPU's sums are for rows of its own
    by_windows = by_rows - (words + places) / 2 + sums + meet
    line = [f"N {n}, {'n-grams' if ngrams else 'words'}: one {one}", f"rows {one / by_rows:.2f}", f"and windows {one / by_windows:.2f}"]
    if ngrams:
        line.append(f"columns of n-grams {one / (one - (compose + train) / 2 + row + 2 * meet):.2f}")
    line.append(f"columns of W {one / (one - (compose + rows + train) / 2 + row + 2 * meet):.2f}")
    slope = (sum(kernels[300, ngrams]) - sum(kernels[100, ngrams])) / 200  # a kernel's time is linear in N
    scores = 2 * 4 * (45_000 + 18_116 * 32)  # bytes, both steps
    rate = 9000 * 1200 / shared[9000, 18116, 1200]
    line.append(f"columns of all {one / (one - slope * n / 2 + scores / rate + 2 * meet):.2f}")
    print("; ".join(line))
