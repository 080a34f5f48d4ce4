// One attention call in normal form, on plain pointers. native_call.py fills it: same fields, same order.
#pragma once
#include <cstdint>

namespace oscsim {

enum Edge : int32_t { EXACT = 0, SMOOTH = 1, CLAMP = 2 };

// How S of a row is computed: degree of the polynomial (4, 6, 9), or one of these.
enum Law : int32_t { EQUALITY = -1, EXPONENTIAL = 0 };

constexpr int COEFFICIENTS = 10;

struct Problem {
  int64_t batch_heads, heads, tokens, channels, width;
  int64_t tile;       // rows and columns of a tile, a multiple of 96
  int64_t first_row;  // rows before it are not computed
  int64_t threads;
  int32_t per_row;     // c and w per row, else per head
  int32_t causal;
  int32_t direct;      // frequency differences one by one, never as a product
  int32_t edge;
  float eps;
  int32_t dropout;     // whether weights are dropped
  uint32_t threshold;  // words of the hash below it are dropped
  uint32_t seed;
  float keep_factor;   // 1/(1 - p)

  const float *high, *low;  // frequencies as high + low (low may be null), (BH, N, D)
  const float *values;      // (BH, N, Dv)
  const float *scale;       // c, (BH, R)
  const float *selectivity; // w, (BH, R)
  const float *polynomial;  // (BH, R, COEFFICIENTS), ascending powers of z
  const int32_t *law;       // (BH, R)
  const uint8_t *valid;     // (B, N) or null
  const int32_t *row_start, *row_columns;  // tiles that can lock, or null

  float *output;  // (BH, N - first_row, Dv); read by the backward pass
  float *total;   // (BH, N - first_row)

  const float *d_output;  // (BH, N, Dv)
  float *d_omega, *d_values;
  float *d_log_scale, *d_selectivity;  // (BH, N)
};

// Entry points of an instruction set; 0, or 1 where memory is short.
struct Engine {
  int (*forward)(const Problem &);
  int (*backward)(const Problem &);
};

}  // namespace oscsim
