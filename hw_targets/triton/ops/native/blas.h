// sgemm of the BLAS inside torch.
#pragma once

namespace oscsim {

using Sgemm = void(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                   const int *, const float *, const int *, const float *, float *, const int *);

// Set once when the library is loaded; null where torch does not export it.
extern Sgemm *blas_sgemm;

}  // namespace oscsim
