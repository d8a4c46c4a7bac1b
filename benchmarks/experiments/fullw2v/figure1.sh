# title: FULL-W2V, figure 1 and tables 4 to 6: roofline, demand for memory and issue slots of the kernels
. "$(dirname "$0")/../common.sh"

# Counting needs a GPU and Nsight Compute; without them the counters of an earlier count are shown.
count=$(dirname "$0")/../../../kernels/cuda/counters.py
if [[ $DEVICE == cuda* ]] && command -v ncu >/dev/null; then
	runs=()
	if [[ $QUICK ]]; then runs=(--runs fullw2v,fullregister); fi
	"$count" --w2vcl "$W2VCL" --corpus "$CORPUS" --out "$OUT" ${runs[@]+"${runs[@]}"}
else
	"$count" --from "$(dirname "$0")/../../speed-gpu/counters.txt" --out "$OUT"
fi
