// The instruction sets, best last.
#pragma once
#include "problem.h"

namespace oscsim {
Engine portable_engine();
#if defined(__x86_64__)
Engine avx2_engine();
Engine avx512_engine();
#endif
}  // namespace oscsim
