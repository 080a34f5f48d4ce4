// Sines, cosines and sums of unit phasors for many channels at once, in double.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

// The same source for every instruction set; the loader of the process picks one.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define OSCSIM_EVERY_ISA __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define OSCSIM_EVERY_ISA
#endif

namespace oscsim {

// Above this the reduction below would lose digits, and the library's own functions are called.
constexpr double LARGEST_REDUCED = 1e6;

// cos x and sin x for |x| <= 1e6: x = k pi/2 + y with pi/2 in three parts (the first two have 33 bits, so k
// times them is exact), then Taylor polynomials, whose next terms are below 5e-17 on |y| <= pi/4.
static inline void phasor(double x, double &cosine, double &sine) {
  constexpr double HALF_PI_HIGH = 1.57079632673412561417e+00;
  constexpr double HALF_PI_MIDDLE = 6.07710050630396597660e-11;
  constexpr double HALF_PI_LOW = 2.02226624879595063154e-21;
  constexpr double ROUND = 6755399441055744.0;  // 1.5 2^52: the sum has the nearest integer in its low bits
  const double shifted = x * 0.63661977236758134308 + ROUND;
  const double k = shifted - ROUND;
  int64_t quarter;
  std::memcpy(&quarter, &shifted, sizeof quarter);
  const double y = ((x - k * HALF_PI_HIGH) - k * HALF_PI_MIDDLE) - k * HALF_PI_LOW;
  const double z = y * y;
  double s = -1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = s * z * y + y;
  double c = 1.0 / 20922789888000.0;
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z * z - 0.5 * z + 1.0;
  const bool swap = quarter & 1;
  sine = swap ? c : s;
  cosine = swap ? s : c;
  sine = quarter & 2 ? -sine : sine;
  cosine = (quarter + 1) & 2 ? -cosine : cosine;
}

}  // namespace oscsim
