# title: W2V-CL, figures 9, 18 and 21: speed by the number of GPUs (threads without a GPU), words and characters
. "$(dirname "$0")/../common.sh"

# The published batch is the vocabulary; an iteration has two steps.
iterations=4096
if [[ $QUICK ]]; then iterations=64; fi
by_devices cl --preset paper --mode cl --iterations $iterations --contexts $iterations
by_devices cnn --preset paper --mode cl --subword cnn --iterations $((iterations / 8)) --contexts $iterations
# Several GPUs train the CNN over characters alone.
by_devices characters --mode cl --model sg --subword cnn --dim 300 --iterations $((iterations / 4))
