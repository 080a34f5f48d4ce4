// Heads and threads. Part of engine.h.

// Threads take heads; where there are too few of those, all threads share one head after the other. Every sum
// has the same order either way.
inline bool heads_are_shared(const Problem &p) {
  return p.threads > 1 && p.batch_heads % p.threads != 0 && p.batch_heads < 4 * p.threads;
}

// Working memory of one thread; a shared head lives in the first thread's.
struct Workspace {
  Block head, scratch;

  bool reserve(const Problem &p, bool backward, bool with_head) {
    Arena head_size(nullptr), scratch_size(nullptr);
    Head layout(p);
    layout.lay_out(head_size, backward);
    Scratch(scratch_size, layout, backward);
    if (!scratch.reserve(scratch_size.used())) return false;
    std::memset(scratch.memory(), 0, scratch_size.used());
    return !with_head || head.reserve(head_size.used());
  }
};

template <class RunHead>
inline int run(const Problem &p, bool backward, RunHead run_head) {
  const bool shared = heads_are_shared(p);
  const int threads = p.threads;
  std::vector<Workspace> spaces(threads);
  for (int n = 0; n < threads; n++)
    if (!spaces[n].reserve(p, backward, n == 0 || !shared)) return 1;
  const int64_t tiles = (p.tokens + p.tile - 1) / p.tile;
  std::vector<std::vector<Unit>> units(p.row_start ? p.batch_heads : 1);
  for (size_t h = 0; h < units.size(); h++)
    units[h] = schedule(tiles, p.row_start ? p.row_start + h * tiles : nullptr, p.row_columns);
#pragma omp parallel num_threads(threads)
  {
    Workspace &own = spaces[omp_get_thread_num()];
    Head head(p);
    Arena head_arena(shared ? spaces[0].head.memory() : own.head.memory()), scratch_arena(own.scratch.memory());
    head.lay_out(head_arena, backward);
    Scratch scratch(scratch_arena, head, backward);
    auto visit = [&](int64_t h) {
      head.index = h;
      run_head(head, scratch, Team{shared}, units[p.row_start ? h : 0]);
    };
    if (shared)
      for (int64_t h = 0; h < p.batch_heads; h++) visit(h);
    else {
#pragma omp for schedule(dynamic, 1)
      for (int64_t h = 0; h < p.batch_heads; h++) visit(h);
    }
  }
  return 0;
}

inline int forward(const Problem &p) { return run(p, false, forward_head); }
inline int backward(const Problem &p) { return run(p, true, backward_head); }
