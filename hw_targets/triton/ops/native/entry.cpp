// The C interface: which engines this machine has, and the two passes.
#include <cstring>
#include <new>

#include "blas.h"
#include "engines.h"

namespace oscsim {

Sgemm *blas_sgemm = nullptr;

namespace {

struct Choice {
  const char *name;
  bool available;
  Engine engine;
};

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// Products by BLAS; what surrounds them is compiled twice, and not for less than the processor has.
Engine blas_engine() {
#if defined(__x86_64__)
  if (has_avx2()) return blas_avx2_engine();
#endif
  return portable_engine();
}

Choice choice(int number) {
  switch (number) {
    case 0: return {"portable", true, blas_engine()};
#if defined(__x86_64__)
    case 1: return {"avx2", has_avx2(), avx2_engine()};
    case 2: return {"avx512", has_avx512(), avx512_engine()};
#endif
#if defined(OSCSIM_HAS_AMX)
    case 3: {
      static const bool usable = has_avx512() && amx_usable();
      return {"amx", usable, amx_engine()};
    }
#endif
    default: return {nullptr, false, {}};
  }
}

int run(int number, const Problem &problem, bool backward) {
  try {
    Engine engine = choice(number).engine;
#if defined(OSCSIM_HAS_AMX)
    // products of bfloat16 parts are not the IEEE products that were asked for
    if (problem.direct && engine.forward == amx_engine().forward) engine = avx512_engine();
#endif
    return backward ? engine.backward(problem) : engine.forward(problem);
  } catch (const std::bad_alloc &) {
    return 1;
  }
}

}  // namespace
}  // namespace oscsim

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Products of the portable engine: sgemm_ of Fortran BLAS with 32-bit sizes, or null.
EXPORTED void oscsim_use_blas(oscsim::Sgemm *sgemm) { oscsim::blas_sgemm = sgemm; }

// Name of an engine, null after the last one.
EXPORTED const char *oscsim_engine_name(int number) { return oscsim::choice(number).name; }
EXPORTED int oscsim_engine_available(int number) { return oscsim::choice(number).available; }

// 0, or 1 where memory is short.
EXPORTED int oscsim_ssa_forward(int number, const oscsim::Problem *problem) {
  return oscsim::run(number, *problem, false);
}
EXPORTED int oscsim_ssa_backward(int number, const oscsim::Problem *problem) {
  return oscsim::run(number, *problem, true);
}
