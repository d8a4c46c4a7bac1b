// The codes that TestTree expects: printed by word2vec.c itself (github.com/tmikolov/word2vec).
//   cc -w -I DIR_OF_WORD2VEC -o codes codes.c -lm -lpthread && ./codes
#define main word2vec_main
#include "word2vec.c"
#undef main

int main(void) {
  static const int counts[] = {40, 35, 20, 17, 11, 9, 6, 6, 5, 2, 2};
  vocab_size = sizeof counts / sizeof *counts;
  vocab = calloc(vocab_size, sizeof *vocab);
  for (int a = 0; a < vocab_size; a++) {
    vocab[a].cn = counts[a];
    vocab[a].point = calloc(MAX_CODE_LENGTH, sizeof(int));
    vocab[a].code = calloc(MAX_CODE_LENGTH, sizeof(char));
  }
  CreateBinaryTree();
  for (int a = 0; a < vocab_size; a++) {
    for (int b = 0; b < vocab[a].codelen; b++) printf("%d", vocab[a].code[b]);
    printf(a + 1 < vocab_size ? " " : "\n");
  }
}
