#!/usr/bin/env bash
# Trains vectors of the nodes of a graph with w2vcl and with other programs, and scores them by the labels of the
# nodes and by edges that were held out:
#
#     benchmarks/experiments/graphs.sh --graph FILE [--labels FILE] [--out DIR] [--holdout FRACTION] [--dim N] [--epochs N] [--threads N]
#         [--seeds N] [PROGRAM]...
#
# The graph is undirected and has no weights. All programs make 10 walks of 80 nodes from each node (p and q 1), with window 10
# (PyTorch Geometric: 10 places forward). Subsampling is gensim's default, 1e-3, where there is any. PROGRAMs (default:
# all but the last two):
#     word2vec pword2vec   modes of w2vcl
#     pecanpy              PecanPy and gensim, in the mode that PecanPy recommends (FirstOrderUnweighted)
#     deepwalk node2vec    karateclub: CBOW with a hierarchical softmax and negatives
#     pyg                  PyTorch Geometric's Node2Vec, with the optimizer, rate and batches of its example
#     pecanpy-otf          PecanPy's SparseOTF, its mode for large sparse graphs
#     pyg-example          as pyg, but with the walks of the example, of 20 nodes, and its 100 epochs (or PYG_EPOCHS)
# pip installs the other programs into BUILD (default OUT/build). PyTorch Geometric takes several GB and compiles
# torch-cluster for its walks.
# Environment: W2VCL, BUILD, LIMIT (seconds of one training, default 3600). OUT/graphs.tsv is the report: seconds of
# the processors (user and system, of the whole process) and scores. What was trained in OUT (default reports/graphs) is
# not trained again, and OUT is refused for another graph or other settings.
# Exit status: 0; 1 if a program failed; 2 for wrong use.
set -euo pipefail
export LC_ALL=C

graph='' labels='' out=reports/graphs holdout=0.1 dim=128 epochs=1 threads=$(nproc) seeds=1 named=()
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
fail() { echo "graphs.sh: $2" >&2 && exit "$1"; }
while (($#)); do
	case $1 in
	--graph | --labels | --out | --holdout | --dim | --epochs | --threads | --seeds)
		(($# > 1)) || fail 2 "$1 needs a value"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	-h | --help) usage && exit 0 ;;
	word2vec | pword2vec | pecanpy | pecanpy-otf | deepwalk | node2vec | pyg | pyg-example) named+=("$1") ;;
	*) usage >&2 && fail 2 "unknown: $1" ;;
	esac
	shift
done
((${#named[@]})) || named=(word2vec pword2vec pecanpy deepwalk node2vec pyg)
[[ $graph ]] || { usage >&2 && fail 2 "--graph is missing: name the edges of a graph"; }
for file in "$graph" ${labels:+"$labels"}; do
	[[ -r $file ]] || fail 2 "--graph and --labels: cannot read '$file'"
done
: "${W2VCL:=w2vcl}" "${BUILD:=$out/build}" "${LIMIT:=3600}"
[[ $seeds =~ ^[1-9][0-9]*$ ]] || fail 2 "--seeds: '$seeds' is not a number of seeds"
command -v "$W2VCL" >/dev/null || fail 1 "there is no program $W2VCL: build it with 'make build' and say W2VCL=bin/w2vcl"
mkdir -p "$out" "$BUILD"
walks=10 length=80 window=10 sample=1e-3

settings="$(realpath "$graph" ${labels:+"$labels"} | tr '\n' ' ')holdout $holdout, dim $dim, epochs $epochs, ${PYG_EPOCHS:-100} of the example"
if [[ -e $out/settings ]]; then
	[[ $(<"$out/settings") == "$settings" ]] || fail 2 "--out: '$out' has runs with other settings: $(<"$out/settings")"
else
	echo "$settings" >"$out/settings"
fi

# The edges of one task are all of them; of the other, those that were not held out. A line has two nodes.
if [[ ! -s $out/nodes.edges ]]; then
	"$W2VCL" walk "$graph" --holdout "$holdout" --holdout-out "$out/links.pairs" --rest-out "$out/rest.txt" --force
	grep -v '^#' "$out/rest.txt" | tr ' ' '\t' >"$out/links.edges"
	awk '$3 == 1 { print $1 "\t" $2 }' "$out/links.pairs" | cat "$out/links.edges" - >"$out/nodes.new"
	mv "$out/nodes.new" "$out/nodes.edges"
fi

python() { "$BUILD/$environment/bin/python" "$@"; }
python_within_limit() { timeout "$LIMIT" "$BUILD/$environment/bin/python" "$@"; }
# install NAME MODULES PACKAGES...: makes a virtual environment unless it has the modules. pip installs each list of PACKAGES.
install() {
	environment=$1
	python -c "import $2" 2>/dev/null && return
	echo "$1: installing" >&2
	{ python3 -m venv "$BUILD/$1" && for packages in "${@:3}"; do
		# shellcheck disable=SC2086 # packages are words
		python -m pip install --quiet $packages || return
	done; } >"$BUILD/$1.log" 2>&1
}
install_pecanpy() { install pecanpy pecanpy 'pecanpy==2.0.9 gensim==4.4.0 numba==0.68.1 numpy==1.26.4 scipy==1.17.1'; }
# The dependencies that karateclub names have no wheels for today's Python.
install_karateclub() {
	install karateclub karateclub \
		'gensim==4.4.0 networkx==3.6.1 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 tqdm==4.70.1 python-louvain==0.16 scikit-learn==1.9.1 pygsp==0.6.1 decorator==5.3.1 six==1.17.0' '--no-deps karateclub==1.3.3'
}
install_pyg() {
	install pyg 'torch_cluster, torch_geometric' 'torch==2.5.1 numpy==2.2.6 scipy==1.17.1 setuptools==80.9.0 wheel==0.45.1 torch_geometric==2.6.1' '--no-build-isolation torch-cluster==1.6.3'
}

# train_... EDGES VECTORS SEED
train_w2vcl() { # MODE first
	timeout "$LIMIT" "$W2VCL" train --mode "$1" --graph "$2" --out "$3" --seed "$4" --dim "$dim" --epochs "$epochs" --threads "$threads" --walks $walks --walk-length $length \
		--window $window --sample $sample --force --quiet
}
train_pecanpy() { # MODE first
	python_within_limit -c 'from pecanpy.cli import main; main()' --mode "$1" --input "$2" --output "$3" --random_state "$4" --dimensions "$dim" --epochs "$epochs" \
		--workers "$threads" --num-walks $walks --walk-length $length --window-size $window --p 1 --q 1
}
# Both Python libraries number the nodes from 0 on. The function read() gives these numbers, write() the names again.
names=$(
	cat <<-'PYTHON'
		import sys
		edges, out, seed, dim, epochs, threads, walks, length, window = [a if i < 2 else int(a) for i, a in enumerate(sys.argv[1:])]
		numbers = {}
		def read():
		    return [[numbers.setdefault(n, len(numbers)) for n in line.split()] for line in open(edges)]
		def write(vectors):
		    with open(out, "w") as f:
		        print(*vectors.shape, file=f)
		        for name, vector in zip(numbers, vectors):
		            print(name, *vector, file=f)
	PYTHON
)
train_karateclub() { # CLASS first
	python_within_limit -c "$names"$'\n'"$(
		cat <<-PYTHON
			import karateclub, networkx
			pairs = read()
			graph = networkx.Graph()
			graph.add_nodes_from(range(len(numbers)))
			graph.add_edges_from(pairs)
			model = karateclub.$1(walk_number=walks, walk_length=length, dimensions=dim, workers=threads, window_size=window, epochs=epochs, seed=seed)
			model.fit(graph)
			write(model.get_embedding())
		PYTHON
	)" "${@:2}" "$dim" "$epochs" "$threads" $walks $length $window
}
train_pyg() {
	python_within_limit -c "$names"$'\n'"$(
		cat <<-'PYTHON'
			import torch
			from torch_geometric.nn import Node2Vec
			torch.manual_seed(seed)
			torch.set_num_threads(threads)
			one = torch.tensor(read()).t()
			model = Node2Vec(torch.cat([one, one.flip(0)], 1).unique(dim=1), embedding_dim=dim, walk_length=length, context_size=window, walks_per_node=walks,
			                 num_negative_samples=1, p=1.0, q=1.0, sparse=True)
			optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
			for epoch in range(epochs):
			    for positive, negative in model.loader(batch_size=128, shuffle=True):
			        optimizer.zero_grad()
			        loss = model.loss(positive, negative)
			        loss.backward()
			        optimizer.step()
			    print(epoch, float(loss))
			write(model().detach().numpy())
		PYTHON
	)" "$1" "$2" "$3" "$dim" "${4:-$epochs}" "$threads" $walks "${5:-$length}" $window
}
train() {
	case $program in
	*word2vec) train_w2vcl "$program" "$@" ;;
	pecanpy) train_pecanpy FirstOrderUnweighted "$@" ;;
	pecanpy-otf) train_pecanpy SparseOTF "$@" ;;
	deepwalk) train_karateclub DeepWalk "$@" ;;
	node2vec) train_karateclub Node2Vec "$@" ;;
	pyg) train_pyg "$@" ;;
	pyg-example) train_pyg "$@" "${PYG_EPOCHS:-100}" 20 ;;
	esac
}

# scores TASK VECTORS: prints the scores as JSON.
scores() {
	if [[ $1 == nodes ]]; then
		"$W2VCL" eval "$2" --task nodes --data "$labels" --ratios 0.5 --json --quiet
	else
		"$W2VCL" eval "$2" --task links --data "$out/links.pairs" --graph "$out/links.edges" --json --quiet
	fi
}

# run TASK SEED: trains and scores $program, unless that was done.
run() {
	local name=$out/$1-$program-$2 TIMEFORMAT='%U %S'
	[[ -s $name.json ]] && return
	echo "$1, $program, seed $2" >&2
	rm -rf "$name.vectors"
	if ! { time train "$out/$1.edges" "$name.vectors" "$2" >"$name.log" 2>&1; } 2>"$name.time"; then
		echo "graphs.sh: $program: failed: $(tail -c 300 "$name.log" | tail -1) (see $name.log)" >&2
		return 1
	fi
	scores "$1" "$name.vectors" >"$name.new" && mv "$name.new" "$name.json"
}

failed=0
for program in "${named[@]}"; do
	case $program in
	pecanpy*) install_pecanpy ;;
	deepwalk | node2vec) install_karateclub ;;
	pyg*) install_pyg ;;
	esac || { echo "graphs.sh: $program: cannot be installed, see $BUILD/$environment.log" >&2 && failed=1 && continue; }
	for ((seed = 1; seed <= seeds; seed++)); do
		if [[ $labels ]]; then run nodes "$seed" || failed=1; fi
		run links "$seed" || failed=1
	done
done

# columns RUN METRIC...: the seconds of the processors and the scores of a run, or empty columns.
columns() {
	if [[ ! -s $1.json ]]; then
		printf '\t%.0s' "$@"
		return
	fi
	awk '{ printf "\t%.1f", $1 + $2 }' "$1.time"
	for metric in "${@:2}"; do
		tr '{' '\n' <"$1.json" | awk -F '"score":' -v metric="\"metric\":\"$metric\"" 'index($0, metric) { printf "\t%.4f", $2; found = 1 } END { exit !found }' ||
			fail 1 "$1.json has no $metric"
	done
}
{
	printf 'program\tseed\tprocessor seconds\tmicro-F1\tmacro-F1\tprocessor seconds, links\tcosine AUC\tHadamard AUC\tMRR\tHits@10\n'
	for program in word2vec pword2vec pecanpy pecanpy-otf deepwalk node2vec pyg pyg-example; do
		for ((seed = 1; seed <= seeds; seed++)); do
			nodes=$out/nodes-$program-$seed links=$out/links-$program-$seed
			[[ -s $nodes.json || -s $links.json ]] || continue
			printf '%s\t%s' "$program" "$seed"
			columns "$nodes" micro-f1 macro-f1
			columns "$links" cosine-auc hadamard-auc all-mrr all-hits@10
			echo
		done
	done
} >"$out/graphs.new"
mv "$out/graphs.new" "$out/graphs.tsv"
cat "$out/graphs.tsv"
exit $failed
