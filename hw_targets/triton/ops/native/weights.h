// From squared mismatch to S, row by row, with the sums of rows and of columns. Part of engine.h.

// S = sqrt(z) Q(z), z = 1 - u, by a polynomial of this degree; or from exp(-w u) - u exp(-w); or as it is.
template <int LAW>
inline vec sync(vec squared, float c, float w, const float *q) {
  if constexpr (LAW == EXPONENTIAL) {
    vec u = minimum(c * squared, broadcast(2.0f));
    vec y = power_of_two((-1.442695041f * w) * u) - u * std::exp(-w);
    // beyond the edge both terms may have underflowed
    y = u < 1.0f ? y : vec{};
    return root(maximum(y, vec{}));
  } else {
    vec z = maximum(1.0f - c * squared, vec{});
    vec p = broadcast(q[LAW]);
#pragma GCC unroll 9
    for (int k = LAW - 1; k >= 0; k--) p = p * z + q[k];
    return root(z) * p;
  }
}

// ROWS rows of one law; with COLUMN_SUMS they are added to `columns_total`.
template <int LAW, int ROWS, bool COLUMN_SUMS>
inline void weigh_rows(const Head &head, Scratch &scratch, const Pair &pair, int first, float *rows_total,
                       float *columns_total) {
  vec total[ROWS] = {};
  const int64_t token = pair.row_first + first, row = head.row(token);
  const float c = head.scale[token], w = head.problem.selectivity[row];
  float q[COEFFICIENTS];
  std::memcpy(q, head.problem.polynomial + row * COEFFICIENTS, sizeof q);
  for (int j = 0; j < pair.columns; j += LANES) {
    vec column = {};
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
      float *score = scratch.score + (first + i) * scratch.stride + j;
      vec s = load(score);
      if constexpr (LAW != EQUALITY)
        s = sync<LAW>(s + load(scratch.column_norm[first + i] + j) + scratch.row_norm[first + i], c, w, q);
      store(score, s);
      total[i] += s;
      column += s;
    }
    if (COLUMN_SUMS) store(columns_total + j, load(columns_total + j) + column);
  }
  for (int i = 0; i < ROWS; i++) rows_total[first + i] += sum(total[i]);
}

template <int ROWS, bool COLUMN_SUMS>
inline void weigh_rows_by_law(const Head &head, Scratch &scratch, const Pair &pair, int first, float *rows_total,
                              float *columns_total) {
  const int64_t token = pair.row_first + first;
  const int law = token < head.problem.tokens ? head.problem.law[head.row(token)] : EXPONENTIAL;
  auto weigh = law == EQUALITY ? weigh_rows<EQUALITY, ROWS, COLUMN_SUMS>
               : law == 4      ? weigh_rows<4, ROWS, COLUMN_SUMS>
               : law == 6      ? weigh_rows<6, ROWS, COLUMN_SUMS>
               : law == 9      ? weigh_rows<9, ROWS, COLUMN_SUMS>
                               : weigh_rows<EXPONENTIAL, ROWS, COLUMN_SUMS>;
  weigh(head, scratch, pair, first, rows_total, columns_total);
}

// S of a pair of tiles where S_ij = S_ji: the same strength in all rows, sums for both ends.
inline void weigh_symmetric(const Head &head, Scratch &scratch, const Pair &pair, float *rows_total,
                            float *columns_total) {
  for (int i = pair.skipped; i < pair.rows; i += 4)
    columns_total ? weigh_rows_by_law<4, true>(head, scratch, pair, i, rows_total, columns_total)
                  : weigh_rows_by_law<4, false>(head, scratch, pair, i, rows_total, columns_total);
}

inline void weigh(const Head &head, Scratch &scratch, const Pair &pair, float *rows_total) {
  for (int i = pair.skipped; i < pair.rows; i++)
    if (scratch.way[i] == NOBODY)
      std::memset(scratch.score + i * scratch.stride, 0, pair.columns * sizeof(float));
    else
      weigh_rows_by_law<1, false>(head, scratch, pair, i, rows_total, nullptr);
}
