# title: FULL-W2V, figure 1 and tables 4 to 6: roofline, demand for memory and issue slots of the kernels
. "$(dirname "$0")/../common.sh"

# Counting needs a GPU and Nsight Compute; without them the counters of an earlier count are shown.
if [[ $DEVICE == cuda* ]] && command -v ncu >/dev/null; then
	runs=()
	if [[ $QUICK ]]; then runs=(--runs fullw2v,fullregister); fi
	"$W2VCL" bench kernels --corpus "$CORPUS" --out "$OUT" ${runs[@]+"${runs[@]}"}
else
	"$W2VCL" bench kernels --from "$(dirname "$0")/../../benchmarks/2026-11-22-h200-kernels/counters.txt" --out "$OUT"
fi
