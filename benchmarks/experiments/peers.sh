#!/usr/bin/env bash
# Builds other programs that train word vectors, runs each at its best practice on a text, and adds their
# rows to a report of w2vcl:
#
#     benchmarks/experiments/peers.sh --corpus FILE [--data DIR] [--out DIR] [--dim N] [--epochs N] [--threads N] [--seeds N] [PEER]...
#
# PEERs: word2vec gensim fasttext glove fullw2v par psgnscc pword2vec (default: all that can be had).
# word2vec, fastText and GloVe are cloned from their public repositories, or taken from the folders that
# WORD2VEC, FASTTEXT and GLOVE name; gensim is installed by pip. The others are taken from folders:
#     FULLW2V    tlranda/FULL-W2V (needs nvcc and a GPU)     PSGNSCC   vasupsu/pWord2Vec (needs MKL)
#     PAR        mipiace/HiPC_Word2Vec (needs nvcc or MKL)   PWORD2VEC IntelLabs/pWord2Vec (needs MKL)
# where the folder holds the sources as published. Environment: W2VCL, CXX, NVCC (default g++, nvcc), ARCH (of the
# GPU, default native), MODES of w2vcl beside them, DEVICE. --quick is two epochs of one seed.
# What was built is in OUT/build, vectors are in OUT/vectors: a peer whose vectors are there is not run
# again. Exit status: 0; 1 if a peer that was named, or w2vcl, failed; 2 for wrong use.
set -euo pipefail

corpus='' data=() out=reports/peers dim=128 epochs=15 threads=$(nproc) seeds=1 quick='' named=()
usage() { sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
while (($#)); do
	case $1 in
	--corpus | --data | --out | --dim | --epochs | --threads | --seeds)
		(($# > 1)) || { echo "peers.sh: $1 needs a value" >&2 && exit 2; }
		case $1 in
		--corpus) corpus=$(realpath "$2") ;;
		--data) data=(--data "$(realpath "$2")") ;;
		--out) out=$2 ;;
		--dim) dim=$2 ;;
		--epochs) epochs=$2 ;;
		--threads) threads=$2 ;;
		--seeds) seeds=$2 ;;
		esac
		shift
		;;
	--quick) quick=1 ;;
	-h | --help) usage && exit 0 ;;
	word2vec | gensim | fasttext | glove | fullw2v | par | psgnscc | pword2vec) named+=("$1") ;;
	*) echo "peers.sh: unknown: $1" >&2 && usage >&2 && exit 2 ;;
	esac
	shift
done
all=(word2vec gensim fasttext glove fullw2v par psgnscc pword2vec)
[[ $corpus ]] || { echo "peers.sh: --corpus is missing: name a plain text, words between spaces" >&2 && usage >&2 && exit 2; }
[[ -r $corpus ]] || { echo "peers.sh: --corpus $corpus: there is no such file" >&2 && exit 2; }
case $corpus in
*.gz | *.xz | *.zst | *.bz2) echo "peers.sh: --corpus $corpus: other programs read plain text only: decompress it first" >&2 && exit 2 ;;
esac
if [[ $quick ]]; then epochs=$((epochs < 2 ? epochs : 2)) seeds=1; fi
: "${W2VCL:=w2vcl}" "${CXX:=g++}" "${NVCC:=nvcc}" "${ARCH:=native}" "${MODES:=cl,pword2vec,word2vec}" "${DEVICE:=cpu}"
command -v "$W2VCL" >/dev/null || { echo "peers.sh: there is no program $W2VCL: build it with 'make build' and say W2VCL=bin/w2vcl" >&2 && exit 1; }
mkdir -p "$out/build" "$out/vectors"
out=$(realpath "$out")

# The settings that all share: window 5, 5 negatives, sample 1e-4, words of 5 and more.
window=5 negative=5 sample=1e-4 mincount=5

why='' # why a peer cannot be had
skip() { why=$*; return 1; }
has() { command -v "$1" >/dev/null || skip "there is no $1: install it"; }

# sources NAME VARIABLE REPOSITORY: a copy of the sources in $out/build/NAME.
sources() {
	local name=$1 folder=${!2:-} repository=$3
	[[ -e $out/build/$name/.ready ]] && return
	rm -rf "${out:?}/build/$name"
	if [[ $folder ]]; then
		[[ -d $folder ]] || { skip "$2=$folder: there is no such folder"; return 1; }
		cp -r "$folder" "$out/build/$name"
	elif [[ $repository ]]; then
		has git || return 1
		git clone --quiet --depth 1 "https://github.com/$repository" "$out/build/$name" 2>"$out/build/$name.log" ||
			{ skip "cannot clone $repository ($(tail -1 "$out/build/$name.log")): name a folder with its sources, $2=DIR"; return 1; }
	else
		skip "name a folder with its sources, $2=DIR"
		return 1
	fi
	touch "$out/build/$name/.ready"
}

# find_file NAME FILE: the path of a source file, wherever the repository has it.
find_file() {
	find "$out/build/$1" -name "$2" -print | head -1 | grep . || skip "its sources have no $2"
}

# compile NAME COMMAND...: runs the compiler; its last words are the reason of a failure.
compile() {
	local name=$1
	shift
	"$@" >"$out/build/$name.log" 2>&1 || skip "it does not compile: $(grep -m1 -iE 'error|not found|cannot' "$out/build/$name.log" || tail -1 "$out/build/$name.log") (see $out/build/$name.log)"
}

# mkl sets mklflags: of MKLROOT, of the system, or of the package that pip has.
mkl() {
	local folder header library
	for folder in "${MKLROOT:-}" /opt/intel/oneapi/mkl/latest /usr "$out/build/mkl"; do
		if [[ $folder == "$out/build/mkl" && ! -d $folder/include && $(command -v python3) ]]; then
			python3 -m venv "$folder" && "$folder/bin/pip" install --quiet mkl-devel || true
		fi >"$out/build/mkl.log" 2>&1
		for header in include include/mkl; do
			library=$(find "$folder/lib" -name 'libmkl_rt.so*' 2>/dev/null | sort | head -1)
			if [[ $folder && $library && -e $folder/$header/mkl.h ]]; then
				mklflags=(-D USE_MKL -I"$folder/$header" "$library" -Wl,-rpath,"$(dirname "$library")")
				return
			fi
		done
	done
	skip "there is no MKL: install it (Debian: intel-mkl; pip: mkl-devel) or set MKLROOT"
}

# Each peer: build_PEER makes $program, train_PEER SEED FILE trains.

build_word2vec() {
	has "${CC:-gcc}" && sources word2vec WORD2VEC tmikolov/word2vec || return 1
	local source
	source=$(find_file word2vec word2vec.c) || return 1
	# As published one thread ends after one epoch: eof is not taken back. The seed is always 1: the
	# environment's SEED goes before it.
	sed -e 's/^\( *\)word_count = 0;$/\1word_count = 0; eof = 0;/' -e 's/^\( *\)char eof = 0;/\1char eof = 0;/' \
		-e 's/unsigned long long next_random = (long long)id;/unsigned long long next_random = (long long)id + (getenv("SEED") ? atoll(getenv("SEED")) * 7919 : 0);/' \
		"$source" >"$out/build/word2vec/fixed.c"
	grep -q 'eof = 0;$' "$out/build/word2vec/fixed.c" || { skip "word2vec.c is not as expected: eof cannot be mended"; return 1; }
	program=$out/build/word2vec/w2v
	compile word2vec "${CC:-gcc}" "$out/build/word2vec/fixed.c" -o "$program" -Ofast -march=native -funroll-loops -pthread -lm
}
train_word2vec() {
	SEED=$1 "$program" -train "$corpus" -output "$2" -size "$dim" -window $window -negative $negative -hs 0 -sample $sample -min-count $mincount \
		-iter "$epochs" -threads "$threads" -binary 1 -cbow 0
}

build_gensim() {
	has python3 || return 1
	program=$out/build/gensim/bin/python
	[[ -x $program ]] && "$program" -c 'import gensim' 2>/dev/null && return
	compile gensim python3 -m venv "$out/build/gensim" && compile gensim "$program" -m pip install --quiet 'gensim>=4.3'
}
train_gensim() {
	# Lines of 1,000 words, which is its longest sentence; corpus_file needs them.
	local lines=$out/build/lines.txt
	[[ -e $lines ]] || { tr -s ' \n' '\n\n' <"$corpus" | grep . | paste -d ' ' $(printf -- '- %.0s' {1..1000}) | sed 's/ *$//' >"$lines.new" && mv "$lines.new" "$lines"; }
	"$program" - "$1" "$2" "$lines" "$dim" "$epochs" "$threads" <<-PYTHON
		import sys
		from gensim.models import Word2Vec
		seed, out, lines, dim, epochs, threads = sys.argv[1:]
		m = Word2Vec(corpus_file=lines, vector_size=int(dim), window=$window, min_count=$mincount, workers=int(threads), epochs=int(epochs),
		             sg=1, negative=$negative, sample=$sample, seed=int(seed))
		m.wv.save_word2vec_format(out, binary=True)
	PYTHON
}

build_fasttext() {
	has make && has "$CXX" && sources fasttext FASTTEXT facebookresearch/fastText || return 1
	program=$out/build/fasttext/fasttext
	[[ -x $program ]] || compile fasttext make -C "$out/build/fasttext" -j "$threads" CXX="$CXX"
}
train_fasttext() {
	# Words of 3 to 6 characters as it does by default; its model is read with its n-grams.
	"$program" skipgram -input "$corpus" -output "${2%.bin}" -dim "$dim" -ws $window -neg $negative -t $sample -minCount $mincount -epoch "$epochs" \
		-thread "$threads" -lr 0.05 -seed "$1"
	rm -f "${2%.bin}.vec"
}

build_glove() {
	has make && has "${CC:-gcc}" && sources glove GLOVE stanfordnlp/GloVe || return 1
	program=$out/build/glove/build
	[[ -x $program/glove ]] || compile glove make -C "$out/build/glove"
}
train_glove() {
	local work=$out/build/glove/work
	mkdir -p "$work"
	"$program/vocab_count" -min-count $mincount <"$corpus" >"$work/vocab.txt"
	"$program/cooccur" -vocab-file "$work/vocab.txt" -window-size 10 -memory 4 -overflow-file "$work/overflow" <"$corpus" >"$work/counts"
	"$program/shuffle" -memory 4 -seed "$1" -temp-file "$work/shuffle" <"$work/counts" >"$work/shuffled"
	"$program/glove" -input-file "$work/shuffled" -vocab-file "$work/vocab.txt" -save-file "${2%.bin}" -vector-size "$dim" -iter $((epochs * 3)) \
		-threads "$threads" -x-max 10 -binary 0 -seed "$1"
	mv "${2%.bin}.txt" "$2" # text; its form is seen when it is read
	rm -rf "$work"
}

# The codes of pWord2Vec's family, with MKL on one thread in each of theirs.
build_blas() { # PEER VARIABLE FILE
	has "$CXX" && mkl && sources "$1" "$2" '' || return 1
	local source
	source=$(find_file "$1" "$3") || return 1
	sed -e 's/#pragma simd/#pragma omp simd/' "$source" >"${source%.*}-today.cpp"
	program=$out/build/$1/$1
	compile "$1" "$CXX" "${source%.*}-today.cpp" -o "$program" -std=c++11 -include cstdio -include immintrin.h -Ofast -march=native -fopenmp -fpermissive "${mklflags[@]}"
}
build_pword2vec() { build_blas pword2vec PWORD2VEC pWord2Vec.cpp; }
build_psgnscc() { build_blas psgnscc PSGNSCC pSGNScc.cpp; }
train_blas() {
	MKL_NUM_THREADS=1 "$program" -train "$corpus" -output "$2" -size "$dim" -window $window -negative $negative -sample $sample -min-count $mincount \
		-iter "$epochs" -threads "$threads" -binary 1 -alpha 0.025 -batch-size $((2 * window + 1)) "${@:3}"
}
train_pword2vec() { train_blas "$@"; }
train_psgnscc() { train_blas "$@" -C 8 -T 500000; }

build_fullw2v() {
	has "$NVCC" && sources fullw2v FULLW2V '' || return 1
	local driver
	driver=$(find_file fullw2v FULL-W2V-driver.cu) || return 1
	program=$out/build/fullw2v/full-w2v
	# Today's compiler takes no register, and a variable cannot be called sample.
	sed -i -e 's/\bregister //g' -e 's/\bsample\b/sample_rate/g' -e 's/"-sample_rate"/"-sample"/g' "$(dirname "$driver")"/*.{cu,cpp,h}
	compile fullw2v "$NVCC" -O3 -std=c++17 -arch="$ARCH" -Xptxas -dlcm=ca -Xcompiler -fopenmp,-march=native "$driver" -o "$program" -lcuda -lnvrtc -lcublas
}
train_fullw2v() {
	"$program" -train "$corpus" -output "$2" -size "$dim" -window $(((window + 1) / 2)) -negative $negative -sample $sample -min-count $mincount \
		-epoch "$epochs" -binary 1 -threads "$threads"
}

build_par() {
	sources par PAR '' || return 1
	program=$out/build/par/par
	local source
	if command -v "$NVCC" >/dev/null && nvidia-smi >/dev/null 2>&1; then
		source=$(find_file par PAR_Word2Vec_gpu_text.cu) || return 1
		sed -i -E -e 's/\b__shfl(_down|_up|_xor)?\(/__shfl\1_sync(0xffffffff, /g' "$source"
		compile par "$NVCC" -O3 -std=c++17 -arch="$ARCH" -Xcompiler -fopenmp,-march=native "$source" -o "$program" -lcurand
	else
		has "$CXX" && mkl && source=$(find_file par PAR_Word2Vec_cpu.cpp) || return 1
		sed -e 's/#pragma simd/#pragma omp simd/' "$source" >"${source%.*}-today.cpp"
		compile par "$CXX" "${source%.*}-today.cpp" -o "$program" -std=c++11 -include cstdio -include immintrin.h -Ofast -march=native -fopenmp -fpermissive "${mklflags[@]}"
	fi
}
train_par() {
	"$program" -train "$corpus" -output "$2" -size "$dim" -window $window -negative $negative -sample $sample -min-count $mincount -iter "$epochs" \
		-threads "$threads" -binary 1 -batch-size 24
}

# Their names in the report, where our modes have the plain ones.
declare -A title=([word2vec]=word2vec-c [gensim]=gensim [fasttext]=fastText [glove]=GloVe-c [fullw2v]=FULL-W2V-published [par]=PAR-published
	[psgnscc]=pSGNScc-published [pword2vec]=pWord2Vec-published)
((${#named[@]})) && peers=("${named[@]}") || peers=("${all[@]}")
failed=0 external=()
for peer in "${peers[@]}"; do
	why=''
	if ! "build_$peer"; then
		echo "$peer: left out: ${why:-it cannot be built}" >&2
		((${#named[@]})) && failed=1
		continue
	fi
	# GloVe passes over counts, not over the text: more passes help it.
	passes=$epochs
	[[ $peer == glove ]] && passes=$((epochs * 3))
	for ((seed = 1; seed <= seeds; seed++)); do
		file=$out/vectors/$peer-$seed.bin
		if [[ ! -s $file || ! -s $file.seconds ]]; then
			echo "$peer, seed $seed: training" >&2
			start=$(date +%s.%N)
			if ! "train_$peer" "$seed" "$file" >"$file.log" 2>&1; then
				echo "$peer: failed: $(tail -c 300 "$file.log" | tr '\r' '\n' | tail -1) (see $file.log)" >&2
				rm -f "$file"
				((${#named[@]})) && failed=1
				continue 2
			fi
			awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f\n", b - a }' >"$file.seconds"
		fi
		external+=(--external "${title[$peer]}=$file,seconds=$(<"$file.seconds"),epochs=$passes")
	done
done
((${#external[@]})) || { echo "peers.sh: no peer could be run" >&2 && exit 1; }

# Seconds of the peers are of the whole process; w2vcl's report has its seconds of training. Modes that
# count passes over the text get as many; cl trains by its own recipe.
variants=() budget=recipe
if [[ $quick ]]; then budget=5s; fi
for mode in ${MODES//,/ }; do
	case $mode in
	cl) own=subword=ngram ;;
	ppmi | glove) own= ;;
	*) own=epochs=$epochs,subword=none ;;
	esac
	variants+=(--variant "$mode: $own")
done
"$W2VCL" compare --corpus "$corpus" --min-count $mincount ${data[@]+"${data[@]}"} --out "$out/report" "${variants[@]}" --dim "$dim" --window $window --negative $negative --sample $sample \
	--threads "$threads" --device "$DEVICE" --seeds "$seeds" --points 1 --budget "$budget" "${external[@]}"
echo "Report: $out/report/report.html" >&2
exit $failed
