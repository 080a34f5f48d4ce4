// What every engine_*.cpp needs before it selects its instruction set: nothing of it may be compiled for that.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "arena.h"
#include "blas.h"
#include "problem.h"
#include "schedule.h"
