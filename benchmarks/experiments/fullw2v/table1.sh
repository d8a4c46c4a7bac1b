# title: FULL-W2V, tables 1 to 3: speed of making batches, the machine, the text
. "$(dirname "$0")/../common.sh"

# Table 1: w2vcl makes no batches on the host: the text is encoded once, and kernels read it.
"$W2VCL" doctor
time "$W2VCL" corpus build "${text[@]}" --cache "$OUT/encoded"
"$W2VCL" corpus info "$OUT"/encoded/*
