// What the tile instructions of AMX do, in plain C++, to test their use on machines without them. Part of engine.h.

struct EmulatedTile {
  alignas(64) uint8_t bytes[16][64];
};
static thread_local EmulatedTile emulated_tiles[8];

inline void configure_tiles() { std::memset(emulated_tiles, 0xff, sizeof emulated_tiles); }  // NaN until written

inline void emulated_load(int tile, const void *from, int64_t stride) {
  for (int row = 0; row < 16; row++)
    std::memcpy(emulated_tiles[tile].bytes[row], static_cast<const char *>(from) + row * stride, 64);
}

inline void emulated_store(int tile, void *to, int64_t stride) {
  for (int row = 0; row < 16; row++)
    std::memcpy(static_cast<char *>(to) + row * stride, emulated_tiles[tile].bytes[row], 64);
}

inline float widened(const uint8_t *half) {
  uint16_t bits;
  std::memcpy(&bits, half, 2);
  const uint32_t word = uint32_t(bits) << 16;
  float x;
  std::memcpy(&x, &word, 4);
  return std::fpclassify(x) == FP_SUBNORMAL ? 0.0f : x;  // the instruction reads denormals as zero
}

inline void emulated_dot(int c, int a, int b) {
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 16; n++) {
      float total;
      std::memcpy(&total, emulated_tiles[c].bytes[m] + 4 * n, 4);
      for (int k = 0; k < 32; k++)
        total += widened(emulated_tiles[a].bytes[m] + 2 * k) *
                 widened(emulated_tiles[b].bytes[k / 2] + 4 * n + k % 2 * 2);
      std::memcpy(emulated_tiles[c].bytes[m] + 4 * n, &total, 4);
    }
}

#define TILE_RELEASE() configure_tiles()
#define TILE_ZERO(tile) std::memset(emulated_tiles[tile].bytes, 0, sizeof(EmulatedTile))
#define TILE_LOAD(tile, from, stride_bytes) emulated_load(tile, from, stride_bytes)
#define TILE_STORE(tile, to, stride_bytes) emulated_store(tile, to, stride_bytes)
#define TILE_DOT(c, a, b) emulated_dot(c, a, b)
