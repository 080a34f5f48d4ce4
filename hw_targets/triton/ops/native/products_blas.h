// The three products of a tile by the BLAS inside torch; where torch does not
// export that, by this project's own blocks. Part of engine.h.

#include "products_registers.h"

// BLAS may sum in another order when a product has other sizes, and the bits of a causal row must not depend on
// whether later rows can lock: no rows are left out.
constexpr bool TRIMMED = false;

// Of packed columns, for each column.
inline int64_t packed_floats(int64_t depth) { return depth; }

inline void sgemm(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int64_t lda, const float *b,
                  int64_t ldb, float beta, float *c, int64_t ldc) {
  // BLAS counts by columns: C^T = B^T A^T
  const char *first = transpose_b ? "T" : "N", *second = transpose_a ? "T" : "N";
  const int one = ldb, two = lda, three = ldc;
  const float alpha = 1.0f;
  blas_sgemm(first, second, &n, &m, &k, &alpha, b, &one, a, &two, &beta, c, &three);
}

inline void pack(int columns, int depth, const float *source, int64_t stride, float *packed) {
  if (!blas_sgemm) return pack_registers(columns, depth, source, stride, packed);
  for (int j = 0; j < columns; j++) std::memcpy(packed + j * depth, source + j * stride, depth * sizeof(float));
}

inline void score_product(int rows, int columns, int depth, const float *a, int64_t a_stride, const float *packed,
                          float *c, int64_t c_stride) {
  if (!blas_sgemm) return score_registers(rows, columns, depth, a, a_stride, packed, c, c_stride);
  sgemm(false, true, rows, columns, depth, a, a_stride, packed, depth, 0.0f, c, c_stride);
}

template <bool TRANSPOSED>
inline void sum_product(int rows, int width, int depth, const float *s, int64_t s_stride, const float *x,
                        int64_t x_stride, float *out, int64_t out_stride) {
  if (!blas_sgemm) return sum_registers<TRANSPOSED>(rows, width, depth, s, s_stride, x, x_stride, out, out_stride);
  sgemm(TRANSPOSED, false, rows, width, depth, s, s_stride, x, x_stride, 1.0f, out, out_stride);
}
