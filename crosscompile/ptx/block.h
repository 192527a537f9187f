// The threads of a block, which run in random order between the points where they wait for each other.
#pragma once

#include <random>

#include "crosscompile/ptx/launch.h"
#include "crosscompile/ptx/thread.h"

namespace ferry::ptx {

// The threads of a warp by lane; null if there is no such thread or it has ended.
class Warp {
 public:
  std::array<Thread*, 32> lanes{};
  Thread& first() const {
    for (Thread* lane : lanes)
      if (lane != nullptr) return *lane;
    throw std::logic_error("a warp without threads");
  }
};

// How a barrier combines the predicates of its threads: the modes of "bar" instructions.
enum BarrierReduction { kNoReduction, kCount, kAll, kAny };

class Block {
 public:
  Block(const Launch& launch, Regions& global, std::array<unsigned, 3> index, std::uint32_t number,
        std::mt19937_64& random);
  void run();

  const Launch& launch() const { return launch_; }
  Regions& global() { return global_; }
  Regions& shared() { return shared_; }
  std::uint32_t number() const { return number_; }
  Synchronization& synchronization() { return synchronization_; }
  std::uint32_t thread_count() const { return count_; }
  std::mt19937_64& random() { return random_; }
  void count_steps(std::uint64_t steps);
  std::string text() const;  // "block (0,1,0)"

 private:
  void run_warp_of(const Thread& thread);
  void run_together(Thread& thread);
  void pass_barrier();
  void reduce_at_barrier();

  const Launch& launch_;
  Regions& global_;
  std::array<unsigned, 3> index_;
  std::uint32_t number_, count_;
  Synchronization synchronization_;
  std::uint64_t steps_ = 0;
  std::mt19937_64& random_;
  std::vector<std::uint8_t> shared_content_;
  Regions shared_;
  std::vector<Thread> threads_;
  std::vector<std::size_t> runnable_;
};

}  // namespace ferry::ptx
