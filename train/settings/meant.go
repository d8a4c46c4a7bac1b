package settings

// otherModels are names of models elsewhere.
var otherModels = map[string]string{"skipgram": ModelSkipGram, "continuousbagofwords": ModelCBOW}

// otherNames say what is meant by names of other programs in place of a mode.
var otherNames = map[string]string{
	"skipgram": "that is a model: give --model sg, or --mode word2vec --model sg",
	"sg":       "that is a model: give --model sg, or --mode word2vec --model sg",
	"cbow":     "that is a model: give --model cbow, or --mode word2vec --model cbow",
	"fasttext": "give --mode word2vec --subword ngram, or leave --mode out: cl has n-grams, too",
	"gensim":   "give --mode word2vec, which trains as gensim does",
	"w2v":      "give --mode word2vec",
}
