#include "crosscompile/ir/interpreter_memory.h"

#include "crosscompile/ir/interpreter.h"

#include <algorithm>
#include <string>

namespace ferry::ir::interp {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 33;
constexpr std::byte kPoison{0xcb};

std::string list(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string at(const BoundBuffer& bound, std::int64_t position) {
  return "'" + bound.buffer->name + "' at position " + std::to_string(position);
}

// Names an element, as in "'A'[2, 3]", or gives its position where indices cannot be derived from it.
std::string element(const BoundBuffer& bound, std::int64_t position) {
  if (!bound.buffer->strides.empty() || bound.shape.empty()) return at(bound, position);
  std::vector<std::int64_t> indices;
  for (const std::int64_t stride : bound.strides) {
    indices.push_back(position / stride);
    position %= stride;
  }
  return "'" + bound.buffer->name + "'[" + list(indices) + "]";
}

// Returns whether another thread of the block made this access since the last barrier.
bool other_thread(Stamp stamp, std::uint32_t thread, Stamp lowest, const Clock& clock) {
  return clock.barrier != kNever && stamp >= std::max(lowest, clock.barrier) && thread != clock.thread;
}

[[noreturn]] void fail_threads(const BoundBuffer& bound, std::int64_t position, std::uint32_t other, const Clock& clock,
                               const char* what) {
  const std::string who = other == kManyThreads ? "others" : "thread " + std::to_string(other);
  throw InterpreterError("a race of threads on " + element(bound, position) + ": between two barriers thread " +
                         std::to_string(clock.thread) + what + who);
}

// Returns whether the access happened in an earlier iteration of the running parallel loop.
bool earlier_iteration(Stamp stamp, Stamp lowest, const Clock& clock) {
  return stamp >= std::max(lowest, clock.loop_began) && stamp < clock.iteration_began;
}

[[noreturn]] void fail_race(const BoundBuffer& bound, std::int64_t position) {
  throw InterpreterError("two iterations of a parallel loop touch " + at(bound, position) +
                         ", and one of them writes it");
}

void check_thread(const BoundBuffer& bound, std::int64_t position, const Workspaces& workspaces) {
  if (bound.of_thread && bound.thread_id != workspaces.thread_id) {
    throw InterpreterError("another thread's workspace is used through " + at(bound, position));
  }
}

// Returns the time before which accesses do not matter: when the buffer came into being, or 0 in the workspace, which
// all threads share.
Stamp oldest_concern(const BoundBuffer& bound) { return bound.in_workspace ? 0 : bound.born; }

}  // namespace

Stamp Clock::tick() {
  if (now == kNever - 1) throw InterpreterError("the program is too long to interpret");
  return ++now;
}

void finish_shape(BoundBuffer& bound, bool dense) {
  const std::size_t rank = bound.shape.size();
  for (std::int64_t& extent : bound.shape) extent = std::max<std::int64_t>(extent, 0);
  const bool empty = std::find(bound.shape.begin(), bound.shape.end(), 0) != bound.shape.end();
  if (dense) {
    bound.strides.resize(rank);
    std::int64_t stride = 1;
    for (std::size_t d = rank; d-- > 0;) {
      bound.strides[d] = stride;
      if (!empty && __builtin_mul_overflow(stride, bound.shape[d], &stride)) {
        throw InterpreterLimit("'" + bound.buffer->name + "' has more elements than can be counted");
      }
    }
    bound.count = empty ? 0 : stride;
    return;
  }
  bound.count = empty ? 0 : 1;
  for (std::size_t d = 0; d < rank && !empty; ++d) {
    if (bound.strides[d] < 0) throw InterpreterError("'" + bound.buffer->name + "' has a negative stride");
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(bound.shape[d] - 1, bound.strides[d], &reach) ||
        __builtin_add_overflow(bound.count, reach, &bound.count)) {
      throw InterpreterLimit("'" + bound.buffer->name + "' has more elements than can be counted");
    }
  }
}

void fail_index(const BoundBuffer& bound, const std::vector<std::int64_t>& indices, std::size_t dimension) {
  throw InterpreterError(bound.buffer->name + "[" + list(indices) + "]: index " + std::to_string(dimension) +
                         " is outside 0:" + std::to_string(bound.shape[dimension]) + " (shape [" + list(bound.shape) +
                         "])");
}

void fail_position(const BoundBuffer& bound, std::int64_t position) {
  throw InterpreterError(at(bound, position) + " is outside 0:" + std::to_string(bound.count) + " (shape [" +
                         list(bound.shape) + "])");
}

void note_read(BoundBuffer& bound, std::int64_t position, const Clock& clock, const Workspaces& workspaces) {
  if (bound.shadow == nullptr) return;
  check_thread(bound, position, workspaces);
  const std::int64_t step = bound.in_workspace ? bound.bytes : 1;
  const Stamp concern = oldest_concern(bound);
  for (std::int64_t i = 0; i < step; ++i) {
    Shadow& shadow = bound.shadow[position * step + i];
    if (shadow.writer < bound.born || (bound.in_workspace && shadow.owner != bound.born)) {
      const char* other = bound.has_async_stores ? ", or whose copy nobody waited for" : "";
      throw InterpreterError("a value is read that was never written" + std::string(other) + ": " +
                             at(bound, position));
    }
    if (bound.of_thread) continue;
    if (earlier_iteration(shadow.writer, concern, clock)) fail_race(bound, position);
    if (other_thread(shadow.writer, shadow.writing_thread, concern, clock))
      fail_threads(bound, position, shadow.writing_thread, clock, " reads what is written by ");
    if (clock.barrier != kNever) {
      const bool is_first = shadow.thread_read < std::max(concern, clock.barrier);
      shadow.reading_thread = is_first || shadow.reading_thread == clock.thread ? clock.thread : kManyThreads;
      if (is_first) shadow.thread_read = clock.now;
    }
    if (shadow.reader < std::max(concern, clock.loop_began)) shadow.reader = clock.now;
  }
}

void note_write(BoundBuffer& bound, std::int64_t position, const Clock& clock, const Workspaces& workspaces) {
  if (bound.read_only) throw InterpreterError("an input is written: " + at(bound, position));
  check_thread(bound, position, workspaces);
  const std::int64_t step = bound.in_workspace ? bound.bytes : 1;
  const Stamp concern = oldest_concern(bound);
  for (std::int64_t i = 0; i < step; ++i) {
    Shadow& shadow = bound.shadow[position * step + i];
    if (!bound.of_thread &&
        (earlier_iteration(shadow.writer, concern, clock) || earlier_iteration(shadow.reader, concern, clock))) {
      fail_race(bound, position);
    }
    if (other_thread(shadow.writer, shadow.writing_thread, concern, clock))
      fail_threads(bound, position, shadow.writing_thread, clock, " writes what is written by ");
    if (other_thread(shadow.thread_read, shadow.reading_thread, concern, clock))
      fail_threads(bound, position, shadow.reading_thread, clock, " writes what is read by ");
    shadow.writer = clock.now;
    shadow.writing_thread = clock.thread;
    shadow.owner = bound.born;
  }
}

void note_start(BoundBuffer& bound, std::int64_t position) {
  bound.has_async_stores = true;
  bound.shadow[position].writer = 0;
}

void allocate(BoundBuffer& bound, Clock& clock) {
  if (bound.count > kMaxBytes / bound.bytes) {
    throw InterpreterLimit("'" + bound.buffer->name + "' is too large to interpret");
  }
  const auto count = static_cast<std::size_t>(bound.count);
  // Old shadows may stay: entries older than the buffer count as never written.
  if (bound.shadows.size() < count) bound.shadows.resize(count);
  bound.storage.assign(count * bound.bytes, kPoison);
  bound.data = bound.storage.data();
  bound.shadow = bound.shadows.data();
  bound.born = clock.tick();
}

void place(BoundBuffer& bound, Clock& clock, Workspaces& workspaces, WorkspaceKind which, std::int64_t offset) {
  WorkspaceBlock& block = which == WorkspaceKind::call ? workspaces.call : workspaces.thread;
  const auto size = static_cast<std::int64_t>(block.bytes.size());
  const bool fits = offset >= 0 && offset <= size && bound.count <= (size - offset) / bound.bytes;
  if (!fits || offset % 64 != 0) {
    throw InterpreterError("'" + bound.buffer->name + "' has no place at offset " + std::to_string(offset) +
                           " of a workspace of " + std::to_string(size) + " bytes");
  }
  bound.data = block.bytes.data() + offset;
  bound.shadow = block.shadows.data() + offset;
  bound.in_workspace = true;
  bound.of_thread = which == WorkspaceKind::thread;
  bound.thread_id = workspaces.thread_id;
  bound.born = clock.tick();
}

}  // namespace ferry::ir::interp
