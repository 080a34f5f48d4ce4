// The whole computation for one instruction set: included once per engine_*.cpp, in a namespace of its own.

constexpr int ROW_STEP = 12, COLUMN_STEP = 32;

#include "lanes.h"
#include "head.h"
#include "scratch.h"
#include "products_registers.h"
#include PRODUCTS
#include "prepare.h"
#include "scores.h"
#include "weights.h"
#include "dropout.h"
#include "walk.h"
#include "forward.h"
#include "gradients.h"
#include "backward.h"
#include "run.h"
