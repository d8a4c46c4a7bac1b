# train_gensim.py TEXT sg|cbow EPOCHS SEED OUT: hierarchical softmax by gensim, with one worker.
import resource, sys
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence
text, model, epochs, seed, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
sentences = list(LineSentence(text))
alpha = .025 if model == "sg" else .05
m = Word2Vec(vector_size=100, window=5, min_count=5, sample=1e-4, workers=1, sg=model == "sg", cbow_mean=1,
             hs=1, negative=0, alpha=alpha, min_alpha=alpha * 1e-4, seed=seed)
m.build_vocab(sentences)
begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
m.train(sentences, total_examples=m.corpus_count, epochs=epochs)
print(f"user {resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin:.2f}")
m.wv.save_word2vec_format(out, binary=True)
