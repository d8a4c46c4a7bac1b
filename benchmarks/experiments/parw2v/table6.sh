# title: PAR-Word2Vec, table VI: relations between words by a CNN, moods of reviews by an LSTM
. "$(dirname "$0")/../common.sh"

# SENTENCES names a folder with SemEval-2010 task 8 (TRAIN_FILE.TXT, TEST_FILE_FULL.TXT) and IMDB's reviews
# (aclImdb), as published; both are their owners'. Without it, made sets in their forms, to see that all works.
: "${SENTENCES:=}"
modes=(word2vec pword2vec psgnscc parw2v) epochs=10
if [[ $QUICK ]]; then
	SENTENCES="" epochs=1 modes=(word2vec parw2v)
elif [[ $DEVICE == cuda* ]]; then # psgnscc has no kernels
	modes=(word2vec pword2vec parw2v)
fi
if [[ ! $SENTENCES ]]; then
	SENTENCES=$OUT/made
	mkdir -p "$SENTENCES"/semeval "$SENTENCES"/aclImdb/{train,test}/{neg,pos}
	made=$(dirname "$0")/made.awk
	awk -v seed=1 -v count=400 -v what=relations -f "$made" >"$SENTENCES/semeval/TRAIN_FILE.TXT"
	awk -v seed=2 -v count=100 -v what=relations -f "$made" >"$SENTENCES/semeval/TEST_FILE_FULL.TXT"
	awk -v seed=3 -v count=100 -v what="$SENTENCES/aclImdb/train" -f "$made"
	awk -v seed=4 -v count=50 -v what="$SENTENCES/aclImdb/test" -f "$made"
fi
for mode in "${modes[@]}"; do
	"$W2VCL" train "${text[@]}" --mode "$mode" --preset parw2v --epochs $epochs --device "$DEVICE" --out "$OUT/$mode" --force --quiet
	echo "$mode:"
	"$W2VCL" eval "$OUT/$mode" --data "$SENTENCES" --task classification
done
