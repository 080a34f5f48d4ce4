// Filling a Head from the problem, tile by tile. Part of engine.h.

// A product form needs |a|^2 c max(1, w) <= this: rounding then moves u by a few 2^-24 (|a| + |b|)^2, and a
// pair that can lock has |b| <= |a| + 1 in units of the lock radius, so by less than 1e-5.
constexpr float PRODUCT_LIMIT = 8.0f;
// The lock radius, enlarged by far more than rounding, beyond which a whole row of a tile is left out.
constexpr float REACH_MARGIN = 1.001f;

// to = x - centre for one token, both in two parts; returns the squared norm of what was stored.
inline float centre_row(const Head &head, int64_t token, int64_t centre, float *to) {
  const float *high = head.high + token * head.depth, *from = head.high + centre * head.depth;
  vec norm = {};
  for (int k = 0; k < head.depth; k += LANES) {
    vec x = load(high + k) - load(from + k);
    if (head.low) x += load(head.low + token * head.depth + k) - load(head.low + centre * head.depth + k);
    store(to + k, x);
    norm += x * x;
  }
  return sum(norm);
}

// Row `token` of a (tokens, given) matrix to a padded row; zeros where the token takes no part.
inline void copy_row(const float *from, int64_t token, int64_t given, float *to, int64_t wide, bool present) {
  std::memset(to, 0, wide * sizeof(float));
  if (present) std::memcpy(to, from + token * given, given * sizeof(float));
}

inline void prepare_token(const Head &head, int64_t i) {
  const Problem &p = head.problem;
  const uint8_t *valid = p.valid ? p.valid + head.index / p.heads * p.tokens : nullptr;
  const bool present = i < p.tokens && (!valid || valid[i]);
  const int64_t first = head.index * p.tokens;
  head.present[i] = present;
  copy_row(p.high + first * p.channels, i, p.channels, head.high + i * head.depth, head.depth, present);
  if (p.low) copy_row(p.low + first * p.channels, i, p.channels, head.low + i * head.depth, head.depth, present);
  copy_row(p.values + first * p.width, i, p.width, head.values + i * head.stride, head.width, present);
  const int64_t row = head.row(i < p.tokens ? i : 0);
  const float c = p.scale[row], w = p.selectivity[row];
  head.scale[i] = c;
  head.limit[i] = p.direct || p.law[row] == EQUALITY ? -1.0f : PRODUCT_LIMIT / (c * std::fmax(1.0f, w));
  head.reach[i] = p.law[row] == EQUALITY ? 0.0f : REACH_MARGIN / std::sqrt(c);
}

inline void prepare_tile(const Head &head, Scratch &scratch, int64_t tile) {
  const int64_t size = head.problem.tile, first = tile * size;
  int64_t centre = -1;
  for (int64_t i = first; i < first + size; i++) {
    prepare_token(head, i);
    if (centre < 0 && head.present[i]) centre = i;
  }
  head.centre[tile] = centre;
  head.tile_reach[tile] = -1.0f;
  if (centre < 0) return;
  float largest = 0.0f;
  for (int64_t j = 0; j < size; j++) {
    float *b = scratch.column_centred + j * head.depth;
    const bool present = head.present[first + j];
    if (present) {
      head.column_norm[first + j] = centre_row(head, first + j, centre, b);
      largest = std::fmax(largest, head.column_norm[first + j]);
    } else {
      head.column_norm[first + j] = INFINITY;
    }
    for (int k = 0; k < head.depth; k++) b[k] = present ? -2.0f * b[k] : 0.0f;
  }
  head.tile_reach[tile] = std::sqrt(largest);
  pack(size, head.problem.channels, scratch.column_centred, head.depth,
       head.packed + first * packed_floats(head.problem.channels));
}
