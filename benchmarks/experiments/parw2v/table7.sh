# title: PAR-Word2Vec, tables III, IV, VII and VIII: graphs: sizes, labels, links, seconds of an epoch
. "$(dirname "$0")/../common.sh"

# GRAPHS names a folder with blogcatalog.txt, Homo_sapiens.txt and POS.txt (Wikipedia), each with NAME-labels.txt (the
# guide says how SciPy writes them), and facebook_combined.txt and ca-AstroPh.txt. Those that are there are used; without
# any, a made graph of 20 groups of 30 nodes.
: "${GRAPHS:=}"
epochs=10 walks=10 modes=(word2vec pword2vec psgnscc parw2v cl)
if [[ $QUICK ]]; then # real graphs take minutes to score
	GRAPHS="" epochs=1 walks=2 modes=(word2vec parw2v)
elif [[ $DEVICE == cuda* ]]; then # psgnscc has no kernels
	modes=(word2vec pword2vec parw2v cl)
fi

# one GRAPH LABELS WALK-FLAGS...: trains all modes on the walks, and scores labels, or links if LABELS is "".
one() {
	local graph=$1 labels=$2 name mode run json
	shift 2
	name=$(basename "${graph%.*}")
	if [[ $labels ]]; then
		"$W2VCL" walk "$graph" --walks $walks --length 80 --out "$OUT/$name-walks.txt" --force "$@"
	else # as in the paper the walks go over all edges, those that are asked, too; all of them take long to score
		"$W2VCL" walk "$graph" --walks 1 --length 2 --holdout 0.06 --holdout-out "$OUT/$name-links.txt" --out "$OUT/$name-rest.txt" --force
		"$W2VCL" walk "$graph" --walks $walks --length 80 --out "$OUT/$name-walks.txt" --force "$@"
	fi
	for mode in "${modes[@]}"; do
		run=$OUT/$name-$mode
		local flags=(--preset parw2v --window 10 --epochs $epochs)
		if [[ $mode == cl ]]; then flags=(); fi # cl has iterations, and a window of its own
		json=$("$W2VCL" train --mode "$mode" --corpus "$OUT/$name-walks.txt" --dim 128 --min-count 1 --device "$DEVICE" ${flags[@]+"${flags[@]}"} --out "$run" --force --json --quiet)
		echo "$name,$mode,$(number seconds_train <<<"$json"),$(number epochs <<<"$json")" >>"$OUT/seconds.csv"
		echo "$name, $mode:"
		if [[ $labels ]]; then
			"$W2VCL" eval "$run" --task nodes --data "$labels" --folds 10
		else
			"$W2VCL" eval "$run" --task links --data "$OUT/$name-links.txt"
		fi
	done
}

echo graph,mode,seconds,epochs >"$OUT/seconds.csv"
found=
for graph in blogcatalog Homo_sapiens POS; do
	if [[ $GRAPHS && -e $GRAPHS/$graph.txt ]]; then
		case $graph in # as node2vec's authors have them
		blogcatalog) how=(--p 0.25 --q 0.25) ;;
		Homo_sapiens) how=(--p 4 --q 1) ;;
		POS) how=(--p 4 --q 0.5 --weighted) ;;
		esac
		one "$GRAPHS/$graph.txt" "$GRAPHS/$graph-labels.txt" "${how[@]}"
		found=1
	fi
done
for graph in facebook_combined.txt ca-AstroPh.txt; do
	if [[ $GRAPHS && -e $GRAPHS/$graph ]]; then
		one "$GRAPHS/$graph" ""
		found=1
	fi
done
if [[ ! $found ]]; then
	awk 'BEGIN { srand(1); for (a = 0; a < 600; a++) { print "n" a, "n" int(a / 30) * 30 + (a + 1) % 30
		for (k = 0; k < 4; k++) { b = rand() < .8 ? int(a / 30) * 30 + int(rand() * 30) : int(rand() * 600); if (b != a) print "n" a, "n" b } } }' >"$OUT/made.txt"
	awk 'BEGIN { for (a = 0; a < 600; a++) print "n" a, "g" int(a / 30) }' >"$OUT/made-labels.txt"
	one "$OUT/made.txt" "$OUT/made-labels.txt"
	cp "$OUT/made.txt" "$OUT/friends.txt"
	one "$OUT/friends.txt" ""
fi
cat "$OUT/seconds.csv"
