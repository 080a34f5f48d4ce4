// Output and row sums of a head. Part of engine.h.

// Both directions of a pair of tiles at once: S_ij = S_ji, so half of the scores are enough.
inline void forward_both(const Head &head, Scratch &scratch, int64_t row_tile, int64_t column_tile) {
  Pair pair(head, row_tile, column_tile);
  if (!mismatches(head, scratch, pair)) return;
  const int64_t wide = head.width, first = pair.row_first + pair.skipped;
  const int rows = pair.rows - pair.skipped;
  const float *score = scratch.score + pair.skipped * scratch.stride;
  weigh_symmetric(head, scratch, pair, head.total + pair.row_first,
                  pair.diagonal() ? nullptr : head.total + pair.column_first);
  sum_product<false>(rows, wide, pair.columns, score, scratch.stride, head.values + pair.column_first * wide, wide,
                     head.output + first * wide, wide);
  if (pair.diagonal()) return;
  sum_product<true>(rounded(pair.columns, ROW_STEP, head.problem.tile), wide, rows, score, scratch.stride,
                    head.values + first * wide, wide, head.output + pair.column_first * wide, wide);
}

// output = weighted sum / total for the wanted rows of a tile; 0 for rows that take no part.
inline void write_rows(const Head &head, int64_t row_tile, const float *output, const float *total) {
  const Problem &p = head.problem;
  const int64_t first = row_tile * p.tile, kept = p.tokens - p.first_row;
  for (int64_t i = 0; i < p.tile; i++) {
    const int64_t token = first + i;
    if (token < p.first_row || token >= p.tokens) continue;
    const int64_t to = head.index * kept + token - p.first_row;
    const float inverse = total[i] > 0.0f ? 1.0f / total[i] : 0.0f;
    p.total[to] = total[i];
    for (int64_t k = 0; k < p.width; k++) p.output[to * p.width + k] = output[i * head.width + k] * inverse;
  }
}

// One row tile against everything it may see.
inline void forward_rows(const Head &head, Scratch &scratch, int64_t row_tile) {
  const Problem &p = head.problem;
  const int64_t first = row_tile * p.tile;
  if (first + p.tile <= p.first_row) return;
  const int skip = p.first_row > first ? (p.first_row - first) / ROW_STEP * ROW_STEP : 0;
  std::memset(scratch.output, 0, p.tile * head.width * sizeof(float));
  std::memset(scratch.total, 0, p.tile * sizeof(float));
  for_columns(head, row_tile, 0, head.tiles, [&](int64_t column_tile) {
    Pair pair(head, row_tile, column_tile, skip);
    if (!mismatches(head, scratch, pair)) return;
    weigh(head, scratch, pair, scratch.total);
    if (p.dropout) drop_weights(head, scratch, pair);
    sum_product<false>(pair.rows - pair.skipped, head.width, pair.columns,
                       scratch.score + pair.skipped * scratch.stride, scratch.stride,
                       head.values + pair.column_first * head.width, head.width,
                       scratch.output + pair.skipped * head.width, head.width);
  });
  write_rows(head, row_tile, scratch.output, scratch.total);
}

inline void forward_head(const Head &head, Scratch &scratch, const Team &team, const std::vector<Unit> &units) {
  team.share(head.tiles, [&](int64_t tile) { prepare_tile(head, scratch, tile); });
  if (!head.symmetric()) {
    // the last rows see most: they come first
    team.share(head.tiles, [&](int64_t tile) { forward_rows(head, scratch, head.tiles - 1 - tile); });
    return;
  }
  team.share(head.tiles, [&](int64_t tile) {
    std::memset(head.output + tile * head.problem.tile * head.width, 0, head.problem.tile * head.width * sizeof(float));
    std::memset(head.total + tile * head.problem.tile, 0, head.problem.tile * sizeof(float));
  });
  for_units(head, team, units, [&](int64_t row_tile, int64_t column_tile) {
    if (column_tile >= row_tile) forward_both(head, scratch, row_tile, column_tile);
  });
  team.share(head.tiles, [&](int64_t tile) {
    const int64_t first = tile * head.problem.tile;
    write_rows(head, tile, head.output + first * head.width, head.total + first);
  });
}
