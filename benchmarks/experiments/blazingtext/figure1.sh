# title: BlazingText, figures 1 and 2: speed of skip-gram and CBOW by the number of GPUs (threads without a GPU)
. "$(dirname "$0")/../common.sh"

epochs=20
if [[ $QUICK ]]; then epochs=1; fi
by_devices skipgram --preset blazingtext --model sg --epochs $epochs
by_devices cbow --preset blazingtext --model cbow --epochs $epochs
