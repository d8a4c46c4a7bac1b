# title: pWord2Vec, figure 4, tables IV and V: speed, quality and traffic by the number of hosts
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
echo ranks,seconds,words_per_second,bytes_sent >"$OUT/hosts.csv"
for n in 1 2 4 8 16 32; do
	((n <= most)) || break
	start=()
	threads=()
	if ((n > 1)); then start=("${launch[@]}" -n $n); fi
	if [[ ! $HOSTS ]]; then threads=(--threads $(($(nproc) / n))); fi
	if json=$(${start[@]+"${start[@]}"} "$W2VCL" train "${text[@]}" "${flags[@]}" ${threads[@]+"${threads[@]}"} --out "$OUT/hosts-$n" --force --json --quiet 2>"$OUT/hosts-$n.log"); then
		echo "$n,$(number seconds_train <<<"$json"),$(number words_per_second <<<"$json"),$(number bytes_sent <<<"$json")" >>"$OUT/hosts.csv"
		"$W2VCL" eval "$OUT/hosts-$n" ${DATA:+--data "$DATA"} | tee "$OUT/scores-$n.txt"
	elif ((n == 1)); then
		cat "$OUT/hosts-$n.log" >&2
		exit 1
	else
		echo "$n ranks: $(grep -m1 '[[:alpha:]]' "$OUT/hosts-$n.log")"
	fi
done
cat "$OUT/hosts.csv"
