#include "crosscompile/ptx/block.h"

#include <algorithm>

namespace ferry::ptx {
namespace {

constexpr unsigned kWarp = 32, kMostThreads = 1024;
constexpr std::uint8_t kGarbage = 0x5a;

std::size_t shared_end(const Launch& launch) {
  std::size_t end = 0;
  for (const Array& one : launch.kernel->shared) end = std::max<std::size_t>(end, one.offset + one.bytes);
  return end;
}

std::vector<Region> shared_regions(const Launch& launch, std::vector<std::uint8_t>& content) {
  const std::size_t end = shared_end(launch);
  content.assign(end + launch.dynamic_bytes, kGarbage);
  std::vector<Region> regions;
  const auto add = [&](Word address, std::size_t bytes, std::size_t at, const std::string& name) {
    regions.push_back({address, bytes, content.data() + at, std::vector<std::uint8_t>(bytes, 1), name});
  };
  for (const Array& one : launch.kernel->shared) add(one.offset, one.bytes, one.offset, one.name);
  if (launch.kernel->has_dynamic && launch.dynamic_bytes > 0)
    add(launch.kernel->dynamic_offset, launch.dynamic_bytes, end, launch.kernel->dynamic_name);
  return regions;
}

void check(const Launch& launch) {
  const Function& kernel = *launch.kernel;
  const std::array<unsigned, 3>&block = launch.block, required = kernel.required_threads, most = kernel.most_threads;
  const auto refuse = [&](const std::string& what) {
    throw Fault(FaultKind::invalid_launch, kernel.shown + ": " + what);
  };
  const auto count = [](const std::array<unsigned, 3>& extents) {
    unsigned __int128 product = 1;
    for (const unsigned extent : extents) product *= extent;
    return product;
  };
  if (count(block) == 0 || count(block) > kMostThreads)
    refuse("launched with blocks of no or of more than 1,024 threads");
  if (count(launch.grid) > kMostBlocks || count(launch.grid) * count(block) > UINT32_MAX)
    refuse("launched with more blocks than the interpreter runs, " + grouped(kMostBlocks));
  if (required[0] != 0 && block != required) refuse("launched with other blocks than .reqntid says");
  if (most[0] != 0 && count(block) > count(most)) refuse("launched with more threads than .maxntid allows");
  std::size_t bytes = 0;
  for (const Parameter& one : kernel.parameters) bytes = std::max(bytes, one.offset + one.bytes);
  if (launch.parameters.size() != bytes) refuse("launched with other parameters");
}

}  // namespace

Block::Block(const Launch& launch, Regions& global, std::array<unsigned, 3> index, std::uint32_t number,
             std::mt19937_64& random)
    : launch_(launch),
      global_(global),
      index_(index),
      number_(number),
      count_(launch.block[0] * launch.block[1] * launch.block[2]),
      synchronization_((count_ + kWarp - 1) / kWarp),
      random_(random),
      shared_(shared_regions(launch, shared_content_)) {
  threads_.reserve(count_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Word x = i % launch.block[0], y = i / launch.block[0] % launch.block[1],
               z = i / launch.block[0] / launch.block[1];
    const std::array<Word, kSpecialRegisters.size()> specials = {x,
                                                                 y,
                                                                 z,
                                                                 launch.block[0],
                                                                 launch.block[1],
                                                                 launch.block[2],
                                                                 index[0],
                                                                 index[1],
                                                                 index[2],
                                                                 launch.grid[0],
                                                                 launch.grid[1],
                                                                 launch.grid[2],
                                                                 i % kWarp,
                                                                 i / kWarp,
                                                                 1U << i % kWarp,
                                                                 (2U << i % kWarp) - 1U,
                                                                 (1U << i % kWarp) - 1U,
                                                                 ~((1U << i % kWarp) - 1U),
                                                                 ~((2U << i % kWarp) - 1U),
                                                                 (count_ + kWarp - 1) / kWarp};
    threads_.emplace_back(*this, *launch.kernel, i, specials, launch.parameters);
    runnable_.push_back(i);
  }
}

std::string Block::text() const {
  return "block (" + std::to_string(index_[0]) + "," + std::to_string(index_[1]) + "," + std::to_string(index_[2]) +
         ")";
}

void Block::count_steps(std::uint64_t steps) {
  steps_ += steps;
  if (steps_ > launch_.most_steps)
    throw Fault(FaultKind::endless, launch_.kernel->shown + ": " + text() + " does not end");
  if (launch_.deadline && std::chrono::steady_clock::now() > *launch_.deadline)
    throw Fault(FaultKind::endless, launch_.kernel->name + ": it takes longer than its deadline");
}

void Block::run() {
  for (;;) {
    while (!runnable_.empty()) {
      const std::size_t pick = random_() % runnable_.size();
      std::swap(runnable_[pick], runnable_.back());
      Thread& thread = threads_[runnable_.back()];
      runnable_.pop_back();
      thread.land_some_copies();
      thread.run();
      run_warp_of(thread);
    }
    if (std::all_of(threads_.begin(), threads_.end(), [](const Thread& one) { return one.state() == State::ended; }))
      return;
    pass_barrier();
  }
}

// Lets lanes go on that wait for each other, if this thread was the last of them.
void Block::run_warp_of(const Thread& thread) {
  if (thread.state() == State::at_warp) return run_together(threads_[thread.index()]);
  if (thread.state() != State::ended) return;
  const std::size_t first = thread.index() / kWarp * kWarp, end = std::min<std::size_t>(first + kWarp, threads_.size());
  for (std::size_t i = first; i < end; ++i)
    if (threads_[i].state() == State::at_warp) run_together(threads_[i]);
}

// Executes the instruction at which the thread waits once all lanes that it names, and that have not ended, wait there.
void Block::run_together(Thread& thread) {
  const Instruction& instruction = *thread.waits_at();
  const std::size_t first = thread.index() / kWarp * kWarp;
  const std::uint32_t named = thread.lanes_of(instruction), self = 1U << thread.index() % kWarp;
  if ((named & self) == 0) thread.fail(FaultKind::divergence, "a lane takes part that its mask does not name");
  Warp warp;
  for (std::size_t lane = 0; lane < kWarp && first + lane < threads_.size(); ++lane) {
    Thread& one = threads_[first + lane];
    if ((named >> lane & 1) == 0 || one.state() == State::ended) continue;
    if (one.state() != State::at_warp) return;
    const std::uint32_t names = one.lanes_of(*one.waits_at());
    const bool expects_this = (names & self) != 0;
    if (one.waits_at() != &instruction) {
      if (!expects_this) return;
      one.fail(FaultKind::divergence, "its warp is at " + launch_.program->place_text(instruction.place) +
                                          ": threads of a warp do this instruction together");
    }
    if (names != named)
      one.fail(FaultKind::divergence, "another lane of its warp names other lanes for the same instruction");
    warp.lanes[lane] = &one;
  }
  instruction.together(warp, instruction);
  for (Thread* lane : warp.lanes) {
    if (lane == nullptr) continue;
    lane->go_on();
    runnable_.push_back(lane->index());
  }
}

// Passes the barrier; called when no thread of the block can run.
void Block::pass_barrier() {
  const Instruction* of_warp = nullptr;
  for (Thread& thread : threads_) {
    if (thread.index() % kWarp == 0) of_warp = nullptr;
    if (thread.state() == State::ended)
      thread.fail(FaultKind::divergence, "it has ended, and others wait at a barrier for all threads of the block");
    if (thread.state() != State::at_barrier)
      thread.fail(FaultKind::divergence, "it waits for the other threads of its warp, which wait elsewhere");
    if (of_warp != nullptr && of_warp != thread.waits_at())
      thread.fail(FaultKind::divergence,
                  "another thread of its warp waits at the barrier of " + launch_.program->place_text(of_warp->place));
    of_warp = thread.waits_at();
  }
  reduce_at_barrier();
  synchronization_.pass_barrier();
  for (Thread& thread : threads_) {
    thread.go_on();
    runnable_.push_back(thread.index());
  }
}

// "bar.red.OP d, 0, p": combines a predicate of all threads.
void Block::reduce_at_barrier() {
  const auto reduction_of = [](const Thread& thread) { return thread.waits_at()->mode; };
  const int reduction = reduction_of(threads_.front());
  std::uint64_t holds = 0;
  for (Thread& thread : threads_) {
    if (reduction_of(thread) != reduction)
      thread.fail(FaultKind::divergence, "other threads of its block wait at another kind of barrier");
    if (reduction != kNoReduction && thread.decides(thread.waits_at()->operands[2])) ++holds;
  }
  if (reduction == kNoReduction) return;
  const std::uint64_t result = reduction == kCount ? holds : reduction == kAll ? holds == threads_.size() : holds != 0;
  for (Thread& thread : threads_) thread.set(thread.waits_at()->operands[0], result, 0);
}

std::size_t shared_bytes_of(const Function& kernel) {
  std::size_t bytes = 0;
  for (const Array& one : kernel.shared) bytes += one.bytes;
  return bytes;
}

std::vector<Region> run(const Launch& launch, std::vector<Region> memory) {
  check(launch);
  auto& own = const_cast<std::vector<std::uint8_t>&>(launch.program->memory);
  for (const Array& one : launch.program->global)
    memory.push_back({kModuleMemory + one.offset, one.bytes, own.data() + one.offset, {}, one.name});
  Regions global(std::move(memory));
  std::mt19937_64 random(launch.seed);
  std::vector<std::uint32_t> order(std::size_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::uint32_t i : order) {
    Block block(launch, global,
                {i % launch.grid[0], i / launch.grid[0] % launch.grid[1], i / launch.grid[0] / launch.grid[1]}, i,
                random);
    block.count_steps(1);
    block.run();
  }
  return global.all();
}

}  // namespace ferry::ptx
