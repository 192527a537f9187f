// Runs plans on memory whose bytes are names: each range holds the name of what was written there last. A kernel reads
// names and writes the name of the call, so a result's name says how it was computed.
#pragma once

#include <doctest/doctest.h>

#include "module/manifest.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ferry::graph {

// The memory that a fake kernel accesses. Operands of its step are its tensor parameters in order, then values.
struct FakeKernel {
  std::vector<Direction> directions;
  std::vector<std::uint64_t> bytes;  // size of each tensor parameter for the sizes of the call
};

// Names grow with the number of calls behind them.
inline std::string shortened(const std::string& name) {
  return name.size() < 80 ? name : "#" + std::to_string(std::hash<std::string>()(name));
}

class PlanMemory {
 public:
  PlanMemory(const FunctionInfo& function, const Plan& plan, const std::vector<std::int64_t>& symbols)
      : function_(function), plan_(plan), values_(symbols) {
    for (const ManifestExpr& value : plan.values) {
      const Result<std::int64_t> result = evaluate(value, values_);
      REQUIRE_MESSAGE(result.is_ok(), result.status().message());
      values_.push_back(result.value());
    }
  }

  void write(OperandKind kind, std::uint32_t index, std::uint64_t bytes, const std::string& name) {
    put({kind, index, kNoValue}, bytes, name);
  }
  void write(OperandKind kind, std::uint32_t index, std::uint64_t begin, std::uint64_t bytes, const std::string& name) {
    ranges_[{kind, index}][begin] = {bytes, name};
  }

  // Returns the name of what fills the range exactly.
  std::string read(const Operand& operand, std::uint64_t bytes) const {
    return read(operand.kind, operand.index, offset(operand), bytes);
  }
  std::string read(OperandKind kind, std::uint32_t index, std::uint64_t begin, std::uint64_t bytes) const {
    const auto buffer = ranges_.find({kind, index});
    if (bytes == 0) return "nothing";
    if (buffer == ranges_.end()) return "unwritten memory";
    const auto range = buffer->second.find(begin);
    return range == buffer->second.end() || range->second.first != bytes ? "a part of something" : range->second.second;
  }

  std::int64_t value(ValueIndex index) const { return index == kNoValue ? 0 : values_.at(index); }

  using Kernel = std::function<FakeKernel(const std::string& code, const std::vector<std::int64_t>& values)>;

  // Runs the steps. `kernel` says what the code of a call with these values accesses.
  void run(const Kernel& kernel) {
    run(0, plan_.steps.size(), kernel);
    for (const Operand& result : results_) CHECK(read(result, 4) == "result");
  }

  std::function<std::uint64_t(const std::string& code, const std::vector<std::int64_t>& values)> workspace_bytes =
      [](const auto&, const auto&) { return std::uint64_t{0}; };
  // Whether a condition of this name holds.
  std::function<bool(const std::string& name)> holds = [](const auto&) { return true; };

 private:
  void run(std::size_t first, std::size_t end, const Kernel& kernel) {
    for (std::size_t s = first; s < end; ++s) {
      const auto* repeat = std::get_if<RepeatStep>(&plan_.steps[s]);
      if (repeat == nullptr) {
        run(plan_.steps[s], kernel);
        continue;
      }
      const std::vector<std::int64_t> before = values_;
      for (std::int64_t i = 0; i < value(repeat->count); ++i) {
        if (repeat->condition && !holds(read(*repeat->condition, 1))) break;
        run(s + 1, s + 1 + repeat->steps, kernel);
        for (const LoopValue& loop : repeat->values) values_[loop.value] += value(loop.stride);
      }
      values_ = before;
      s += repeat->steps;
    }
  }

  void run(const Step& step, const Kernel& kernel) {
    if (const auto* copy = std::get_if<CopyStep>(&step)) {
      const auto bytes = static_cast<std::uint64_t>(value(copy->bytes));
      put(copy->to, bytes, read(copy->from, bytes));
      return;
    }
    if (const auto* fill = std::get_if<FillStep>(&step)) {
      put(fill->to, static_cast<std::uint64_t>(value(fill->bytes)), "zeros");
      return;
    }
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      run(*launch);
      return;
    }
    const auto& call = std::get<CallStep>(step);
    std::vector<std::int64_t> values;
    for (const Operand& operand : call.operands)
      if (operand.kind == OperandKind::value) values.push_back(value(operand.index));
    const FakeKernel accesses = kernel(call.symbol, values);
    std::string name = call.symbol + "(";
    for (std::size_t i = 0; i < accesses.bytes.size(); ++i)
      if (accesses.directions[i] == Direction::in) name += read(call.operands[i], accesses.bytes[i]) + ",";
    // The code may write to its workspace before it reads.
    if (call.workspace.is_given()) {
      const std::uint64_t bytes = workspace_bytes(call.symbol, values);
      put({OperandKind::workspace, call.workspace.workspace, call.workspace.offset}, bytes, "scratch");
      for (std::size_t i = 0; i < accesses.bytes.size(); ++i)
        if (accesses.directions[i] == Direction::in)
          CHECK(read(call.operands[i], accesses.bytes[i]) != "a part of something");
    }
    for (std::size_t i = 0; i < accesses.bytes.size(); ++i)
      if (accesses.directions[i] == Direction::out) put(call.operands[i], accesses.bytes[i], shortened(name + ")"));
    if (call.workspace.is_given() && workspace_bytes(call.symbol, values) > 0)
      CHECK(read({OperandKind::workspace, call.workspace.workspace, call.workspace.offset},
                 workspace_bytes(call.symbol, values)) == "scratch");
  }

  // A kernel of a GPU writes 4 bytes at its last operand, and its result.
  void run(const LaunchStep& launch) {
    put(launch.operands.back(), 4, launch.kernel);
    if (!launch.result.is_given()) return;
    results_.push_back({OperandKind::workspace, launch.result.workspace, launch.result.offset});
    put(results_.back(), 4, "result");
  }

  std::uint64_t offset(const Operand& operand) const { return static_cast<std::uint64_t>(value(operand.offset)); }

  void put(const Operand& operand, std::uint64_t bytes, const std::string& name) {
    const std::uint64_t begin = offset(operand), end = begin + bytes;
    if (operand.kind == OperandKind::workspace)
      CHECK(end <= static_cast<std::uint64_t>(value(plan_.workspaces.at(operand.index).bytes)));
    if (bytes == 0) return;
    auto& ranges = ranges_[{operand.kind, operand.index}];
    std::erase_if(ranges,
                  [&](const auto& range) { return range.first < end && begin < range.first + range.second.first; });
    ranges[begin] = {bytes, name};
  }

  const FunctionInfo& function_;
  const Plan& plan_;
  std::vector<std::int64_t> values_;
  std::vector<Operand> results_;  // results of the launches so far
  std::map<std::pair<OperandKind, std::uint32_t>, std::map<std::uint64_t, std::pair<std::uint64_t, std::string>>>
      ranges_;
};

}  // namespace ferry::graph
