# title: pWord2Vec, figure 4, tables IV and V: speed and quality by the number of hosts
. "$(dirname "$0")/../common.sh"

# HOSTS names a file with a host a line, as mpirun takes it: one rank on each. Without it the ranks share the
# processors of this machine. More than one rank needs mpirun and a program that has MPI (make mpi).
: "${HOSTS:=}" "${DATA:=}"
flags=(--preset pword2vec --mode pword2vec)
if [[ $QUICK ]]; then flags+=(--dim 50 --epochs 1); fi
most=$(nproc) launch=(mpirun --bind-to none)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container the user is root
if [[ $QUICK ]] && ((most > 2)); then most=2; fi
if [[ $HOSTS ]]; then
	most=$(grep -c . "$HOSTS") launch+=(--hostfile "$HOSTS" --map-by node)
fi
# As published, frequent words are combined more often than rare ones, by the mean; "ours" is what ranks do without the preset.
ours=(--combine-rule adasum)
echo ranks,combined,seconds,words_per_second >"$OUT/hosts.csv"
for n in 1 2 4 8 16 32; do
	((n <= most)) || break
	start=()
	threads=()
	if ((n > 1)); then start=("${launch[@]}" -n $n); fi
	if [[ ! $HOSTS ]]; then threads=(--threads $(($(nproc) / n))); fi
	for combined in published ours; do
		rule=()
		if [[ $combined == ours ]]; then rule=("${ours[@]}"); fi
		name=hosts-$n-$combined
		if json=$(${start[@]+"${start[@]}"} "$W2VCL" train "${text[@]}" "${flags[@]}" ${rule[@]+"${rule[@]}"} ${threads[@]+"${threads[@]}"} --out "$OUT/$name" --force --json --quiet 2>"$OUT/$name.log"); then
			echo "$n,$combined,$(number seconds_train <<<"$json"),$(number words_per_second <<<"$json")" >>"$OUT/hosts.csv"
			"$W2VCL" eval "$OUT/$name" ${DATA:+--data "$DATA"} | tee "$OUT/scores-$n-$combined.txt"
		elif ((n == 1)); then
			cat "$OUT/$name.log" >&2
			exit 1
		else
			echo "$n ranks: $(grep -m1 '[[:alpha:]]' "$OUT/$name.log")"
		fi
		((n > 1)) || break # one rank combines nothing
	done
done
cat "$OUT/hosts.csv"
