// x86-64 with AVX512.
#include "engines.h"
#include "standard.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif
namespace oscsim {
namespace avx512 {
#define LANES 16
#define ROW_BLOCK 12
#define PRODUCTS "products_own.h"
#include "engine.h"
}  // namespace avx512
}  // namespace oscsim
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace oscsim {
Engine avx512_engine() { return {avx512::forward, avx512::backward}; }
}  // namespace oscsim
#endif
