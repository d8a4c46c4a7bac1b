// FULL-W2V whose sentences come in pieces: composed rows have short units, of so few sentences that most
// of a GPU would be idle. Kernels are those of fullw2v.cu, in their bounded form.
#include "windows.cuh"

#define PIECE(train, name, many, F, E, T, C) \
	name##_##F##_##E##_##T##_##C(const __grid_constant__ PieceArgs a) { \
		train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, const Kept &k, float rate) { \
			return Trained{sentence<F, E, T, C, many, true, false, Lifetime<F, E>, Chunks<F, E>, true>(a, epoch, first, kept, k.n, rate, k.from, k.end), contexts(a, kept, k) * (1 + a.negatives)}; \
		}); \
	}
#define ALONE_PIECES(F, E, T, C, warps) extern "C" __global__ void __launch_bounds__(32, warps) PIECE(trainPieces, pieces, false, F, E, T, C)
#define TEAM_PIECES(F, E, T, C, warps) extern "C" __global__ void __launch_bounds__(32 * warps) PIECE(trainPiecesBlock, pieces_team, true, F, E, T, C)

ALONE_PIECES(1, 0, 6, 6, 12)
ALONE_PIECES(1, 0, 6, 5, 12)
ALONE_PIECES(2, 0, 6, 6, 8)
ALONE_PIECES(2, 0, 6, 5, 8)
ALONE_PIECES(2, 2, 6, 6, 8)
ALONE_PIECES(2, 2, 6, 5, 8)
ALONE_PIECES(3, 0, 6, 6, 8)
ALONE_PIECES(3, 0, 6, 5, 8)
ALONE_PIECES(1, 0, 11, 2, 8)
ALONE_PIECES(1, 0, 16, 2, 8)
TEAM_PIECES(2, 0, 6, 6, 8)
TEAM_PIECES(2, 0, 6, 5, 8)
TEAM_PIECES(1, 0, 11, 2, 12)
TEAM_PIECES(1, 1, 11, 2, 8)
TEAM_PIECES(1, 0, 16, 2, 8)
TEAM_PIECES(1, 1, 16, 2, 8)
