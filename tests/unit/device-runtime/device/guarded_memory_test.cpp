#include "device-runtime/device/guarded_memory.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "device-runtime/device/cpu_device.h"

namespace ferry::device {
namespace {

// Returns whether writing at this address ends the process.
bool is_out_of_bounds(std::uint8_t* place) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile std::uint8_t*>(place) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

TEST_CASE("a block is zeroed and aligned, and whole pages have nothing between them and the guards") {
  GuardedMemory memory;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const std::uint64_t bytes : {page, 3 * page, std::uint64_t{1} << 20}) {
    auto* block = static_cast<std::uint8_t*>(memory.take(bytes));
    REQUIRE(block != nullptr);
    for (std::uint64_t i = 0; i < bytes; ++i) REQUIRE(block[i] == 0);
    CHECK(is_out_of_bounds(block - 1));
    CHECK(is_out_of_bounds(block + bytes));
    CHECK(!is_out_of_bounds(block));
    CHECK(!is_out_of_bounds(block + bytes - 1));
    CHECK(memory.give_back(block));
  }
}

TEST_CASE("a changed byte beside a block of any size is found, and on which side it is") {
  for (std::uint64_t bytes = 1; bytes < 300; bytes += 7) {
    CAPTURE(bytes);
    GuardedMemory memory;
    auto* other = static_cast<std::uint8_t*>(memory.take(100));
    auto* block = static_cast<std::uint8_t*>(memory.take(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    CHECK(memory.damage().memory == nullptr);
    block[-1] ^= 1;
    CHECK(memory.damage().memory == block);
    CHECK(!memory.damage().is_behind);
    block[-1] ^= 1;
    if (bytes % 64 != 0) {
      block[bytes] ^= 1;
      CHECK(memory.damage().memory == block);
      CHECK(memory.damage().is_behind);
      block[bytes] ^= 1;
    } else {
      CHECK(is_out_of_bounds(block + bytes));
    }
    CHECK(memory.damage().memory == nullptr);
    CHECK(memory.give_back(block));
    CHECK(!memory.give_back(block));
    CHECK(memory.give_back(other));
  }
}

TEST_CASE("a device that guards its memory counts whole pages, and gives them all back") {
  MemoryBudget budget(1 << 20);
  CpuDevice device({"cpu", "test", 0}, 1, budget);
  device.guard_memory();
  const auto block = device.allocate(10);
  REQUIRE(block.is_ok());
  CHECK(budget.used() == static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  static_cast<std::uint8_t*>(block.value())[-1] = 3;
  CHECK(device.memory_damage().memory == block.value());
  device.release(block.value(), 10);
  CHECK(budget.used() == 0);
  CHECK(device.memory_damage().memory == nullptr);
  CHECK(device.allocate((1 << 20) + 1).status().code() == ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace ferry::device
