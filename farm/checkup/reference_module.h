// The kernels by whose times a board's health is judged, compiled for the board.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ferry/client.h"
#include "host/compiler/api/compiler.h"

namespace ferry::farm {

struct ReferenceSizes {
  std::int64_t compute = 192;  // rows and columns of the matrices
  std::uint64_t memory = 0;    // bytes of the memory job's input; 0: more than the board's caches hold
  std::int64_t ping = 16;      // elements

  bool operator==(const ReferenceSizes&) const = default;
};

// Replaces a memory of 0 by a size for this board: twice its largest cache, but no more than a share of its memory.
// The board is not trusted, so the result is within limits whatever it says.
ReferenceSizes sizes_for(const ReferenceSizes& sizes, const DeviceFacts& facts);

// Threads may share one.
class ReferenceModules {
 public:
  static constexpr std::size_t kMaxKept = 32;

  explicit ReferenceModules(const Compiler& compiler) : compiler_(compiler) {}

  // The module with the functions compute(A, B) -> C, memory(A) -> B and ping(A) -> B. Throws CompileError if there is
  // no such target.
  CompiledModule module_for(const DeviceFacts& facts, const ReferenceSizes& sizes);

 private:
  const Compiler& compiler_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, CompiledModule>> kept_;  // by target and sizes, the latest last
};

}  // namespace ferry::farm
