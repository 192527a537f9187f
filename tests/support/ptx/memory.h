// Memory as threads see it: exact bounds, alignment, bytes that were never written, and accesses that no barrier orders
// (PTX ISA, "Memory Consistency Model": two accesses to a byte, one of which writes, must be ordered).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/ptx/program.h"

namespace ferry::ptx {

enum class FaultKind { illegal_address, misaligned, race, unwritten, divergence, endless, invalid_launch };

struct Fault : std::runtime_error {
  Fault(FaultKind what, const std::string& message) : std::runtime_error(message), kind(what) {}
  FaultKind kind;
};

// The last accesses to a byte. Threads are numbered from 1 across the grid; an epoch is the number of barriers before
// the access.
struct Touched {
  std::uint32_t writer = 0, write_epoch = 0;
  std::uint32_t reader = 0, read_epoch = 0;
  std::uint16_t write_line = 0;
  enum Readers : std::uint8_t { nobody, one, of_one_block, of_all } readers = nobody;
  std::uint8_t pending = 0;  // number of asynchronous copies that may still write it
};

struct Access {
  std::uint32_t thread, epoch, block_threads;
  std::uint16_t line;
};
// Return false if the access is not ordered after those of other threads; conflict() then names one of them. Otherwise
// the access is recorded.
bool note_read(Touched& byte, const Access& access, bool is_read_only);
bool note_write(Touched& byte, const Access& access);
std::string conflict(const Touched& byte, const Access& access, bool is_write);

// An array. It does not own its bytes; `unwritten` and `touched` are allocated when it is first used.
struct Region {
  Word address = 0;
  std::size_t bytes = 0;
  std::uint8_t* content = nullptr;
  std::vector<std::uint8_t> unwritten{};  // 1 for each unwritten byte; empty if all were written
  std::vector<Touched> touched{};
};

// The regions, sorted by address.
class Regions {
 public:
  explicit Regions(std::vector<Region> regions);
  // Returns the region that contains the whole range; null if there is none.
  Region* find(Word address, std::size_t bytes);
  const std::vector<Region>& all() const { return regions_; }

 private:
  std::vector<Region> regions_;
  std::size_t last_ = 0;
};

}  // namespace ferry::ptx
