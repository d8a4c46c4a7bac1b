# What the scripts of experiments share; they source it. Environment: W2VCL, the program; CORPUS, the text;
# OUT, an empty folder for the results; QUICK, not empty for a small version; DEVICE, as for --device.
set -euo pipefail
: "${W2VCL:=w2vcl}" "${CORPUS:=$(dirname "${BASH_SOURCE[0]}")/../../testdata/sotu.txt.zst}" "${OUT:?name a folder for the results: OUT=DIR}" "${QUICK:=}" "${DEVICE:=cpu}"
mkdir -p "$OUT"

# text: flags that read the text. The one that comes with w2vcl is raw; others are taken as they are.
text=(--corpus "$CORPUS")
if [[ $(basename "$CORPUS") == sotu.txt.zst ]]; then
	text+=(--tokenizer words --lowercase)
fi

# number NAME: a number of the line of JSON on standard input.
number() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p"; }

# devices: a line for each number of GPUs that there is to train on, as --device names them; without a
# GPU, for each number of threads up to that of the processors.
devices() {
	local most name n
	if [[ $DEVICE == cuda* && ${CUDA_VISIBLE_DEVICES:-} ]]; then # nvidia-smi shows all of the machine
		most=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | grep -c .)
	elif [[ $DEVICE == cuda* ]]; then
		most=$(nvidia-smi -L | wc -l)
	else
		most=$(nproc)
	fi
	for n in 1 2 3 4 5 6 7 8 16 32; do
		((n <= most)) || break
		if [[ $DEVICE == cuda* ]]; then
			name=cuda:$(seq -s , 0 $((n - 1)))
			echo "$n --device $name"
		else
			echo "$n --threads $n"
		fi
	done
}

# by_devices NAME FLAGS...: trains once on each number of devices and writes $OUT/NAME.csv. A number that
# the mode refuses is noted and left out.
by_devices() {
	local name=$1 n flags json
	shift
	echo devices,seconds,words_per_second,pairs_per_second >"$OUT/$name.csv"
	while read -r n flags; do
		# shellcheck disable=SC2086 # flags are words
		if json=$("$W2VCL" train "${text[@]}" "$@" $flags --out "$OUT/$name-$n" --force --json --quiet 2>"$OUT/$name-$n.log"); then
			echo "$n,$(number seconds_train <<<"$json"),$(number words_per_second <<<"$json"),$(number pairs_per_second <<<"$json")" >>"$OUT/$name.csv"
		elif ((n == 1)); then
			cat "$OUT/$name-$n.log" >&2
			return 1
		else
			echo "$name on $n: $(tail -1 "$OUT/$name-$n.log")"
		fi
	done < <(devices)
	cat "$OUT/$name.csv"
}
