// The kernels of fullw2v_half.cu with both tables in float16. The ring of context words is float32 there, too.
#define HALVES
#include "fullw2v_half.cu"
