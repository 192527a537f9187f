#include "host/kernel/hot_code.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ferry {

namespace {

// Loops smaller than this share of a function's largest one are left out: they compute what is left over.
constexpr std::size_t kLeastShare = 4;

std::size_t largest_loop(const MachineFunction& function) {
  std::size_t largest = 0;
  for (const CodeLoop& loop : innermost_loops(function)) largest = std::max(largest, loop.size());
  return largest;
}

const MachineFunction* find(std::span<const MachineFunction> functions, const std::string& name) {
  const auto found = std::ranges::find(functions, name, &MachineFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

// Labels are numbered in the order of their places, so that code that moves keeps its labels.
std::string instructions_text(const MachineFunction& function, std::size_t first, std::size_t last) {
  std::map<std::size_t, std::size_t> labels;
  for (std::size_t i = first; i <= last; ++i) {
    const std::optional<std::size_t>& target = function.instructions[i].target;
    if (target && *target >= first && *target <= last) labels.emplace(*target, 0);
  }
  std::size_t number = 0;
  for (auto& [place, label] : labels) label = ++number;
  std::string text;
  for (std::size_t i = first; i <= last; ++i) {
    if (const auto label = labels.find(i); label != labels.end()) text += "L" + std::to_string(label->second) + ":\n";
    const MachineInstruction& instruction = function.instructions[i];
    text += "  " + instruction.text;
    if (instruction.target) {
      const auto label = labels.find(*instruction.target);
      text += label == labels.end() ? (*instruction.target < first ? " before" : " behind")
                                    : " L" + std::to_string(label->second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::vector<CodeLoop> innermost_loops(const MachineFunction& function) {
  // The last branch back to each place.
  std::map<std::size_t, std::size_t> ends;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const std::optional<std::size_t>& target = function.instructions[i].target;
    if (target && *target <= i) ends[*target] = i;
  }
  std::vector<CodeLoop> innermost;
  // A loop contains another one if any begins within it and ends before it does.
  std::size_t least_end = function.instructions.size();
  for (auto loop = ends.rbegin(); loop != ends.rend(); ++loop) {
    if (loop->second < least_end) {
      innermost.push_back({loop->first, loop->second});
      least_end = loop->second;
    }
  }
  std::ranges::reverse(innermost);
  return innermost;
}

std::vector<std::string> hottest_functions(std::span<const MachineFunction> functions, std::size_t most) {
  std::vector<const MachineFunction*> sorted;
  for (const MachineFunction& function : functions) {
    if (largest_loop(function) > 0) sorted.push_back(&function);
  }
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const MachineFunction* function) { return largest_loop(*function); });
  std::vector<std::string> names;
  for (const MachineFunction* function : sorted) {
    if (names.size() < most) names.push_back(function->name);
  }
  return names;
}

std::string HotLoop::titled() const {
  return function + ": a loop of " + std::to_string(instructions) + " instructions in the code of one iteration\n" +
         text;
}

std::vector<HotLoop> hot_loops(std::span<const MachineFunction> functions, std::span<const std::string> names) {
  std::vector<HotLoop> loops;
  for (const std::string& name : names) {
    const MachineFunction* function = find(functions, name);
    if (function == nullptr) continue;
    const std::size_t largest = largest_loop(*function);
    for (const CodeLoop& loop : innermost_loops(*function)) {
      if (loop.size() * kLeastShare < largest) continue;
      loops.push_back({name, loop.size(), instructions_text(*function, loop.first, loop.last)});
    }
  }
  return loops;
}

std::string hot_text(std::span<const MachineFunction> functions, std::span<const std::string> names) {
  std::string text;
  for (const HotLoop& loop : hot_loops(functions, names)) text += loop.titled();
  return text;
}

std::string code_text(std::span<const MachineFunction> functions) {
  std::string text;
  for (const MachineFunction& function : functions) {
    text += function.name + ":\n";
    if (!function.instructions.empty()) text += instructions_text(function, 0, function.instructions.size() - 1);
  }
  return text;
}

}  // namespace ferry
