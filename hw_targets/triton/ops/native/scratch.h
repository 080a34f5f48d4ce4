// What one thread needs for one pair of tiles. Part of engine.h.

// How the mismatch of a row is found within one pair of tiles.
enum Way : uint8_t { NOBODY, PRODUCT, DIFFERENCES, COMPARISON };

struct Scratch {
  int64_t stride;              // of score and slope
  float *score;                // tile x stride: |omega_i - omega_j|^2, then S
  float *slope;                // backwards: gradient . V, then c_i G_ij
  float *row_centred;          // a = omega_i - centre of the column tile, tile x depth
  float *column_centred;       // b, tile x depth
  float *row_norm;             // |a|^2; infinite: no pair of this row can lock here
  const float **column_norm;   // |b|^2 of the row's columns, or 0 and infinity where differences were taken
  Way *way;
  uint8_t *outside;            // rows too far from the centre for any product with b
  float *absence;              // 0, or infinity for a column that takes no part
  float *panel_high, *panel_low;  // columns' frequencies, channel by channel, depth x tile
  float *keep;                 // dropout factors of a row; 1 without dropout
  float *swapped;              // backwards, symmetric: rows [V | gradient], tile x 2 width
  float *column_total;         // backwards: sums of M over rows
  float *output, *total;       // sums of one row tile, where rows are not shared

  Scratch(Arena &arena, const Head &head, bool backward) {
    const int64_t tile = head.problem.tile, depth = head.depth;
    stride = tile + 16;
    score = arena.take<float>(tile * stride);
    slope = backward ? arena.take<float>(tile * stride) : nullptr;
    row_centred = arena.take<float>(tile * depth);
    column_centred = arena.take<float>(tile * depth);
    row_norm = arena.take<float>(tile);
    column_norm = arena.take<const float *>(tile);
    way = arena.take<Way>(tile);
    outside = arena.take<uint8_t>(tile);
    absence = arena.take<float>(tile);
    panel_high = arena.take<float>(tile * depth);
    panel_low = arena.take<float>(tile * depth);
    keep = arena.take<float>(tile);
    swapped = backward ? arena.take<float>(tile * 2 * head.width) : nullptr;
    column_total = arena.take<float>(tile);
    output = arena.take<float>(tile * head.width);
    total = arena.take<float>(tile);
  }
};
