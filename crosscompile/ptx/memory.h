// Memory as threads see it: exact bounds, alignment, bytes that were never written, and accesses that no barrier orders
// (PTX ISA, "Memory Consistency Model": two accesses to a byte, one of which writes, must be ordered, unless both are
// atomic).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "crosscompile/ptx/program.h"

namespace ferry::ptx {

enum class FaultKind { illegal_address, misaligned, race, unwritten, divergence, endless, invalid_launch };

struct Fault : std::runtime_error {
  Fault(FaultKind what, const std::string& message) : std::runtime_error(message), kind(what) {}
  FaultKind kind;
};

// The points at which threads of a running block wait for each other. Its clock ticks at each of them.
class Synchronization {
 public:
  explicit Synchronization(std::uint32_t warps) : warps_(warps) {}
  std::uint32_t now() const { return now_; }
  void pass_barrier();
  // Lanes of a warp have passed bar.warp.sync together.
  void pass_warp(std::uint32_t warp, std::uint32_t lanes);
  // Whether a barrier of the block has come since `time`.
  bool is_past_barrier(std::uint32_t time) const { return time < barrier_; }
  // Whether all these lanes of a warp have waited for this lane since `time`.
  bool have_met(std::uint32_t warp, std::uint32_t lanes, std::uint32_t lane, std::uint32_t time) const;

 private:
  struct Meeting {
    std::uint32_t time, lanes;
  };
  std::uint32_t now_ = 1, barrier_ = 0;
  std::vector<std::vector<Meeting>> warps_;  // since the last barrier
};

struct Access {
  std::uint32_t thread;  // counted from 1 across the grid
  std::uint32_t block_threads;
  std::uint32_t place;  // in Program::places
  const Synchronization* block;
  const Program* program;
};

// Threads that have accessed a byte, summarized: the last of them, and how far apart the others may be.
struct Accessors {
  enum Spread : std::uint8_t { nobody, one, of_one_warp, of_one_block, of_all };
  std::uint32_t last = 0, time = 0, place = 0;
  std::uint32_t lanes = 0;  // those of one warp
  Spread spread = nobody;
};

// The last accesses to a byte.
struct Touched {
  std::uint32_t writer = 0, write_time = 0, write_place = 0;
  Accessors readers = {};
  std::uint8_t pending = 0;  // number of asynchronous copies that may still write it
};

enum class AccessKind : std::uint8_t { read, read_only, write, atomic };

// An array. It does not own its bytes; `unwritten` and `touched` are allocated when it is first used.
struct Region {
  Word address = 0;
  std::size_t bytes = 0;
  std::uint8_t* content = nullptr;
  std::vector<std::uint8_t> unwritten{};  // 1 for each unwritten byte; empty if all were written
  std::string name{};                     // for messages; may be empty
  std::size_t element_bytes = 0;          // 0: its elements are unknown
  bool is_result = false;                 // nothing may be stored there that was never computed
  bool is_constant = false;               // nothing may be stored there
  std::vector<Touched> touched{};
  std::unordered_map<std::size_t, Accessors> atomics{};  // by byte
};

// Records an access to a byte. Returns a description of the access that it conflicts with; empty if there is none.
std::string note(Region& region, std::size_t byte, const Access& access, AccessKind kind);

// Returns "1,000".
std::string grouped(std::uint64_t count);

// Returns "c[5]", "byte 8 of s", or "address 4096" where the region has no name.
std::string place_in(const Region& region, Word address);

// The regions, sorted by address.
class Regions {
 public:
  explicit Regions(std::vector<Region> regions);
  // Returns the region that contains the whole range; null if there is none.
  Region* find(Word address, std::size_t bytes);
  // Returns the region with a name that is nearest to the address; null if none is within 2^32 bytes.
  const Region* nearest(Word address) const;
  const std::vector<Region>& all() const { return regions_; }

 private:
  std::vector<Region> regions_;
  std::size_t last_ = 0;
};

}  // namespace ferry::ptx
