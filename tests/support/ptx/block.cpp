#include "tests/support/ptx/block.h"

#include <algorithm>

namespace ferry::ptx {
namespace {

constexpr unsigned kWarp = 32;
constexpr std::uint8_t kGarbage = 0x5a;

std::size_t shared_end(const Launch& launch) {
  std::size_t end = 0;
  for (const auto& [offset, bytes] : launch.kernel->shared) end = std::max<std::size_t>(end, offset + bytes);
  return end;
}

std::vector<Region> shared_regions(const Launch& launch, std::vector<std::uint8_t>& content) {
  const std::size_t end = shared_end(launch);
  content.assign(end + launch.dynamic_bytes, kGarbage);
  std::vector<Region> regions;
  const auto add = [&](Word address, std::size_t bytes, std::size_t at) {
    regions.push_back({address, bytes, content.data() + at, std::vector<std::uint8_t>(bytes, 1)});
  };
  for (const auto& [offset, bytes] : launch.kernel->shared) add(offset, bytes, offset);
  if (launch.kernel->has_dynamic && launch.dynamic_bytes > 0)
    add(launch.kernel->dynamic_offset, launch.dynamic_bytes, end);
  return regions;
}

}  // namespace

Block::Block(const Launch& launch, Regions& global, std::array<unsigned, 3> index, std::uint32_t number,
             std::mt19937_64& random)
    : launch_(launch),
      global_(global),
      index_(index),
      number_(number),
      count_(launch.block[0] * launch.block[1] * launch.block[2]),
      random_(random),
      shared_(shared_regions(launch, shared_content_)) {
  threads_.reserve(count_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Word x = i % launch.block[0], y = i / launch.block[0] % launch.block[1],
               z = i / launch.block[0] / launch.block[1];
    const std::array<Word, kSpecialRegisters.size()> specials = {
        x,         y,        z,        launch.block[0], launch.block[1], launch.block[2],
        index[0],  index[1], index[2], launch.grid[0],  launch.grid[1],  launch.grid[2],
        i % kWarp, i / kWarp};
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
    throw Fault(FaultKind::endless, launch_.kernel->name + ": " + text() + " does not end");
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

// Executes a warp-level instruction once all threads of the warp that have not ended wait at it.
void Block::run_warp_of(const Thread& thread) {
  Warp warp;
  const std::size_t first = thread.index() / kWarp * kWarp;
  const Instruction* instruction = nullptr;
  for (std::size_t lane = 0; lane < kWarp && first + lane < threads_.size(); ++lane) {
    Thread& one = threads_[first + lane];
    if (one.state() == State::ended) continue;
    if (one.state() != State::at_warp) return;
    if (instruction != nullptr && instruction != one.waits_at())
      one.fail(FaultKind::divergence, "its warp is at line " + std::to_string(instruction->line) +
                                          ": threads of a warp do this instruction together");
    instruction = one.waits_at();
    warp.lanes[lane] = &one;
  }
  if (instruction == nullptr) return;
  instruction->together(warp, *instruction);
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
                  "another thread of its warp waits at the barrier of line " + std::to_string(of_warp->line));
    of_warp = thread.waits_at();
  }
  ++epoch_;
  for (Thread& thread : threads_) {
    thread.go_on();
    runnable_.push_back(thread.index());
  }
}

std::size_t shared_bytes_of(const Function& kernel) {
  std::size_t bytes = 0;
  for (const auto& [offset, size] : kernel.shared) bytes += size;
  return bytes;
}

void run(const Launch& launch, std::vector<Region> memory) {
  const Function& kernel = *launch.kernel;
  const std::array<unsigned, 3>&block = launch.block, required = kernel.required_threads, most = kernel.most_threads;
  const auto refuse = [&](const std::string& what) {
    throw Fault(FaultKind::invalid_launch, kernel.name + ": " + what);
  };
  if (required[0] != 0 && block != required) refuse("launched with other blocks than .reqntid says");
  if (most[0] != 0 && block[0] * block[1] * block[2] > most[0] * most[1] * most[2])
    refuse("launched with more threads than .maxntid allows");
  std::size_t bytes = 0;
  for (const Parameter& one : kernel.parameters) bytes = std::max(bytes, one.offset + one.bytes);
  if (launch.parameters.size() != bytes) refuse("launched with other parameters");
  auto& own = const_cast<std::vector<std::uint8_t>&>(launch.program->memory);
  for (const auto& [offset, size] : launch.program->global)
    memory.push_back({kModuleMemory + offset, size, own.data() + offset});
  Regions global(std::move(memory));
  std::mt19937_64 random(launch.seed);
  std::vector<std::uint32_t> order(std::size_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::uint32_t i : order)
    Block(launch, global,
          {i % launch.grid[0], i / launch.grid[0] % launch.grid[1], i / launch.grid[0] / launch.grid[1]}, i, random)
        .run();
}

}  // namespace ferry::ptx
