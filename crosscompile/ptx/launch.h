// Runs a kernel's grid.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "crosscompile/ptx/memory.h"
#include "crosscompile/ptx/program.h"

namespace ferry::ptx {

// When the bytes of an asynchronous copy arrive: at once, when a thread waits for them, or at some time in between.
enum class Landing { early, late, random };

struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_bytes = 0;
  std::vector<std::uint8_t> parameters{};  // laid out as the kernel takes them
  std::uint64_t seed = 0;                  // for the order of blocks and threads
  Landing landing = Landing::random;
  std::uint64_t most_steps = std::uint64_t{1} << 36;  // limit for each block
  std::optional<std::chrono::steady_clock::time_point> deadline{};
};

inline constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 24;

// Returns the size of a kernel's static shared memory.
std::size_t shared_bytes_of(const Function& kernel);

// `memory` is all memory that the kernel may access besides the program's own variables, whose contents change. Throws
// Fault. Returns the regions as the kernel leaves them, sorted by address.
std::vector<Region> run(const Launch& launch, std::vector<Region> memory);

}  // namespace ferry::ptx
