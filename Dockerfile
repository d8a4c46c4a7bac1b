# w2vcl in a container, for machines without a GPU, and for NVIDIA's.
#
#   docker build -t w2vcl .
#   docker build -t w2vcl:cuda --target cuda .
#   docker run --rm -v "$PWD:/work" w2vcl train --corpus wiki.txt --out runs/wiki
#   docker run --rm --gpus all -v "$PWD:/work" w2vcl:cuda train --corpus wiki.txt --device cuda --out runs/wiki
#
# The CUDA image has no CUDA in it: the driver comes from the host, the kernels are in the program.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN git config --global --add safe.directory /src

FROM build AS build-cpu
RUN .ci/packaging/binary.sh host /out/w2vcl

FROM build AS build-cuda
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
RUN .ci/packaging/binary.sh linux-amd64 /out/w2vcl

FROM debian:bookworm-slim AS cuda
COPY --from=build-cuda /out/w2vcl /usr/local/bin/w2vcl
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
ENTRYPOINT ["w2vcl"]

FROM debian:bookworm-slim AS cpu
COPY --from=build-cpu /out/w2vcl /usr/local/bin/w2vcl
WORKDIR /work
ENTRYPOINT ["w2vcl"]
