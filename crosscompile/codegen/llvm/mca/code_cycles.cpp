#include "crosscompile/codegen/llvm/mca/code_cycles.h"

#include "crosscompile/codegen/llvm/mca/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace ferry::codegen {

namespace {

// Code that executes at most so many instructions is simulated as a whole, with the loops in it, so that what follows a
// loop runs beside it as far as the core's window reaches.
constexpr double kTogether = 2000;
// Code is repeated until the simulation has about so many instructions.
constexpr double kSimulated = 2000;
constexpr double kMostRepetitions = 100;
// Code that executes a smaller part of all instructions is not simulated; each of its instructions counts kOtherCycles.
constexpr double kSimulatedShare = 0.002, kOtherCycles = 0.5;

class Count {
 public:
  Count(const CodeLoops& code, const CoreModel& core, Simulator& simulator)
      : code_(code), core_(core), simulator_(simulator) {
    for (const CodeBlock& block : code.blocks) {
      std::vector<std::size_t>& numbers = blocks_.emplace_back();
      for (const llvm::MCInst& instruction : block) {
        const auto number = simulator.add(instruction);
        if (number) numbers.push_back(*number);
        are_known_ = are_known_ && (number || simulator.is_ignored(instruction));
      }
    }
  }

  std::optional<double> run() {
    if (!are_known_) return std::nullopt;
    executed_ = instructions(code_.body);
    return are_known_ ? std::optional(cycles(code_.body, 1)) : std::nullopt;
  }

 private:
  using Parts = std::span<const CodePart>;

  // Returns how many are executed in an iteration of a loop.
  double instructions(const CodeLoop& loop) {
    const auto known = sizes_.find(&loop);
    if (known != sizes_.end()) return known->second;
    double sum = 0;
    for (const CodePart& part : loop.parts) sum += instructions(part);
    are_known_ = are_known_ && loop.trips > 0;
    return sizes_[&loop] = sum;
  }
  double instructions(const CodePart& part) {
    if (part.loop != nullptr) return part.share * part.loop->trips * instructions(*part.loop);
    return part.share * static_cast<double>(code_.blocks[part.block].size());
  }

  // Returns how many are executed if everything in the part runs.
  double most_instructions(const CodePart& part) {
    if (part.loop == nullptr) return static_cast<double>(code_.blocks[part.block].size());
    double sum = 0;
    for (const CodePart& inner : part.loop->parts) sum += most_instructions(inner);
    return part.loop->trips * sum;
  }

  // Returns the cycles of all iterations each time that a loop is entered, which happens `entered` times.
  double cycles(const CodeLoop& loop, double entered) {
    const double trips = loop.trips;
    double each = 0;
    for (std::size_t first = 0, end = 0; first < loop.parts.size(); first = end) {
      double together = 0, size = 0;
      for (; end < loop.parts.size() && together + most_instructions(loop.parts[end]) <= kTogether; ++end) {
        together += most_instructions(loop.parts[end]);
        size += instructions(loop.parts[end]);
      }
      if (end > first) {
        each += repeated(Parts(loop.parts).subspan(first, end - first), size, trips, entered * trips);
        continue;
      }
      const CodePart& part = loop.parts[end++];
      if (part.loop == nullptr) {
        each += repeated({&part, 1}, instructions(part), trips, entered * trips);
        continue;
      }
      each += part.share * (cycles(*part.loop, entered * trips * part.share) + core_.loop_cycles(part.loop->trips));
    }
    return each * trips;
  }

  // Returns the cycles of code that runs again and again. `size`: the instructions that it executes; `executed`: how
  // often it runs in all.
  double repeated(Parts parts, double size, double trips, double executed) {
    if (size * executed < kSimulatedShare * executed_) return size * kOtherCycles;
    const double enough = std::clamp(std::ceil(kSimulated / std::max(size, 1.0)), 1.0, kMostRepetitions);
    const auto repetitions = static_cast<std::size_t>(trips > 1 ? std::min(enough, trips) : enough);
    const std::size_t warm_up = repetitions / 4;
    trace_.clear();
    exits_ = 0;
    credits_.clear();
    std::size_t begin = 0;
    double exits_before = 0;
    for (std::size_t i = 0; i < repetitions; ++i) {
      if (i == warm_up) begin = trace_.size(), exits_before = exits_;
      for (const CodePart& part : parts) append(part);
    }
    if (trace_.size() == begin) return 0;
    const double simulated = simulator_.cycles(trace_, begin) + exits_ - exits_before;
    return simulated / static_cast<double>(repetitions - warm_up);
  }

  void append(const CodePart& part) {
    // A part with a share of a half is in every second iteration.
    double& credit = credits_.try_emplace(&part, 0.5).first->second;
    credit += part.share;
    while (credit >= 1) {
      credit -= 1;
      if (part.loop == nullptr) {
        const std::vector<std::size_t>& block = blocks_[part.block];
        trace_.insert(trace_.end(), block.begin(), block.end());
        continue;
      }
      for (std::int64_t i = std::llround(part.loop->trips); i > 0; --i)
        for (const CodePart& inner : part.loop->parts) append(inner);
      exits_ += core_.loop_cycles(part.loop->trips);
    }
  }

  const CodeLoops& code_;
  const CoreModel& core_;
  Simulator& simulator_;
  double executed_ = 0;                           // instructions
  bool are_known_ = true;                         // all instructions and loops
  std::vector<std::vector<std::size_t>> blocks_;  // the simulator's numbers
  std::unordered_map<const CodeLoop*, double> sizes_;
  std::unordered_map<const CodePart*, double> credits_;
  std::vector<std::size_t> trace_;
  double exits_ = 0;  // cycles of the loops that the trace leaves
};

}  // namespace

std::optional<double> cycles_of(const CodeLoops& code, const Target& target, const CoreModel& core) {
  Simulator simulator(target, core.cpu);
  if (!simulator.is_complete()) return std::nullopt;
  return Count(code, core, simulator).run();
}

}  // namespace ferry::codegen
