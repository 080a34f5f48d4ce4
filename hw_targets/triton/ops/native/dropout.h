// The keep mask of dropout.py, one row of a tile at a time. Part of engine.h.

inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

// scratch.keep = 1/(1 - p) where the weight stays, else 0.
inline void keep_row(const Head &head, Scratch &scratch, const Pair &pair, int i) {
  const Problem &p = head.problem;
  const uint32_t word =
      mix(mix(p.seed + uint32_t(head.index) * 0x9e3779b1u) + uint32_t(pair.row_first + i) * 0x85ebca77u);
  for (int j = 0; j < pair.columns; j++) {
    const uint32_t hash = mix(word + uint32_t(pair.column_first + j) * 0xc2b2ae3du);
    scratch.keep[j] = hash >= p.threshold ? p.keep_factor : 0.0f;
  }
}

inline void drop_weights(const Head &head, Scratch &scratch, const Pair &pair) {
  for (int i = pair.skipped; i < pair.rows; i++) {
    keep_row(head, scratch, pair, i);
    float *row = scratch.score + i * scratch.stride;
    for (int j = 0; j < pair.columns; j++) row[j] *= scratch.keep[j];
  }
}
