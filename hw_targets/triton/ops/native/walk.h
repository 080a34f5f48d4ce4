// Which tiles are visited, by whom. Part of engine.h.

// The threads of a team share the loops of one head; a team of one runs them alone.
struct Team {
  bool shared;

  template <class Visit>
  void share(int64_t count, Visit visit) const {
    if (!shared) {
      for (int64_t n = 0; n < count; n++) visit(n);
      return;
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t n = 0; n < count; n++) visit(n);
  }
};

// Column tiles first..last-1 that a row tile may see, ascending.
template <class Visit>
inline void for_columns(const Head &head, int64_t row_tile, int64_t first, int64_t last, Visit visit) {
  const Problem &p = head.problem;
  if (p.causal) last = std::min(last, row_tile + 1);
  if (!p.row_start) {
    for (int64_t column = first; column < last; column++) visit(column);
    return;
  }
  const int32_t *start = p.row_start + head.index * head.tiles + row_tile;
  const int32_t *end = p.row_columns + start[1];
  const int32_t *at = std::lower_bound(p.row_columns + start[0], end, int32_t(first));
  for (; at < end && *at < last; at++) visit(*at);
}

template <class Visit>
inline void for_groups(const Head &head, int64_t row_group, int64_t column_group, Visit visit) {
  const int64_t last = std::min((row_group + 1) * GROUP, head.tiles);
  for (int64_t row_tile = row_group * GROUP; row_tile < last; row_tile++)
    for_columns(head, row_tile, column_group * GROUP, std::min((column_group + 1) * GROUP, head.tiles),
                [&](int64_t column_tile) { visit(row_tile, column_tile); });
}

// All ordered pairs of tiles; those that run at the same time have no tile in common.
template <class Visit>
inline void for_units(const Head &head, const Team &team, const std::vector<Unit> &units, Visit visit) {
  for (size_t begin = 0, end; begin < units.size(); begin = end) {
    for (end = begin; end < units.size() && units[end].phase == units[begin].phase;) end++;
    team.share(end - begin, [&](int64_t n) {
      const int64_t a = units[begin + n].first, b = units[begin + n].second;
      for_groups(head, a, b, visit);
      if (a != b) for_groups(head, b, a, visit);
    });
  }
}
