// One head, laid out for tiles: frequencies, their tile-centred packed copy, values, sums. Part of engine.h.
//
// Everything is padded with zeros to whole tiles and whole vectors; tokens that take no part are zeros too.

struct Head {
  const Problem &problem;
  int64_t index = 0;  // batch and head
  int64_t tiles, padded;
  int depth, width;  // channels and value width in whole vectors of 16

  float *high, *low;              // padded x depth
  float *packed, *column_norm;    // b = frequency - centre of its own tile, times -2; |b|^2, infinite if absent
  float *tile_reach;              // largest |b| of a tile; negative if nobody is present
  int64_t *centre;                // the first token of a tile that takes part
  uint8_t *present;               // padded
  float *scale, *limit, *reach;   // c; largest |a|^2 of a row for the product form; lock radius, enlarged
  float *values;                  // padded rows of `stride`
  int64_t stride;                 // of values and gradient
  float *output, *total;          // sums over sources, forwards
  // backwards only
  float *gradient;                // d_output/total; when symmetric, rows hold [gradient | V] beside each other
  float *delta;                   // sum over channels of gradient * output
  float *packed_values;           // V for gradient . V; when symmetric [V | gradient] for both directions at once
  float *omega_sum, *values_sum;  // accumulated gradients

  explicit Head(const Problem &p)
      : problem(p),
        tiles((p.tokens + p.tile - 1) / p.tile),
        padded(tiles * p.tile),
        depth((p.channels + 15) / 16 * 16),
        width((p.width + 15) / 16 * 16) {}

  // S_ij = S_ji, and the same weights: one visit of a pair of tiles serves both ends.
  bool symmetric() const {
    return !problem.causal && !problem.per_row && problem.first_row == 0 && !problem.dropout;
  }
  void lay_out(Arena &arena, bool backward);
  int64_t row(int64_t i) const { return problem.per_row ? index * problem.tokens + i : index; }
  const float *column_norm_of(int64_t tile) const { return column_norm + tile * problem.tile; }
};

inline void Head::lay_out(Arena &arena, bool backward) {
  high = arena.take<float>(padded * depth);
  low = problem.low ? arena.take<float>(padded * depth) : nullptr;
  packed = arena.take<float>(padded * packed_floats(problem.channels));
  column_norm = arena.take<float>(padded);
  tile_reach = arena.take<float>(tiles);
  centre = arena.take<int64_t>(tiles);
  present = arena.take<uint8_t>(padded);
  scale = arena.take<float>(padded);
  limit = arena.take<float>(padded);
  reach = arena.take<float>(padded);
  stride = width;
  if (!backward) {
    bool sums = symmetric();
    values = arena.take<float>(padded * width);
    output = sums ? arena.take<float>(padded * width) : nullptr;
    total = sums ? arena.take<float>(padded) : nullptr;
    return;
  }
  bool both = symmetric();
  if (both) stride = 2 * width;
  gradient = arena.take<float>(padded * stride);
  values = both ? gradient + width : arena.take<float>(padded * stride);
  packed_values = arena.take<float>(padded * packed_floats(stride));
  delta = arena.take<float>(padded);
  omega_sum = arena.take<float>(padded * depth);
  values_sum = arena.take<float>(padded * width);
}
