#include "schedule.h"

#include <algorithm>
#include <utility>

namespace oscsim {
namespace {

// Groups `first` and first + d meet in one of two phases of their distance d: blocks of d groups alternate,
// so a group is in one pair of a phase only.
int32_t phase_of(int32_t first, int32_t second) {
  int32_t distance = second - first;
  return distance == 0 ? 0 : 2 * distance - 1 + (first / distance & 1);
}

std::vector<std::pair<int32_t, int32_t>> active_pairs(int64_t tiles, const int32_t *row_start,
                                                      const int32_t *row_columns) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int64_t row = 0; row < tiles; row++) {
    for (int64_t at = row_start[row]; at < row_start[row + 1]; at++) {
      int32_t a = row / GROUP, b = row_columns[at] / GROUP;
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace

std::vector<Unit> schedule(int64_t tiles, const int32_t *row_start, const int32_t *row_columns) {
  std::vector<Unit> units;
  if (row_start) {
    for (auto [a, b] : active_pairs(tiles, row_start, row_columns)) units.push_back({phase_of(a, b), a, b});
  } else {
    int32_t groups = (tiles + GROUP - 1) / GROUP;
    for (int32_t a = 0; a < groups; a++)
      for (int32_t b = a; b < groups; b++) units.push_back({phase_of(a, b), a, b});
  }
  std::sort(units.begin(), units.end(), [](const Unit &x, const Unit &y) {
    return x.phase != y.phase ? x.phase < y.phase : x.first < y.first;
  });
  return units;
}

}  // namespace oscsim
