// x86-64 with AVX2.
#include "engines.h"
#include "standard.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace oscsim {
namespace avx2 {
#define LANES 8
#define ROW_BLOCK 12
#define PRODUCTS "products_own.h"
#include "engine.h"
}  // namespace avx2
}  // namespace oscsim
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace oscsim {
Engine avx2_engine() { return {avx2::forward, avx2::backward}; }
}  // namespace oscsim
#endif
