// Runs a kernel's grid.
#pragma once

#include <array>
#include <span>

#include "tests/support/ptx/memory.h"
#include "tests/support/ptx/program.h"

namespace ferry::ptx {

// When the bytes of an asynchronous copy arrive: at once, when somebody waits for them, or some time between.
enum class Landing { early, late, random };

struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_bytes = 0;
  std::vector<std::uint8_t> parameters{};  // as the kernel has them
  std::uint64_t seed = 0;                  // of the order of blocks and threads
  Landing landing = Landing::random;
  std::uint64_t most_steps = std::uint64_t{1} << 36;  // of a block
};

// Static shared memory of a kernel.
std::size_t shared_bytes_of(const Function& kernel);

// `memory`: all that the kernel may reach beside the program's own variables. Throws Fault.
void run(const Launch& launch, std::vector<Region> memory);

}  // namespace ferry::ptx
