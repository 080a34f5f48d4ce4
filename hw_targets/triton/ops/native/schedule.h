// The order in which pairs of tiles are visited where a visit adds to both ends.
//
// Tiles are grouped; a unit is a pair of groups. Units of one phase share no group, so they may run at the same
// time; phases follow each other. Every sum is therefore added up in one order, whatever the number of threads,
// without private copies of the sums.
#pragma once
#include <cstdint>
#include <vector>

namespace oscsim {

constexpr int64_t GROUP = 4;

struct Unit {
  int32_t phase, first, second;  // groups, first <= second
};

// All pairs of groups, or those with an active tile (row_start of one head, or null), by phase.
std::vector<Unit> schedule(int64_t tiles, const int32_t *row_start, const int32_t *row_columns);

}  // namespace oscsim
