// The instruction sets, best last.
#pragma once
#include "problem.h"

#if defined(__x86_64__) && defined(__linux__) && (defined(__clang__) || __GNUC__ >= 11)
#define OSCSIM_HAS_AMX
#endif

namespace oscsim {
Engine portable_engine();
#if defined(__x86_64__)
Engine blas_avx2_engine();
Engine avx2_engine();
Engine avx512_engine();
#endif
#if defined(OSCSIM_HAS_AMX)
Engine amx_engine();
bool amx_usable();
#endif
}  // namespace oscsim
