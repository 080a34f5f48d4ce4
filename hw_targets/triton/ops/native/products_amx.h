// The three products of a tile on AMX, each float32 factor split in bfloat16 parts. Part of engine.h.
//
// Three parts hold all 24 bits; of the nine partial products the six largest are taken. In weighted sums two
// parts of the weights are enough (a relative error of 2^-17 each), so five are left; those of 1 are exact.

#include "bfloat16_parts.h"
#include TILES

// Rows of a product may be left out at either end: the bits of the others do not depend on it.
constexpr bool TRIMMED = true;

constexpr int WEIGHT_PARTS = 2;
constexpr int BLOCK = 32;  // columns and depth of a block; a panel holds BLOCK columns

inline int64_t whole_blocks(int64_t count) { return (count + BLOCK - 1) / BLOCK * BLOCK; }
inline int64_t packed_floats(int64_t depth) { return (whole_blocks(depth) * PARTS + 1) / 2; }

// Working memory of a thread, never smaller than what was asked for.
template <int NUMBER>
inline uint16_t *halves(size_t count) {
  static thread_local Block block;
  static thread_local size_t size = 0;
  if (count > size) {
    if (!block.reserve((count * 2 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)) throw std::bad_alloc();
    size = count;
  }
  return reinterpret_cast<uint16_t *>(block.memory());
}

// One block of two row tiles and one or two column tiles: C (+)= the sum of the partial products.
template <int LEFT_PARTS, bool WIDE>
KERNEL void multiply_block(int64_t depth, const uint16_t *a, int64_t a_part, const uint16_t *b, float *c,
                           int64_t c_stride, bool add) {
  const int64_t row_bytes = depth * 2, panel_bytes = BLOCK * 4, b_part = depth * BLOCK;
  float *low = c + 16 * c_stride;
  if (add) {
    TILE_LOAD(0, c, c_stride * 4);
    TILE_LOAD(2, low, c_stride * 4);
    if (WIDE) TILE_LOAD(1, c + 16, c_stride * 4);
    if (WIDE) TILE_LOAD(3, low + 16, c_stride * 4);
  } else {
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
  }
  // the smallest partial products first
  for (int order = PARTS - 1; order >= 0; order--)
    for (int first = 0; first <= order && first < LEFT_PARTS; first++)
      for (int64_t k = 0; k < depth; k += BLOCK) {
        const uint16_t *left = a + first * a_part + k, *right = b + (order - first) * b_part + k * BLOCK;
        TILE_LOAD(4, left, row_bytes);
        TILE_LOAD(5, left + 16 * depth, row_bytes);
        TILE_LOAD(6, right, panel_bytes);
        TILE_DOT(0, 4, 6);
        TILE_DOT(2, 5, 6);
        if (WIDE) {
          TILE_LOAD(7, right + BLOCK, panel_bytes);
          TILE_DOT(1, 4, 7);
          TILE_DOT(3, 5, 7);
        }
      }
  TILE_STORE(0, c, c_stride * 4);
  TILE_STORE(2, low, c_stride * 4);
  if (WIDE) TILE_STORE(1, c + 16, c_stride * 4);
  if (WIDE) TILE_STORE(3, low + 16, c_stride * 4);
}

template <int LEFT_PARTS>
inline void multiply(int64_t rows, int64_t columns, int64_t depth, const uint16_t *a, const uint16_t *b, float *c,
                     int64_t c_stride, bool add) {
  configure_tiles();
  for (int64_t j = 0; j < columns; j += BLOCK)
    for (int64_t i = 0; i < rows; i += BLOCK) {
      const uint16_t *left = a + i * depth, *right = b + j * depth * PARTS;
      float *to = c + i * c_stride + j;
      j + BLOCK <= columns ? multiply_block<LEFT_PARTS, true>(depth, left, rows * depth, right, to, c_stride, add)
                           : multiply_block<LEFT_PARTS, false>(depth, left, rows * depth, right, to, c_stride, add);
    }
  TILE_RELEASE();
}

// Columns in panels of BLOCK: parts one after the other, pairs of channels interleaved.
inline void pack(int columns, int depth, const float *source, int64_t stride, float *packed) {
  const int64_t deep = whole_blocks(depth);
  for (int j = 0; j < columns; j += LANES)
    for (int64_t k = 0; k < deep; k += LANES) {
      vec block[LANES];
      for (int n = 0; n < LANES; n++) block[n] = load_some(source + (j + n) * stride + k, depth - k);
      transpose(block);
      uint16_t *to = reinterpret_cast<uint16_t *>(packed) + j / BLOCK * BLOCK * PARTS * deep + j % BLOCK * 2;
      for (int n = 0; n < LANES; n += 2)
        split_pair(block[n], block[n + 1], to + (k + n) * BLOCK, deep * BLOCK);
    }
}

inline void score_product(int rows, int columns, int depth, const float *a, int64_t a_stride, const float *packed,
                          float *c, int64_t c_stride) {
  const int64_t deep = whole_blocks(depth);
  uint16_t *left = halves<0>(PARTS * rows * deep);
  for (int i = 0; i < rows; i++)
    for (int64_t k = 0; k < deep; k += LANES)
      split_row<PARTS>(load_some(a + i * a_stride + k, depth - k), left + i * deep + k, rows * deep);
  multiply<PARTS>(rows, columns, deep, left, reinterpret_cast<const uint16_t *>(packed), c, c_stride, false);
}

// S or its transpose in two parts, rows x depth.
template <bool TRANSPOSED>
inline void split_weights(int rows, int depth, const float *s, int64_t stride, uint16_t *to) {
  const int64_t part_stride = int64_t(rows) * depth;
  for (int i = 0; i < rows; i += LANES)
    for (int k = 0; k < depth; k += LANES) {
      vec block[LANES];
      for (int n = 0; n < LANES; n++)
        block[n] = load(TRANSPOSED ? s + (k + n) * stride + i : s + (i + n) * stride + k);
      if (TRANSPOSED) transpose(block);
      for (int n = 0; n < LANES; n++) split_row<WEIGHT_PARTS>(block[n], to + (i + n) * depth + k, part_stride);
    }
}

template <bool TRANSPOSED>
inline void sum_product(int rows, int width, int depth, const float *s, int64_t s_stride, const float *x,
                        int64_t x_stride, float *out, int64_t out_stride) {
  const int64_t wide = whole_blocks(width);
  uint16_t *left = halves<1>(WEIGHT_PARTS * rows * depth), *right = halves<2>(PARTS * wide * depth);
  split_weights<TRANSPOSED>(rows, depth, s, s_stride, left);
  for (int64_t c = 0; c < wide; c += LANES)
    for (int k = 0; k < depth; k += 2) {
      vec even = load_some(x + k * x_stride + c, width - c), odd = load_some(x + (k + 1) * x_stride + c, width - c);
      uint16_t *to = right + c / BLOCK * BLOCK * PARTS * depth + k * BLOCK + c % BLOCK * 2;
      split_pair(even, odd, to, int64_t(depth) * BLOCK);
    }
  multiply<WEIGHT_PARTS>(rows, width, depth, left, right, out, out_stride, true);
}
