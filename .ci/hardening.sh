#!/usr/bin/env bash
# Runs the long tests for hardening on a machine with many cores, all at the same time:
# every fuzz target, all packages' tests 20 times, every randomized test 500 times, and
# the torture of commands until 1,000 were disturbed.
#
#   hardening.sh build DIR                  here: pack Go itself and the modules into DIR
#   hardening.sh run DIR RESULTS SECONDS    there: unpack, compile the tree of this script, run
#   hardening.sh randomized                 list the randomized tests
#
# The other machine needs bash, tar and xz, no Go and no network: it compiles with what was
# packed, which depends on go.mod and Go's version only. Fuzz targets go on with the inputs
# of DIR/corpus.tar.xz, if it is there, and leave theirs as RESULTS/corpus.tar.xz. Torture fills disks of its own,
# which takes root. SECONDS is the time of it all; what it does not suffice for is counted
# as not run. Variables: FUZZ, TESTS, RANDOMIZED and TORTURE, each with the number of
# workers, runs, runs and kills (2, 20, 500, 1000); 0 leaves a part out. JOBS is how many
# processes run at a time beside the fuzz targets (default: three quarters of the cores), ONLY
# a regular expression of the packages.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
	sed -n '/^# *hardening.sh/s/^# *//p' "${BASH_SOURCE[0]}" >&2
	exit 2
}

# build packs Go without its commands' sources and tests, and the modules that we use.
build() {
	local dir goroot modules list
	dir=$(mkdir -p "$1" && cd "$1" && pwd)
	cd "$root"
	goroot=$(go env GOROOT) modules=$(go env GOMODCACHE) list=$(mktemp)
	trap "rm -f '$list'" EXIT
	{
		cd "$goroot"
		printf '%s\n' VERSION go.env bin/go pkg/tool/*/{asm,compile,link,vet} | sed 's,^,go/,'
		find src pkg/include -path src/cmd -prune -o -name testdata -prune -o -type f ! -name '*_test.go' -printf 'go/%p\n'
		find lib/time -type f -printf 'go/%p\n'
	} >"$list"
	(
		cd "$root"
		go list -deps -test -f '{{with .Module}}{{if not .Main}}{{$.Dir}}{{end}}{{end}}' ./... ./testdata | sort -u | while read -r folder; do
			find "$folder" -maxdepth 1 -type f ! -name '*_test.go'
			go list -f '{{range .EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' "$folder" 2>/dev/null || true
		done
		go list -m -f '{{if not .Main}}{{.Path}} {{.Version}}{{end}}' all | sed 's/[A-Z]/!\l&/g' | while read -r path version; do
			for end in mod info ziphash; do
				[[ ! -f $modules/cache/download/$path/@v/$version.$end ]] || echo "$modules/cache/download/$path/@v/$version.$end"
			done
		done
	) | awk NF | sort -u | sed "s,^$modules,modules," >>"$list"
	# Paths in the archive are go/... and modules/....
	tar -c --absolute-names --transform "s,^$modules,modules," --transform "s,^$goroot,go," \
		$(: "names with spaces do not occur") -T <(sed "s,^go/,$goroot/,; s,^modules/,$modules/," "$list") |
		xz -T0 --x86 --lzma2=preset=4,dict=32MiB >"$dir/go.tar.xz"
	ls -l "$dir/go.tar.xz"
}

# randomized lists the tests that draw a random seed, also by helpers of their package, with
# the package's folder.
randomized() {
	cd "$root"
	grep -rlE --include='*_test.go' 'rand\.|damage\.' . | xargs -n1 dirname | sort -u | while read -r dir; do
		awk -v dir="${dir#./}" '
			FNR == 1 { skip = 0 }
			FNR == 1 && /^\/\/go:build (gpu|torture|race|mpi)/ { skip = 1 }
			skip { next }
			/^func / {
				name = $0; sub(/^func (\([^)]*\) )?/, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
			}
			{ body[name] = body[name] " " $0 }
			/^}/ { name = "" }
			END {
				for (f in body) drawn[f] = body[f] ~ /[^A-Za-z0-9_]rand\.(Uint|Int|N\(|Float|Perm|Shuffle|NormFloat)[A-Za-z0-9]*\(|(damage\.|[ \t])Copies\(t/
				for (again = 1; again; ) {
					again = 0
					for (f in body) if (!drawn[f]) for (g in drawn) if (g != "" && drawn[g] && body[f] ~ ("[^A-Za-z0-9_]" g "\\(")) { drawn[f] = again = 1; break }
				}
				for (f in body) if (drawn[f] && f ~ /^Test/ && f != "TestMain" && f != "TestTorture") print dir, f
			}' "$dir"/*_test.go | sort
	done
}

# here runs a command in a folder with a bound on its time and its threads, and adds a line to a
# table: outcome, seconds, name. What a command that failed said is kept.
here() {
	local table=$1 name=$2 folder=$3 most=$4 start=$SECONDS outcome=ok left log
	shift 4
	left=$((deadline - $(date +%s)))
	if ((left < 5)); then
		printf 'not run\t0\t%s\n' "$name" >>"$work/$table.tsv"
		return
	fi
	log=$(mktemp -p "$work/logs")
	if ! (cd "$folder" && timeout -k 5 $((left < most ? left : most)) "$@") </dev/null >"$log" 2>&1; then
		outcome=FAILED
		(($(date +%s) < deadline)) || outcome='not run' # cut off
	fi
	printf '%s\t%d\t%s\n' "$outcome" $((SECONDS - start)) "$name" >>"$work/$table.tsv"
	if [[ $outcome == FAILED || $table == torture ]]; then
		{ echo "== $name"; cat "$log"; } >>"$work/kept/$table.log"
	fi
	rm -f "$log"
}

# fuzz runs one target and adds a line to its table. Inputs of interest are not made shorter: goroutines
# make coverage vary, then shortening ends without success and with a new process, most of the time.
fuzz() {
	local package=$1 target=$2 seconds log=$work/logs/fuzz-${1//\//-}-$2 start=$SECONDS status=0 outcome=ok
	seconds=$((deadline - $(date +%s) - 30))
	((seconds > 0)) || seconds=1
	(cd "$work/fuzztree/$package" && GOMAXPROCS=2 nice -n 5 timeout -k 5 $((seconds + 20)) "$work/fuzz/${package//\//-}.test" \
		"-test.run=^\$" "-test.fuzz=^$target\$" "-test.fuzztime=${seconds}s" "-test.fuzzminimizetime=0s" "-test.parallel=$FUZZ" "-test.fuzzcachedir=$work/corpus/${package//\//-}") </dev/null >"$log" 2>&1 || status=$?
	# Go reports the end of the time in the wrong moment as an error, and on a busy machine it ends late.
	if ((status != 0 && status != 124)) && ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input' "$log"; then
		outcome=FAILED
	fi
	[[ $outcome == ok ]] || { echo "== $package $target"; tail -c 20000 "$log"; } >>"$work/kept/fuzz.log"
	printf '%s\t%d\t%s\t%s\t%s\n' "$outcome" $((SECONDS - start)) "$(grep -o 'execs: [0-9]*' "$log" | tail -n1 | tr -dc 0-9)" \
		"$(grep -o 'total: [0-9]*' "$log" | tail -n1 | tr -dc 0-9)" "$package $target" >>"$work/fuzz.tsv"
}

# compile makes one test binary.
compile() {
	local out=$1 package=$2
	shift 2
	go test -c -vet=off -o "$out/${package//\//-}.test" "$@" "./$package" || echo "$package" >>"$work/uncompiled"
}

run() {
	results=$(mkdir -p "$2" && cd "$2" && pwd)
	local dir seconds=$3 start
	dir=$(cd "$1" && pwd)
	start=$(date +%s)
	deadline=$((start + seconds))
	work=/tmp # memory is better: tests sync files
	if (($(df -k --output=avail /dev/shm 2>/dev/null | tail -n1) > 16000000)); then work=/dev/shm; fi
	work=$(mktemp -d -p "$work")
	trap "rm -rf '$work'" EXIT
	chmod 755 "$work" # tests run commands as another user
	mkdir -p "$work"/{kept,tests,fuzz,torture,logs,corpus,cache,tmp,fuzztree}
	tar -xJf "$dir/go.tar.xz" -C "$work"
	[[ ! -e $dir/corpus.tar.xz ]] || tar -xJf "$dir/corpus.tar.xz" -C "$work/corpus"
	export PATH=$work/go/bin:$PATH GOROOT=$work/go GOMODCACHE=$work/modules GOCACHE=$work/cache GOPROXY=off GOFLAGS=-buildvcs=false \
		GOTOOLCHAIN=local GONOSUMDB='*' CGO_ENABLED=0 TMPDIR=$work/tmp GOTELEMETRY=off
	: "${FUZZ:=2} ${TESTS:=20} ${RANDOMIZED:=500} ${TORTURE:=1000} ${JOBS:=$(($(nproc) * 3 / 4 + 1))}"
	export FUZZ work deadline
	export -f here fuzz compile
	cd "$root"

	local packages fuzzed targets kills=50
	((kills < TORTURE)) || kills=$TORTURE
	# Go knows which packages have tests without our tags.
	packages=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... ./testdata | sed "s,^$root/,," | grep -vx internal/rules | sort | grep -E "${ONLY:-.}")
	targets=$(grep -rEo --include='*_test.go' '^func Fuzz\w+' . | sed -E 's,^\./(.*)/[^/]*:func (.*),\1 \2,' | sort | grep -E "^(${ONLY:-.*}).* ") || targets=''
	fuzzed=$(cut -d' ' -f1 <<<"$targets" | sort -u)
	((FUZZ > 0)) || targets='' fuzzed=''
	randomized | grep -E "^(${ONLY:-.*}).* " >"$work/randomized" || true

	# The packages that import most come first, so that the others find their parts compiled.
	(
		[[ -n ${ONLY:-} ]] || go build ./...
		xargs -P "$JOBS" -I{} bash -c 'compile "$work/tests" {}' <<<"$packages"
	) &
	(
		((TORTURE == 0)) || compile "$work/torture" cmd/w2vcl -tags torture
	) &
	(
		if [[ -n $fuzzed ]]; then
			! grep -qx compare <<<"$fuzzed" || compile "$work/fuzz" compare -fuzz=Fuzz
			{ grep -vx compare <<<"$fuzzed" || true; } | xargs -P "$JOBS" -I{} bash -c 'compile "$work/fuzz" {} -fuzz=Fuzz'
		fi
	) &
	wait
	if [[ -e $work/uncompiled ]]; then
		echo "not compiled: $(sort -u "$work/uncompiled" | tr '\n' ' ')"
		exit 1
	fi
	rm -rf "$work/cache" # the disk may be memory
	echo "compiled after $(($(date +%s) - start)) s; $(nproc) cores, $JOBS jobs, $FUZZ workers a fuzz target"

	tar -c --exclude=.git --exclude=.gpu . | tar -x -C "$work/fuzztree" # crashers are written there
	: >"$work/begun"
	echo "$targets" >"$work/fuzz.expected"
	local pids=() package target
	while read -r package target; do
		[[ -z $package ]] && continue
		fuzz "$package" "$target" &
		pids+=($!)
	done <<<"$targets"

	# The queue: torture first, which takes longest, then the tests, the slow packages first.
	{
		local part
		if ((TORTURE > 0)); then
			for part in $(seq 1 $(((TORTURE + kills - 1) / kills))); do
				echo "torture|processes of $kills kills|cmd/w2vcl|$seconds|env|TORTURE_KILLS=$kills|GOMAXPROCS=2|TORTURE_KEEP=|$work/torture/cmd-w2vcl.test|-test.run=TestTorture\$|-test.v|-test.timeout=0|-test.parallel=6"
			done
		fi
		for part in $(seq 1 "$TESTS"); do
			for package in $(grep -xE 'cmd/w2vcl|train' <<<"$packages") $(grep -vxE 'cmd/w2vcl|train' <<<"$packages"); do
				echo "tests|$package|$package|600|env|GOMAXPROCS=4|$work/tests/${package//\//-}.test|-test.timeout=10m|-test.paniconexit0"
			done
		done
		if ((RANDOMIZED > 0)); then
			local atATime=$((RANDOMIZED < 25 ? RANDOMIZED : 25))
			for part in $(seq 1 $((RANDOMIZED / atATime))); do
				while read -r package target; do
					echo "randomized|$package $target|$package|600|env|GOMAXPROCS=4|W2VCL_DAMAGED_COPIES=20|$work/tests/${package//\//-}.test|-test.run=^$target\$|-test.count=$atATime|-test.timeout=10m"
				done <"$work/randomized"
			done
		fi
	} >"$work/queue"
	awk -F'|' -v work="$work" '{ print $2 >work "/" $1 ".expected" }' "$work/queue"
	tr '\n' '\0' <"$work/queue" | xargs -0 -P "$JOBS" -I{} bash -c 'IFS="|" read -ra job <<<"$1"; here "${job[@]}"' - {}
	for package in "${pids[@]}"; do wait "$package" || true; done
	if tar -cJf "$results/logs.tar.xz" -C "$work/kept" .; then :; fi
	if tar -cJf "$results/corpus.tar.xz" -C "$work/corpus" .; then :; fi
	report | tee "$results/report.txt"
}

# report prints the tables. Its status is that of all parts. RESULTS has what it prints, what
# failed tests and all torture said (logs.tar.xz), and inputs that crashed (crashers.tar.gz).
report() {
	local status=0 table
	# What has no line in its table ended before it could write one.
	for table in fuzz torture tests randomized; do
		[[ -s $work/$table.expected ]] || continue
		touch "$work/$table.tsv"
		awk -F'\t' -v fields="$([[ $table == fuzz ]] && printf '\t\t')" 'FILENAME == ARGV[1] { n[$NF]++; next }
			$0 != "" && n[$0]-- <= 0 { printf "FAILED\t0%s\t%s\n", fields, $0; print "no line of its own: " $0 >"/dev/stderr" }' \
			"$work/$table.tsv" "$work/$table.expected" 2>&1 >"$work/$table.missing"
		cat "$work/$table.missing" >>"$work/$table.tsv"
	done
	if [[ -s $work/fuzz.tsv ]]; then
		echo; echo "fuzz targets (outcome, seconds, executions, inputs of interest, target)"
		sort -k5 -t$'\t' "$work/fuzz.tsv" 
		(cd "$work/fuzztree" && find . -path '*/testdata/fuzz/*' -type f -newer "$work/begun" | tar -czf "$results/crashers.tar.gz" -T - && tar -tzf "$results/crashers.tar.gz")
	fi
	for table in torture tests randomized; do
		[[ -s $work/$table.tsv ]] || continue
		echo; echo "$table (ok, failed, not run, seconds in all, name)"
		awk -F'\t' '{ n[$3]; c[$3, $1]++; s[$3] += $2 } END { for (k in n) printf "%d\t%d\t%d\t%d\t%s\n", c[k, "ok"], c[k, "FAILED"], c[k, "not run"], s[k], k }' "$work/$table.tsv" |
			sort -t$'\t' -k2,2nr -k4,4nr
	done
	if [[ -s $work/kept/torture.log ]]; then
		echo; echo "torture, all processes (tries, interrupted in time, resumed, losses)"
		awk '/^ *(command|disturbance) +tries/ { on = 1; next } on && NF < 5 { on = 0 } on { name = $1; for (i = 2; i <= NF - 4; i++) name = name " " $i; n[name]; for (i = 0; i < 4; i++) sum[name, i] += $(NF - 3 + i) }
			END { delete n["all"]; for (k in n) printf "%6d %6d %6d %6d  %s\n", sum[k, 0], sum[k, 1], sum[k, 2], sum[k, 3], k }' "$work/kept/torture.log" | sort -k5
	fi
	! grep -qE '^FAILED' "$work"/*.tsv || status=1
	echo; awk -F'\t' '{ c[$1]++ } END { for (k in c) printf "%s: %d  ", k, c[k]; print "" }' "$work"/*.tsv
	exit "$status"
}

case ${1:-} in
build)
	(($# == 2)) || usage
	build "$2"
	;;
run)
	(($# == 4)) || usage
	run "$2" "$3" "$4"
	;;
randomized) randomized ;;
*) usage ;;
esac
