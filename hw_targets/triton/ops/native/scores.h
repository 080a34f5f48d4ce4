// Squared mismatch of every pair of two tiles, by a product or by differences. Part of engine.h.

// Tiles are computed up to a multiple of the register blocks.
inline int rounded(int64_t count, int64_t step, int64_t most) {
  int64_t up = (count + step - 1) / step * step;
  return up < most ? up : most;
}

struct Pair {
  int64_t row_tile, column_tile, row_first, column_first;
  int skipped, rows, columns;  // rows skipped..rows-1 are computed, with all columns

  Pair(const Head &head, int64_t row, int64_t column, int skip = 0)
      : row_tile(row), column_tile(column), row_first(row * head.problem.tile),
        column_first(column * head.problem.tile), skipped(skip),
        rows(rounded(head.problem.tokens - row_first, ROW_STEP, head.problem.tile)),
        columns(rounded(head.problem.tokens - column_first, COLUMN_STEP, head.problem.tile)) {}
  bool diagonal() const { return row_tile == column_tile; }
};

// True where no column of the tile can lock to a row at this distance from its centre; safe under rounding.
inline bool out_of_reach(float norm, float tile_reach, float reach) {
  return std::sqrt(norm) * (1.0f - 1e-5f) - tile_reach * (1.0f + 1e-5f) > reach;
}

// Centre the rows on the column tile and decide how each is computed; only those between the first and the last
// that can lock are left in the pair. False if there are none.
inline bool centre_rows(const Head &head, Scratch &scratch, Pair &pair) {
  const int64_t centre = head.centre[pair.column_tile];
  int first = pair.rows, last = -1;
  for (int i = pair.skipped; i < pair.rows; i++) {
    const int64_t token = pair.row_first + i;
    float *a = scratch.row_centred + i * head.depth, norm = 0.0f;
    Way way = NOBODY;
    if (head.present[token]) {
      norm = centre_row(head, token, centre, a);
      scratch.outside[i] = !(norm <= PRODUCT_LIMIT / head.scale[token]);
      if (!out_of_reach(norm, head.tile_reach[pair.column_tile], head.reach[token]))
        way = norm <= head.limit[token] ? PRODUCT : head.scale[token] > 0.0f ? DIFFERENCES : COMPARISON;
    }
    scratch.way[i] = way;
    scratch.row_norm[i] = way == NOBODY ? INFINITY : way == PRODUCT ? norm : 0.0f;
    scratch.column_norm[i] = way == PRODUCT || way == NOBODY ? head.column_norm_of(pair.column_tile) : scratch.absence;
    // a row beyond any use must not overflow in the products
    if (way == NOBODY || (way != PRODUCT && scratch.outside[i])) std::memset(a, 0, head.depth * sizeof(float));
    if (way == NOBODY) continue;
    first = std::min(first, i);
    last = i;
  }
  if (last >= 0 && TRIMMED) {
    pair.skipped = std::max(pair.skipped, first / ROW_STEP * ROW_STEP);
    pair.rows = rounded(last + 1, ROW_STEP, pair.rows);
  }
  return last >= 0;
}

// Frequencies of the columns channel by channel, for vectors across columns.
inline void lay_out_panel(const Head &head, Scratch &scratch, const Pair &pair) {
  for (int j = 0; j < pair.columns; j++) {
    const int64_t token = pair.column_first + j;
    scratch.absence[j] = head.present[token] ? 0.0f : INFINITY;
    for (int k = 0; k < head.problem.channels; k++) {
      scratch.panel_high[k * head.problem.tile + j] = head.high[token * head.depth + k];
      if (head.low) scratch.panel_low[k * head.problem.tile + j] = head.low[token * head.depth + k];
    }
  }
}

template <bool LOW>
inline void difference_row(const Head &head, Scratch &scratch, const Pair &pair, int i) {
  constexpr int BLOCK = 2;
  const float *high = head.high + (pair.row_first + i) * head.depth;
  const float *low = LOW ? head.low + (pair.row_first + i) * head.depth : nullptr;
  const int64_t tile = head.problem.tile;
  for (int j = 0; j < pair.columns; j += BLOCK * LANES) {
    vec total[BLOCK] = {};
    for (int k = 0; k < head.problem.channels; k++)
      for (int v = 0; v < BLOCK; v++) {
        vec d = high[k] - load(scratch.panel_high + k * tile + j + v * LANES);
        if (LOW) d += low[k] - load(scratch.panel_low + k * tile + j + v * LANES);
        total[v] += d * d;
      }
    for (int v = 0; v < BLOCK; v++) store(scratch.score + i * scratch.stride + j + v * LANES, total[v]);
  }
}

// An uncoupled row: S is 1 where the frequencies are equal.
inline void comparison_row(const Head &head, Scratch &scratch, const Pair &pair, int i) {
  const int64_t row = pair.row_first + i, bytes = head.depth;
  const int last = head.problem.causal && pair.diagonal() ? i : pair.columns - 1;
  for (int j = 0; j < pair.columns; j++) {
    const int64_t column = pair.column_first + j;
    bool same = j <= last && head.present[column];
    for (int k = 0; same && k < bytes; k++) {
      same = head.high[row * head.depth + k] == head.high[column * head.depth + k];
      if (head.low) same = same && head.low[row * head.depth + k] == head.low[column * head.depth + k];
    }
    scratch.score[i * scratch.stride + j] = same ? 1.0f : 0.0f;
  }
}

inline void direct_rows(const Head &head, Scratch &scratch, const Pair &pair) {
  bool ready = false;
  for (int i = pair.skipped; i < pair.rows; i++) {
    if (scratch.way[i] == COMPARISON) comparison_row(head, scratch, pair, i);
    if (scratch.way[i] != DIFFERENCES) continue;
    if (!ready) lay_out_panel(head, scratch, pair);
    ready = true;
    head.low ? difference_row<true>(head, scratch, pair, i) : difference_row<false>(head, scratch, pair, i);
  }
}

// The diagonal is exactly 0; where the mask is causal, later columns are infinitely far.
inline void finish_diagonal(const Head &head, Scratch &scratch, const Pair &pair) {
  for (int i = pair.skipped; i < pair.rows; i++) {
    if (scratch.way[i] == COMPARISON) continue;
    float *row = scratch.score + i * scratch.stride;
    // the norms of row and column are added later; for one token they are the same number
    row[i] = scratch.way[i] == PRODUCT ? -2.0f * scratch.row_norm[i] : 0.0f;
    if (head.problem.causal)
      for (int j = i + 1; j < pair.columns; j++) row[j] = INFINITY;
  }
}

// score + row_norm + column_norm = |omega_i - omega_j|^2 afterwards; S itself in rows of COMPARISON.
// False: no pair of these tiles can lock, and nothing was computed.
inline bool mismatches(const Head &head, Scratch &scratch, Pair &pair) {
  if (head.centre[pair.row_tile] < 0 || head.centre[pair.column_tile] < 0) return false;
  if (!centre_rows(head, scratch, pair)) return false;
  const int skip = pair.skipped;
  if (!head.problem.direct)
    score_product(pair.rows - skip, pair.columns, head.problem.channels, scratch.row_centred + skip * head.depth,
                  head.depth, head.packed + pair.column_first * packed_floats(head.problem.channels),
                  scratch.score + skip * scratch.stride, scratch.stride);
  direct_rows(head, scratch, pair);
  if (pair.diagonal()) finish_diagonal(head, scratch, pair);
  return true;
}
