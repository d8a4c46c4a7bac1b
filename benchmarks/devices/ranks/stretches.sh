# Mode cl with model cbow, the default, on ranks of one host: stretches.sh PROGRAM TEXT. Prints iterations' milliseconds, what rank 0 sent, checksums.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
program=$1 text=$2
dir=$(mktemp -d)
printf 'dim\tsubword\tranks\tthreads\tms\tmb_sent\tsha256\n'
for dim in 100 300; do for subword in ngram none; do for shape in ${SHAPES:-1,8 1,16 1,32 2,8 2,16 4,4 4,8}; do
	ranks=${shape%,*} threads=${shape#*,}
	rm -rf "$dir/run"
	timeout 60 mpirun --bind-to none -n "$ranks" "$program" train --corpus "$text" --min-count 16 --dim "$dim" --subword "$subword" --iterations "${ITERATIONS:-150}" --threads "$threads" --out "$dir/run" --quiet >"$dir/log" 2>&1 || { cat "$dir/log"; continue; }
	python3 - "$dir/run/summary.json" "$dim" "$subword" "$ranks" "$threads" "$(sha256sum <"$dir/run/vectors.bin" | cut -c1-12)" <<-'P'
		import json, sys
		s = json.load(open(sys.argv[1]))
		print(*sys.argv[2:6], f"{1000 * s['seconds_train'] / s['iterations']:.2f}", f"{s.get('bytes_sent', 0) / s['iterations'] / 1e6:.2f}", sys.argv[6], sep="\t", flush=True)
	P
done; done; done
rm -rf "$dir"
