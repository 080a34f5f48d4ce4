// The three products of a tile, blocked for the registers of this instruction set. Part of engine.h.
//
// ROW_STEP and COLUMN_STEP (engine.h) are multiples of the blocks; what is beyond the tile is padding.

constexpr int PANEL = 2 * LANES;
constexpr int SCORE_ROWS = LANES == 16 ? 12 : 6;

// Columns (rows of `source`) in panels of PANEL columns, each with its channels one after the other.
inline void pack_registers(int columns, int depth, const float *source, int64_t stride, float *packed) {
  for (int panel = 0; panel < columns; panel += PANEL)
    for (int j = 0; j < PANEL; j++)
      for (int k = 0; k < depth; k++) packed[(panel * depth) + k * PANEL + j] = source[(panel + j) * stride + k];
}

KERNEL void score_block(int depth, const float *a, int64_t a_stride, const float *packed, float *c, int64_t c_stride) {
  vec total[SCORE_ROWS][2] = {};
  for (int k = 0; k < depth; k++) {
    vec x0 = load(packed + k * PANEL), x1 = load(packed + k * PANEL + LANES);
#pragma GCC unroll 12
    for (int i = 0; i < SCORE_ROWS; i++) {
      float factor = a[i * a_stride + k];
      total[i][0] += factor * x0;
      total[i][1] += factor * x1;
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < SCORE_ROWS; i++) {
    store(c + i * c_stride, total[i][0]);
    store(c + i * c_stride + LANES, total[i][1]);
  }
}

// C = A B^T: rows x columns, B packed.
inline void score_registers(int rows, int columns, int depth, const float *a, int64_t a_stride, const float *packed,
                            float *c, int64_t c_stride) {
  for (int j = 0; j < columns; j += PANEL)
    for (int i = 0; i < rows; i += SCORE_ROWS)
      score_block(depth, a + i * a_stride, a_stride, packed + j * depth, c + i * c_stride + j, c_stride);
}

template <int ROWS, int VECS, bool TRANSPOSED>
KERNEL void sum_block(int depth, const float *s, int64_t s_stride, const float *x, int64_t x_stride, float *out,
                      int64_t out_stride) {
  vec total[ROWS][VECS];
#pragma GCC unroll 12
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) total[i][v] = load(out + i * out_stride + v * LANES);
  for (int k = 0; k < depth; k++) {
    vec row[VECS];
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) row[v] = load(x + k * x_stride + v * LANES);
#pragma GCC unroll 12
    for (int i = 0; i < ROWS; i++) {
      float factor = TRANSPOSED ? s[k * s_stride + i] : s[i * s_stride + k];
#pragma GCC unroll 4
      for (int v = 0; v < VECS; v++) total[i][v] += factor * row[v];
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) store(out + i * out_stride + v * LANES, total[i][v]);
}

// Out += S X (rows x width, depth columns of S), or Out += S^T X (depth rows of S).
template <bool TRANSPOSED>
inline void sum_registers(int rows, int width, int depth, const float *s, int64_t s_stride, const float *x,
                          int64_t x_stride, float *out, int64_t out_stride) {
  constexpr int WIDE = LANES == 16 ? 4 : 2;  // vectors beside each other, with 6 rows
  const int64_t step = TRANSPOSED ? 1 : s_stride;
  for (int i = 0; i < rows; i += ROW_STEP) {
    int c = 0;
    for (; c + WIDE * LANES <= width; c += WIDE * LANES)
      for (int part = 0; part < ROW_STEP; part += 6)
        sum_block<6, WIDE, TRANSPOSED>(depth, s + (i + part) * step, s_stride, x + c, x_stride,
                                       out + (i + part) * out_stride + c, out_stride);
    if constexpr (WIDE == 4)
      for (; c + 2 * LANES <= width; c += 2 * LANES)
        sum_block<12, 2, TRANSPOSED>(depth, s + i * step, s_stride, x + c, x_stride, out + i * out_stride + c,
                                     out_stride);
    for (; c < width; c += LANES)
      sum_block<12, 1, TRANSPOSED>(depth, s + i * step, s_stride, x + c, x_stride, out + i * out_stride + c,
                                   out_stride);
  }
}
