// x86-64 with AMX (tiles of bfloat16) and AVX-512.
#include "engines.h"
#include "standard.h"

#if defined(OSCSIM_HAS_AMX)
#if defined(__clang__)
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,amx-tile,amx-bf16")
#endif
namespace oscsim {
namespace amx {
#define LANES 16
#define ROW_BLOCK 32
#define PRODUCTS "products_amx.h"
#if defined(OSCSIM_EMULATED_TILES)
#define TILES "tiles_emulated.h"
#else
#define TILES "tiles_amx.h"
#endif
#include "engine.h"
}  // namespace amx
}  // namespace oscsim
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace oscsim {
Engine amx_engine() { return {amx::forward, amx::backward}; }
}  // namespace oscsim
#endif
