// Memory with checks: every access must lie inside its buffer, every value read must have been written through the same
// buffer, and no two iterations of a parallel loop, nor two threads of a GPU's block between two barriers, may access
// an element that one of them writes.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ferry::ir::interp {

// A logical time, advanced by allocations and by iterations of parallel loops.
using Stamp = std::uint32_t;
inline constexpr Stamp kNever = std::numeric_limits<Stamp>::max();

struct Clock {
  Stamp now = 1;
  // The running outermost parallel loop (or grid of blocks) and its current iteration; kNever outside.
  Stamp loop_began = kNever;
  Stamp iteration_began = kNever;
  // The last barrier of the running block (kNever outside of one), and the running thread.
  Stamp barrier = kNever;
  std::uint32_t thread = 0;

  Stamp tick();
};

inline constexpr std::uint32_t kManyThreads = std::numeric_limits<std::uint32_t>::max();

// When an element, or a byte of a workspace, was last written, and first read in the current parallel loop.
struct Shadow {
  Stamp writer = 0;
  Stamp reader = 0;
  Stamp owner = 0;  // workspaces: `born` of the buffer that wrote it
  // Accesses by the threads of a block.
  std::uint32_t writing_thread = 0;
  Stamp thread_read = 0;             // first read since the last barrier
  std::uint32_t reading_thread = 0;  // the thread that has read since then
};

struct WorkspaceBlock {
  std::vector<std::byte> bytes;
  std::vector<Shadow> shadows;  // one per byte
};

struct Workspaces {
  WorkspaceBlock call, thread;
  // The running thread; each iteration of an outermost parallel loop counts as another one.
  Stamp thread_id = 0;
};

// A buffer with its current shape.
struct BoundBuffer {
  const Buffer* buffer = nullptr;
  std::byte* data = nullptr;
  Shadow* shadow = nullptr;  // null for an input, which is always readable and never written
  bool in_workspace = false;
  bool of_thread = false;
  bool read_only = false;
  bool has_async_stores = false;
  std::uint32_t bytes = 0;  // per element
  Stamp born = 0;
  Stamp thread_id = 0;
  std::int64_t count = 0;  // valid positions: 0 to count - 1
  std::vector<std::int64_t> shape, strides;
  std::vector<std::byte> storage;
  std::vector<Shadow> shadows;
};

// Computes strides where the buffer is dense, and counts positions.
void finish_shape(BoundBuffer& bound, bool dense);
[[noreturn]] void fail_index(const BoundBuffer& bound, const std::vector<std::int64_t>& indices, std::size_t dimension);
[[noreturn]] void fail_position(const BoundBuffer& bound, std::int64_t position);

// Throw InterpreterError when the access is invalid, and record it otherwise.
void note_read(BoundBuffer& bound, std::int64_t position, const Clock& clock, const Workspaces& workspaces);
void note_write(BoundBuffer& bound, std::int64_t position, const Clock& clock, const Workspaces& workspaces);

// Marks the element's value, whose write is already recorded, as in flight.
void note_start(BoundBuffer& bound, std::int64_t position);

// Gives the buffer fresh memory of its own.
void allocate(BoundBuffer& bound, Clock& clock);
// Places the buffer at an offset into a workspace.
void place(BoundBuffer& bound, Clock& clock, Workspaces& workspaces, WorkspaceKind which, std::int64_t offset);

}  // namespace ferry::ir::interp
