// Order parameter of every prefix of the tokens and its gradient, one (batch, head) after the other.
#include <algorithm>
#include <new>
#include <vector>

#include "phasors.h"

namespace oscsim {
namespace {

constexpr int64_t CHUNK = 64;             // tokens whose sums the backward pass keeps at a time
constexpr double VANISHING = 0x1p-44;     // a smaller share of the tokens counts as a vanished sum

struct Layer {
  const void *theta;     // (BH, N, D), double or float
  int64_t is_double;
  const uint8_t *valid;  // (B, N) or null
  int64_t heads, tokens, channels;

  bool takes_part(int64_t head, int64_t token) const {
    return !valid || valid[head / heads * tokens + token];
  }
};

OSCSIM_EVERY_ISA void widen(const float *theta, int64_t count, double *phase) {
  for (int64_t l = 0; l < count; l++) phase[l] = theta[l];
}

OSCSIM_EVERY_ISA double largest(const double *phase, int64_t count) {
  double top = 0.0;
#pragma omp simd reduction(max : top)
  for (int64_t l = 0; l < count; l++) top = std::max(top, std::fabs(phase[l]));
  return top;
}

OSCSIM_EVERY_ISA void reduced_phasors(const double *phase, int64_t count, double *cosine, double *sine) {
#pragma omp simd
  for (int64_t l = 0; l < count; l++) phasor(phase[l], cosine[l], sine[l]);
}

OSCSIM_EVERY_ISA void add(const double *cosine, const double *sine, int64_t count, double *real,
                          double *imaginary) {
#pragma omp simd
  for (int64_t l = 0; l < count; l++) real[l] += cosine[l], imaginary[l] += sine[l];
}

OSCSIM_EVERY_ISA double sum_of_sizes(const double *real, const double *imaginary, int64_t count) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t l = 0; l < count; l++) sum += std::sqrt(real[l] * real[l] + imaginary[l] * imaginary[l]);
  return sum;
}

// pull += weight Z/|Z|, where |Z| is above the floor
OSCSIM_EVERY_ISA void add_direction(const double *real, const double *imaginary, int64_t count, double weight,
                                    double floor, double *along, double *across) {
#pragma omp simd
  for (int64_t l = 0; l < count; l++) {
    const double size = std::sqrt(real[l] * real[l] + imaginary[l] * imaginary[l]);
    const double factor = size > floor ? weight / std::max(size, floor) : 0.0;
    along[l] += factor * real[l];
    across[l] += factor * imaginary[l];
  }
}

OSCSIM_EVERY_ISA void turn(const double *cosine, const double *sine, const double *along,
                           const double *across, int64_t count, double *gradient) {
#pragma omp simd
  for (int64_t l = 0; l < count; l++) gradient[l] = cosine[l] * across[l] - sine[l] * along[l];
}

// cos and sin of one token, or zeros where it is padded
void phasors_of(const Layer &layer, int64_t head, int64_t token, double *phase, double *cosine,
                double *sine) {
  const int64_t width = layer.channels, at = (head * layer.tokens + token) * width;
  if (!layer.takes_part(head, token)) {
    std::fill_n(cosine, width, 0.0);
    std::fill_n(sine, width, 0.0);
    return;
  }
  const double *from = phase;
  if (layer.is_double) {
    from = static_cast<const double *>(layer.theta) + at;
  } else {
    widen(static_cast<const float *>(layer.theta) + at, width, phase);
  }
  if (largest(from, width) <= LARGEST_REDUCED) return reduced_phasors(from, width, cosine, sine);
  for (int64_t l = 0; l < width; l++) cosine[l] = std::cos(from[l]), sine[l] = std::sin(from[l]);
}

void store(const Layer &layer, int64_t at, const double *from, int64_t count, void *to) {
  for (int64_t l = 0; l < count; l++) {
    if (layer.is_double) {
      static_cast<double *>(to)[at + l] = from[l];
    } else {
      static_cast<float *>(to)[at + l] = static_cast<float>(from[l]);
    }
  }
}

void forward(const Layer &layer, int64_t head, void *order) {
  const int64_t width = layer.channels;
  std::vector<double> memory(5 * width, 0.0);
  double *phase = memory.data(), *cosine = phase + width, *sine = cosine + width;
  double *real = sine + width, *imaginary = real + width;
  int64_t count = 0;
  for (int64_t token = 0; token < layer.tokens; token++) {
    phasors_of(layer, head, token, phase, cosine, sine);
    add(cosine, sine, width, real, imaginary);
    count += layer.takes_part(head, token);
    const double mean = sum_of_sizes(real, imaginary, width) / (width * std::max<int64_t>(count, 1));
    store(layer, head * layer.tokens + token, &mean, 1, order);
  }
}

// Sums of phasors of a chunk, token by token, from what came before it (replaced by what comes after it).
void chunk_sums(const Layer &layer, int64_t head, int64_t first, int64_t last, double *before, double *phase,
                double *phasors, double *sums) {
  const int64_t width = layer.channels;
  for (int64_t token = first; token < last; token++) {
    double *cosine = phasors + (token - first) * 2 * width, *sum = sums + (token - first) * 2 * width;
    phasors_of(layer, head, token, phase, cosine, cosine + width);
    add(cosine, cosine + width, width, before, before + width);
    std::copy_n(before, 2 * width, sum);
  }
}

void backward(const Layer &layer, int64_t head, const void *d_order, void *d_theta) {
  const int64_t width = layer.channels, chunks = (layer.tokens + CHUNK - 1) / CHUNK;
  std::vector<double> memory((2 * (chunks + 1) + 4 * CHUNK + 4) * width, 0.0);
  double *carry = memory.data(), *phasors = carry + 2 * (chunks + 1) * width;
  double *sums = phasors + 2 * CHUNK * width, *along = sums + 2 * CHUNK * width, *across = along + width;
  double *phase = across + width, *gradient = phase + width;
  std::vector<int64_t> count(layer.tokens);
  for (int64_t token = 0, seen = 0; token < layer.tokens; token++) {
    count[token] = std::max<int64_t>(seen += layer.takes_part(head, token), 1);
  }
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    double *next = carry + 2 * (chunk + 1) * width;
    std::copy_n(next - 2 * width, 2 * width, next);
    const int64_t first = chunk * CHUNK, last = std::min(layer.tokens, first + CHUNK);
    chunk_sums(layer, head, first, last, next, phase, phasors, sums);
  }
  for (int64_t chunk = chunks - 1; chunk >= 0; chunk--) {
    const int64_t first = chunk * CHUNK, last = std::min(layer.tokens, first + CHUNK);
    chunk_sums(layer, head, first, last, carry + 2 * chunk * width, phase, phasors, sums);
    for (int64_t token = last - 1; token >= first; token--) {
      const int64_t at = head * layer.tokens + token, local = (token - first) * 2 * width;
      const double given = layer.is_double ? static_cast<const double *>(d_order)[at]
                                           : static_cast<const float *>(d_order)[at];
      add_direction(sums + local, sums + local + width, width, given / (width * count[token]),
                    VANISHING * count[token], along, across);
      turn(phasors + local, phasors + local + width, along, across, width, gradient);
      store(layer, at * width, gradient, width, d_theta);
    }
  }
}

}  // namespace
}  // namespace oscsim

#define OSCSIM_EXPORT extern "C" __attribute__((visibility("default")))

// d_order and d_theta null: r to order. Else the gradient to d_theta.
OSCSIM_EXPORT int oscsim_prefix_order(const void *theta, int64_t is_double, const uint8_t *valid,
                                      int64_t batch_heads, int64_t heads, int64_t tokens, int64_t channels,
                                      int64_t threads, void *order, const void *d_order, void *d_theta) {
  const oscsim::Layer layer{theta, is_double, valid, heads, tokens, channels};
  int failed = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
  for (int64_t head = 0; head < batch_heads; head++) {
    try {
      if (d_theta) {
        oscsim::backward(layer, head, d_order, d_theta);
      } else {
        oscsim::forward(layer, head, order);
      }
    } catch (const std::bad_alloc &) {
      failed = 1;
    }
  }
  return failed;
}
