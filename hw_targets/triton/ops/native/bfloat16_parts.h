// Vectors of float32 as sums of bfloat16 numbers, stored as the left or right factor of a tile. Part of engine.h.

constexpr int PARTS = 3;  // 3 times 8 bits: all of a float32

// Takes the leading bfloat16 off x, rounded to nearest even; x keeps the exact rest. In the upper halves of words.
inline whole take_part(vec &x) {
  whole bits = (whole)x;
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & (int32_t)0xffff0000;
  x -= (vec)bits;
  return bits;
}

inline void store_halves(uint16_t *to, whole words) {
  _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_srli_epi32((__m512i)words, 16)));
}

// Rows of 16 numbers as rows of bfloat16, one matrix for each part.
template <int COUNT>
inline void split_row(vec x, uint16_t *to, int64_t part_stride) {
  for (int part = 0; part < COUNT; part++) store_halves(to + part * part_stride, take_part(x));
}

inline vec load_some(const float *from, int64_t count) {
  return _mm512_maskz_loadu_ps(count >= LANES ? 0xffff : count <= 0 ? 0 : (1 << count) - 1, from);
}

// Two rows of the right factor, interleaved: an even and an odd half for each of 16 columns.
inline void split_pair(vec even, vec odd, uint16_t *to, int64_t part_stride) {
  for (int part = 0; part < PARTS; part++) {
    whole first = take_part(even), second = take_part(odd);
    whole both = (whole)_mm512_or_si512((__m512i)second, _mm512_srli_epi32((__m512i)first, 16));
    std::memcpy(to + part * part_stride, &both, sizeof both);
  }
}

// 16 rows of 16 numbers become columns, in place.
inline void transpose(vec *rows) {
  __m512 b[16];
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int half = 0; half < 2; half++) {
      rows[i + 2 * half] = _mm512_shuffle_ps(b[i + half], b[i + half + 2], 0x44);
      rows[i + 2 * half + 1] = _mm512_shuffle_ps(b[i + half], b[i + half + 2], 0xee);
    }
  for (int i = 0; i < 4; i++)
    for (int half = 0; half < 16; half += 8) {
      b[i + half] = _mm512_shuffle_f32x4(rows[i + half], rows[i + half + 4], 0x88);
      b[i + half + 4] = _mm512_shuffle_f32x4(rows[i + half], rows[i + half + 4], 0xdd);
    }
  for (int i = 0; i < 8; i++) {
    rows[i] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0x88);
    rows[i + 8] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0xdd);
  }
}
