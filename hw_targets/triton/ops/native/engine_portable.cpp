// Any machine: products by BLAS, the rest in vectors that every compiler target has.
#include "engines.h"
#include "standard.h"

namespace oscsim {
namespace portable {
#define LANES 4
#define ROW_BLOCK 12
#define PRODUCTS "products_blas.h"
#include "engine.h"
}  // namespace portable

Engine portable_engine() { return {portable::forward, portable::backward}; }
}  // namespace oscsim
