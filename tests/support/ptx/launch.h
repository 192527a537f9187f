// Runs a kernel's grid.
#pragma once

#include <array>
#include <span>

#include "tests/support/ptx/memory.h"
#include "tests/support/ptx/program.h"

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
};

// Returns the size of a kernel's static shared memory.
std::size_t shared_bytes_of(const Function& kernel);

// `memory` is all memory that the kernel may access besides the program's own variables. Throws Fault.
void run(const Launch& launch, std::vector<Region> memory);

}  // namespace ferry::ptx
