// Working memory: one aligned block that is handed out piece by piece.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace oscsim {

constexpr size_t ALIGNMENT = 64;

// Hands out pieces of a block; with a null block it only counts, so the same code first measures, then takes.
class Arena {
 public:
  explicit Arena(char *block) : block_(block) {}
  size_t used() const { return used_; }

  template <class T>
  T *take(size_t count) {
    char *piece = block_ ? block_ + used_ : nullptr;
    used_ += (count * sizeof(T) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return reinterpret_cast<T *>(piece);
  }

 private:
  char *block_;
  size_t used_ = 0;
};

// Owns a block.
class Block {
 public:
  Block() = default;
  ~Block() { std::free(memory_); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  bool reserve(size_t bytes) {  // a multiple of ALIGNMENT, as Arena counts
    memory_ = static_cast<char *>(std::aligned_alloc(ALIGNMENT, bytes));
    return memory_ != nullptr;
  }
  char *memory() const { return memory_; }

 private:
  char *memory_ = nullptr;
};

}  // namespace oscsim
