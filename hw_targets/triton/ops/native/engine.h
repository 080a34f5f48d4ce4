// The whole computation for one instruction set: included once per engine_*.cpp, in a namespace of its own.

// Tiles are computed up to a multiple of these, the blocks of the products.
constexpr int ROW_STEP = ROW_BLOCK, COLUMN_STEP = 32;

#include "lanes.h"
#include PRODUCTS
#include "head.h"
#include "scratch.h"
#include "prepare.h"
#include "scores.h"
#include "weights.h"
#include "dropout.h"
#include "walk.h"
#include "forward.h"
#include "gradients.h"
#include "backward.h"
#include "run.h"
