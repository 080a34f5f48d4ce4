// Gradients of a head. Part of engine.h.
//
// With M_ij = c_i G_ij (of both directions together where symmetric), half of the gradient by omega is
//   sum_j M_ij (omega_j - omega_i)  for the row i   and   sum_i M_ij (omega_i - omega_j)  for the column j:
// products of M with tile-centred frequencies minus its sums times them, so that no offset cancels.

inline void prepare_gradients(const Head &head, Scratch &scratch, int64_t tile) {
  const Problem &p = head.problem;
  const int64_t first = tile * p.tile;
  const bool both = head.symmetric();
  for (int64_t n = 0; n < p.tile; n++) {
    const int64_t i = first + n, at = head.index * p.tokens + i;
    float *gradient = head.gradient + i * head.stride, delta = 0.0f;
    std::memset(gradient, 0, head.width * sizeof(float));
    if (head.present[i]) {
      const float inverse = p.total[at] > 0.0f ? 1.0f / p.total[at] : 0.0f;
      for (int64_t k = 0; k < p.width; k++) {
        gradient[k] = p.d_output[at * p.width + k] * inverse;
        delta += gradient[k] * p.output[at * p.width + k];
      }
    }
    head.delta[i] = delta;
    if (i < p.tokens) p.d_log_scale[at] = p.d_selectivity[at] = 0.0f;
    if (!both) continue;
    float *swapped = scratch.swapped + n * head.stride;
    std::memcpy(swapped, head.values + i * head.stride, head.width * sizeof(float));
    std::memcpy(swapped + head.width, gradient, head.width * sizeof(float));
  }
  const float *source = both ? scratch.swapped : head.values + first * head.stride;
  pack(p.tile, head.stride, source, head.stride, head.packed_values + first * packed_floats(head.stride));
  std::memset(head.omega_sum + first * head.depth, 0, p.tile * head.depth * sizeof(float));
  std::memset(head.values_sum + first * head.width, 0, p.tile * head.width * sizeof(float));
}

// A row too far from the centre: its M times differences, one by one, for both ends.
inline void spread_row(const Head &head, Scratch &scratch, const Pair &pair, int i, bool columns_too) {
  const int64_t depth = head.depth, row = pair.row_first + i;
  float *slope = scratch.slope + i * scratch.stride, *own = head.omega_sum + row * depth;
  for (int j = 0; j < pair.columns; j++) {
    const int64_t column = pair.column_first + j;
    if (slope[j] == 0.0f) continue;
    float *other = head.omega_sum + column * depth;
    for (int64_t k = 0; k < depth; k += LANES) {
      vec d = load(head.high + column * depth + k) - load(head.high + row * depth + k);
      if (head.low) d += load(head.low + column * depth + k) - load(head.low + row * depth + k);
      store(own + k, load(own + k) + slope[j] * d);
      if (columns_too) store(other + k, load(other + k) - slope[j] * d);
    }
  }
  std::memset(slope, 0, pair.columns * sizeof(float));
}

// to -= factor * x
inline void subtract_scaled(float *to, float factor, const float *x, int64_t depth) {
  for (int64_t k = 0; k < depth; k += LANES) store(to + k, load(to + k) - factor * load(x + k));
}

inline void subtract_sums(const Head &head, Scratch &scratch, const Pair &pair, bool columns_too) {
  float *columns_total = scratch.column_total;
  std::memset(columns_total, 0, pair.columns * sizeof(float));
  for (int i = pair.skipped; i < pair.rows; i++) {
    vec total = {};
    const float *slope = scratch.slope + i * scratch.stride;
    for (int j = 0; j < pair.columns; j += LANES) {
      vec m = load(slope + j);
      total += m;
      store(columns_total + j, load(columns_total + j) + m);
    }
    subtract_scaled(head.omega_sum + (pair.row_first + i) * head.depth, sum(total),
                    scratch.row_centred + i * head.depth, head.depth);
  }
  if (!columns_too) return;
  for (int j = 0; j < pair.columns; j++)
    subtract_scaled(head.omega_sum + (pair.column_first + j) * head.depth, columns_total[j],
                    scratch.column_centred + j * head.depth, head.depth);
}

// Gradients by omega of both ends of a pair, from slope = M.
inline void spread_omega(const Head &head, Scratch &scratch, const Pair &pair, bool columns_too) {
  const int64_t depth = head.depth;
  for (int j = 0; j < pair.columns; j++) {
    float *b = scratch.column_centred + j * depth;
    const int64_t token = pair.column_first + j;
    if (head.present[token]) centre_row(head, token, head.centre[pair.column_tile], b);
    else std::memset(b, 0, depth * sizeof(float));
  }
  for (int i = pair.skipped; i < pair.rows; i++)
    if (scratch.way[i] != NOBODY && scratch.outside[i]) spread_row(head, scratch, pair, i, columns_too);
  subtract_sums(head, scratch, pair, columns_too);
  const int rows = pair.rows - pair.skipped;
  const float *slope = scratch.slope + pair.skipped * scratch.stride;
  sum_product<false>(rows, depth, pair.columns, slope, scratch.stride, scratch.column_centred, depth,
                     head.omega_sum + (pair.row_first + pair.skipped) * depth, depth);
  if (columns_too)
    sum_product<true>(rounded(pair.columns, ROW_STEP, head.problem.tile), depth, rows, slope, scratch.stride,
                      scratch.row_centred + pair.skipped * depth, depth, head.omega_sum + pair.column_first * depth,
                      depth);
}

template <bool BOTH>
inline void backward_pair(const Head &head, Scratch &scratch, int64_t row_tile, int64_t column_tile) {
  Pair pair(head, row_tile, column_tile);
  if (!mismatches(head, scratch, pair)) return;
  const int64_t stride = head.stride, wide = head.width, first = pair.row_first + pair.skipped;
  const int rows = pair.rows - pair.skipped;
  const float *score = scratch.score + pair.skipped * scratch.stride;
  score_product(rows, pair.columns, stride, head.gradient + first * stride, stride,
                head.packed_values + pair.column_first * packed_floats(stride),
                scratch.slope + pair.skipped * scratch.stride, scratch.stride);
  gradient_rows_by_edge<BOTH>(head, scratch, pair);
  const bool columns_too = !BOTH || !pair.diagonal();
  if (BOTH)
    sum_product<false>(rows, wide, pair.columns, score, scratch.stride, head.gradient + pair.column_first * stride,
                       stride, head.values_sum + first * wide, wide);
  if (columns_too)
    sum_product<true>(rounded(pair.columns, ROW_STEP, head.problem.tile), wide, rows, score, scratch.stride,
                      head.gradient + first * stride, stride, head.values_sum + pair.column_first * wide, wide);
  spread_omega(head, scratch, pair, columns_too);
}

inline void write_gradients(const Head &head, int64_t tile) {
  const Problem &p = head.problem;
  for (int64_t i = tile * p.tile; i < std::min((tile + 1) * p.tile, p.tokens); i++) {
    const int64_t to = head.index * p.tokens + i;
    for (int64_t k = 0; k < p.channels; k++) p.d_omega[to * p.channels + k] = 2.0f * head.omega_sum[i * head.depth + k];
    for (int64_t k = 0; k < p.width; k++) p.d_values[to * p.width + k] = head.values_sum[i * head.width + k];
  }
}

inline void backward_head(const Head &head, Scratch &scratch, const Team &team, const std::vector<Unit> &units) {
  team.share(head.tiles, [&](int64_t tile) {
    prepare_tile(head, scratch, tile);
    prepare_gradients(head, scratch, tile);
  });
  const bool both = head.symmetric();
  for_units(head, team, units, [&](int64_t row_tile, int64_t column_tile) {
    if (!both) backward_pair<false>(head, scratch, row_tile, column_tile);
    else if (column_tile >= row_tile) backward_pair<true>(head, scratch, row_tile, column_tile);
  });
  team.share(head.tiles, [&](int64_t tile) { write_gradients(head, tile); });
}
