// LANES floats at once, for whatever instruction set this copy of the code is compiled for. Part of engine.h.
//
// The compiler's vector type has + - * and contracts a * b + c; what it lacks is here.

// A kernel is a function of its own: inlined, its sums would be spilled from registers.
#define KERNEL __attribute__((noinline)) static

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t whole __attribute__((vector_size(4 * LANES)));

inline vec load(const float *from) {
  vec x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

inline void store(float *to, vec x) { __builtin_memcpy(to, &x, sizeof x); }

inline vec broadcast(float x) { return x - vec{}; }

// In a fixed order, so that a sum has the same bits everywhere.
inline float sum(vec x) {
  float parts[LANES];
  store(parts, x);
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; lane++) parts[lane] += parts[lane + width];
  return parts[0];
}

#if LANES == 16
inline vec maximum(vec a, vec b) { return _mm512_max_ps(a, b); }
inline vec minimum(vec a, vec b) { return _mm512_min_ps(a, b); }
// sqrt(x) for x >= 0, exactly 0 at 0: 14 bits, then one Newton step.
inline vec root(vec x) {
  vec r = _mm512_rsqrt14_ps(maximum(x, broadcast(1e-30f)));
  vec s = x * r;
  return s + (0.5f * s) * (1.0f - s * r);
}
#elif LANES == 8
inline vec maximum(vec a, vec b) { return _mm256_max_ps(a, b); }
inline vec minimum(vec a, vec b) { return _mm256_min_ps(a, b); }
inline vec root(vec x) { return _mm256_sqrt_ps(x); }
#elif defined(__SSE2__)
inline vec maximum(vec a, vec b) { return _mm_max_ps(a, b); }
inline vec minimum(vec a, vec b) { return _mm_min_ps(a, b); }
inline vec root(vec x) { return _mm_sqrt_ps(x); }
#else
inline vec maximum(vec a, vec b) { return a > b ? a : b; }
inline vec minimum(vec a, vec b) { return a < b ? a : b; }
inline vec root(vec x) {
  vec result;
  for (int lane = 0; lane < LANES; lane++) result[lane] = __builtin_sqrtf(x[lane]);
  return result;
}
#endif

// 2^t for t <= 0; relative error 2e-7 (a polynomial of degree 6 on [-1/2, 1/2] has 2e-8), at least 2^-126.
inline vec power_of_two(vec t) {
  const float shift = 12582912.0f;  // 1.5 2^23: adding it rounds to a whole number
  t = maximum(t, broadcast(-126.0f));
  vec shifted = t + shift;
  vec f = t - (shifted - shift);
  vec p = 0.00015461444854736328f * f + 0.0013400427997112274f;
  p = p * f + 0.009618056938052177f;
  p = p * f + 0.05550327152013779f;
  p = p * f + 0.24022650718688965f;
  p = p * f + 0.6931471824645996f;
  p = p * f + 1.0f;
  // the low bits of `shifted` hold the whole number; moved to where a float keeps its exponent
  whole exponent = ((whole)shifted << 23) + 0x3f800000;
  return p * (vec)exponent;
}
