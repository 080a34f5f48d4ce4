// Whether this machine has AMX with bfloat16, and whether the system lets this process use it.
#include "engines.h"

#if defined(OSCSIM_HAS_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace oscsim {

bool amx_usable() {
  constexpr unsigned BFLOAT16 = 1u << 22, TILES = 1u << 24;  // leaf 7, register d
  constexpr long ASK_PERMISSION = 0x1023, TILE_DATA = 18;    // arch_prctl, extended state
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & BFLOAT16) == 0 || (d & TILES) == 0) return false;
  // Linux saves the tile registers only of processes that asked for them.
  return syscall(SYS_arch_prctl, ASK_PERMISSION, TILE_DATA) == 0;
}

}  // namespace oscsim
#endif
