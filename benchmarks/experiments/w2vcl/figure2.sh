# title: W2V-CL, figures 2, 6, 7 and 19: the graphs that are trained, as Graphviz files
. "$(dirname "$0")/../common.sh"

# Figure 6: two steps, each of which updates one table. Figure 7: a word is on the left once.
flags=("${text[@]}" --preset paper --dim 16 --device cpu --quiet)
"$W2VCL" train "${flags[@]}" --mode vanilla --epochs 1 --batch 65536 --graph-dot "$OUT/figure2-vanilla.dot" --out "$OUT/vanilla" --force
"$W2VCL" train "${flags[@]}" --mode cl --contexts 8 --graph-dot "$OUT/figure6-cl.dot" --out "$OUT/cl" --force
"$W2VCL" train "${flags[@]}" --mode cl --contexts 8 --subword cnn --graph-dot "$OUT/figure19-cnn.dot" --out "$OUT/cnn" --force
ls -l "$OUT"/*.dot
