// The three products of a tile, by this project's own register blocks. Part of engine.h.

#include "products_registers.h"

// Rows of a product may be left out at either end: the bits of the others do not depend on it.
constexpr bool TRIMMED = true;

// Of packed columns, for each column.
inline int64_t packed_floats(int64_t depth) { return depth; }

inline void pack(int columns, int depth, const float *source, int64_t stride, float *packed) {
  pack_registers(columns, depth, source, stride, packed);
}

inline void score_product(int rows, int columns, int depth, const float *a, int64_t a_stride, const float *packed,
                          float *c, int64_t c_stride) {
  score_registers(rows, columns, depth, a, a_stride, packed, c, c_stride);
}

template <bool TRANSPOSED>
inline void sum_product(int rows, int width, int depth, const float *s, int64_t s_stride, const float *x,
                        int64_t x_stride, float *out, int64_t out_stride) {
  sum_registers<TRANSPOSED>(rows, width, depth, s, s_stride, x, x_stride, out, out_stride);
}
