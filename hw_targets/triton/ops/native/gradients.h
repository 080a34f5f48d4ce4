// From g.V to G = -dL/du of every pair, row by row. Part of engine.h.
//
//   dS = (g.V - delta)/total (the division is in gradient and delta), q = dS inv(S),
//   G = q (w exp(-w u) + exp(-w))/2;  in a symmetric pair dS is that of both directions together.

// What stands for 1/S; y = S^2.
template <int EDGE>
inline vec inverse_sync(vec y, vec s, float eps) {
  if constexpr (EDGE == SMOOTH) return s / (y + eps * eps);
  const vec inverse = 1.0f / maximum(s, broadcast(EDGE == CLAMP ? eps : 1e-30f));
  return y > 0.0f ? inverse : vec{};
}

struct RowSums {
  vec pull, selectivity;  // sum of G u; sum of q u (exp(-w) - exp(-w u))
};

template <int EDGE, bool BOTH>
inline RowSums gradient_row(const Head &head, Scratch &scratch, const Pair &pair, int i) {
  const int64_t token = pair.row_first + i;
  const float c = head.scale[token], w = head.problem.selectivity[head.row(token)];
  const float w2 = -1.442695041f * w, edge = std::exp(-w), eps = head.problem.eps, delta = head.delta[token];
  const float *column_delta = head.delta + pair.column_first;
  float *score = scratch.score + i * scratch.stride, *slope = scratch.slope + i * scratch.stride;
  RowSums sums = {};
  for (int j = 0; j < pair.columns; j += LANES) {
    vec u = minimum(c * (load(score + j) + load(scratch.column_norm[i] + j) + scratch.row_norm[i]), broadcast(2.0f));
    vec e = power_of_two(w2 * u);
    vec y = maximum(u < 1.0f ? e - u * edge : vec{}, vec{});
    vec s = root(y), by_sync = load(slope + j);
    if constexpr (BOTH) {
      by_sync -= delta + load(column_delta + j);
      store(score + j, s);
    } else {
      vec keep = load(scratch.keep + j);
      by_sync = by_sync * keep - delta;
      store(score + j, s * keep);
    }
    vec q = by_sync * inverse_sync<EDGE>(y, s, eps);
    vec pull = 0.5f * q * (w * e + edge);
    sums.pull += pull * u;
    sums.selectivity += q * u * (edge - e);
    store(slope + j, c * pull);
  }
  return sums;
}

// Rows without a gradient through S: none of their pairs can lock here, or uncoupled.
inline void constant_row(Scratch &scratch, const Pair &pair, int i, bool keep) {
  float *score = scratch.score + i * scratch.stride;
  std::memset(scratch.slope + i * scratch.stride, 0, pair.columns * sizeof(float));
  if (scratch.way[i] == NOBODY) std::memset(score, 0, pair.columns * sizeof(float));
  if (scratch.way[i] == COMPARISON && keep)
    for (int j = 0; j < pair.columns; j++) score[j] *= scratch.keep[j];
}

// score becomes the weights, slope c_i G_ij; row sums go to the gradients by log c and w.
template <int EDGE, bool BOTH>
inline void gradient_rows(const Head &head, Scratch &scratch, const Pair &pair) {
  const Problem &p = head.problem;
  // a symmetric diagonal tile holds every pair twice
  const float share = BOTH && pair.diagonal() ? 0.5f : 1.0f;
  for (int j = 0; j < pair.columns && !p.dropout; j++) scratch.keep[j] = 1.0f;
  for (int i = pair.skipped; i < pair.rows; i++) {
    if (p.dropout) keep_row(head, scratch, pair, i);
    if (scratch.way[i] == NOBODY || scratch.way[i] == COMPARISON) {
      constant_row(scratch, pair, i, !BOTH);
      continue;
    }
    const RowSums sums = gradient_row<EDGE, BOTH>(head, scratch, pair, i);
    const int64_t to = head.index * p.tokens + pair.row_first + i;
    p.d_log_scale[to] -= share * sum(sums.pull);
    p.d_selectivity[to] += 0.5f * share * sum(sums.selectivity);
    if (pair.diagonal()) scratch.slope[i * scratch.stride + i] = 0.0f;
  }
}

template <bool BOTH>
inline void gradient_rows_by_edge(const Head &head, Scratch &scratch, const Pair &pair) {
  switch (head.problem.edge) {
    case SMOOTH: return gradient_rows<SMOOTH, BOTH>(head, scratch, pair);
    case CLAMP: return gradient_rows<CLAMP, BOTH>(head, scratch, pair);
    default: return gradient_rows<EXACT, BOTH>(head, scratch, pair);
  }
}
