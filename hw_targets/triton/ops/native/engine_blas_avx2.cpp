// The portable engine where a processor has AVX2: products by BLAS, the rest eight floats at once.
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
namespace blas_avx2 {
#define LANES 8
#define ROW_BLOCK 12
#define PRODUCTS "products_blas.h"
#include "engine.h"
}  // namespace blas_avx2
}  // namespace oscsim
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace oscsim {
Engine blas_avx2_engine() { return {blas_avx2::forward, blas_avx2::backward}; }
}  // namespace oscsim
#endif
