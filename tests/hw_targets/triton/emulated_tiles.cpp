// Entry points of the AMX engine with emulated tile instructions; a test puts engine_amx.cpp before it.

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED const char *oscsim_engine_name(int number) { return number == 0 ? "emulated" : nullptr; }
EXPORTED int oscsim_engine_available(int) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
EXPORTED int oscsim_ssa_forward(int, const oscsim::Problem *problem) { return oscsim::amx_engine().forward(*problem); }
EXPORTED int oscsim_ssa_backward(int, const oscsim::Problem *problem) {
  return oscsim::amx_engine().backward(*problem);
}
