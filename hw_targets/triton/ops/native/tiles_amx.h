// Tile registers of AMX: eight of 16 rows of 64 bytes. Part of engine.h. Their numbers are part of an instruction,
// so these are macros; tiles_emulated.h has the same ones for machines without.

inline void configure_tiles() {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const layout;
  _tile_loadconfig(&layout);
}

#define TILE_RELEASE() _tile_release()
#define TILE_ZERO(tile) _tile_zero(tile)
#define TILE_LOAD(tile, from, stride_bytes) _tile_loadd(tile, from, stride_bytes)
#define TILE_STORE(tile, to, stride_bytes) _tile_stored(tile, to, stride_bytes)
// C (16 x 16 float32) += A (16 x 32 bfloat16) B (32 x 16 bfloat16, pairs of rows interleaved)
#define TILE_DOT(c, a, b) _tile_dpbf16ps(c, a, b)
