#include "host/gate/diff/diff_networks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "base/lines.h"
#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "host/gate/api/side.h"
#include "host/gate/diff/diff_text.h"
#include "host/gate/diff/gpu_kernels.h"
#include "host/kernel/hot_code.h"
#include "host/kernel/node_names.h"
#include "module/kernel_symbol.h"
#include "module/step_description.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kMostOperatorLines = 50;

// A kernel as a network's module has it.
struct NetworkKernel {
  std::string name;      // "conv_relu_0"
  std::string schedule;  // its directives
  std::vector<MachineFunction> functions;
  std::string gpu_text;  // the source of all its kernels for GPUs
};

// The result of one step, or of several for the same nodes.
struct Operator {
  StepDescription description;
  const NetworkKernel* kernel = nullptr;  // null for copies and fills
};

// Returns the directives of each kernel.
std::map<std::string, std::string> sections_of(const std::string& schedule) {
  constexpr std::string_view kDef = "def ";
  std::map<std::string, std::string> sections;
  std::string* section = nullptr;
  for (const std::string_view line : lines_of(schedule)) {
    if (line.starts_with(kDef)) {
      section = &sections[std::string(line.substr(kDef.size()))];
    } else if (section != nullptr && !line.empty()) {
      *section += std::string(line) + "\n";
    }
  }
  return sections;
}

std::string symbol_of(const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->symbol;
  const auto* launch = std::get_if<LaunchStep>(&step);
  return launch == nullptr ? "" : launch->kernel;
}

// Further kernels of a function for GPUs have a number behind its name.
std::string name_of_kernel(std::string symbol, const std::map<std::string, std::string>& sections) {
  if (symbol.starts_with(kSymbolPrefix)) symbol.erase(0, std::string_view(kSymbolPrefix).size());
  if (sections.contains(symbol)) return symbol;
  const std::string shorter = symbol.substr(0, symbol.find_last_not_of("0123456789") + 1);
  if (shorter.ends_with('_') && sections.contains(shorter.substr(0, shorter.size() - 1)))
    return shorter.substr(0, shorter.size() - 1);
  return symbol;
}

// A module's operators by the names of their nodes, and its kernels.
class NetworkParts {
 public:
  explicit NetworkParts(const NetworkSide& side)
      : functions_(side.functions), sections_(sections_of(side.file.schedule)) {
    for (const CodeImage& image : side.file.images) {
      if (!is_text(image)) continue;
      const GpuKernels found = gpu_kernels_of(text_of(image));
      for (const GpuKernel& one : found.kernels) gpu_texts_[name_of_kernel(one.symbol, sections_)] += one.text;
      beside_gpu_kernels_ += found.beside;
    }
    const std::vector<StepDescription> steps = value_or_throw(step_descriptions(side.file));
    const Plan& plan = side.file.manifest.functions.front().plan;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string symbol = symbol_of(plan.steps[i]);
      const auto [place, is_new] = operators_.try_emplace(steps[i].node, Operator{steps[i]});
      if (is_new) order_.push_back(steps[i].node);
      if (place->second.kernel == nullptr && !symbol.empty()) place->second.kernel = &kernel(symbol);
    }
  }
  NetworkParts(const NetworkParts&) = delete;

  const std::vector<std::string>& order() const { return order_; }
  const std::string& beside_gpu_kernels() const { return beside_gpu_kernels_; }
  const Operator* find(const std::string& node) const {
    const auto found = operators_.find(node);
    return found == operators_.end() ? nullptr : &found->second;
  }

 private:
  const NetworkKernel& kernel(const std::string& symbol) {
    const std::string name = name_of_kernel(symbol, sections_);
    const auto [place, is_new] = kernels_.try_emplace(name);
    if (!is_new) return place->second;
    NetworkKernel& found = place->second;
    found.name = name;
    if (const auto section = sections_.find(name); section != sections_.end()) found.schedule = section->second;
    const std::string start = kSymbolPrefix + name;
    for (const MachineFunction& function : functions_) {
      // Those of its parallel loops have a dot and more behind the name.
      const bool is_part = function.name.starts_with(start) &&
                           (function.name.size() == start.size() || function.name[start.size()] == '.');
      if (is_part) found.functions.push_back({"kernel" + function.name.substr(start.size()), function.instructions});
    }
    if (const auto text = gpu_texts_.find(name); text != gpu_texts_.end()) found.gpu_text = text->second;
    return found;
  }

  const std::vector<MachineFunction>& functions_;
  const std::map<std::string, std::string> sections_;
  std::map<std::string, std::string> gpu_texts_;
  std::string beside_gpu_kernels_;
  std::map<std::string, NetworkKernel> kernels_;  // pointers to its elements stay valid
  std::map<std::string, Operator> operators_;
  std::vector<std::string> order_;
};

std::string hot_code_of(const NetworkKernel& kernel) {
  return hot_text(kernel.functions, hottest_functions(kernel.functions, kernel.functions.size()));
}

std::string kernel_text(const Operator& one) { return one.kernel == nullptr ? "no kernel" : one.kernel->name; }

// Says in what the kernels of both sides differ.
std::vector<std::string> differences_of(const Operator& baseline, const Operator& current) {
  std::vector<std::string> found;
  const StepDescription &a = baseline.description, &b = current.description;
  if (a.dtype != b.dtype || a.shape != b.shape) found.emplace_back("shape");
  if (a.flops != b.flops) found.emplace_back("work");
  if ((baseline.kernel == nullptr) != (current.kernel == nullptr)) {
    found.emplace_back("kernel");
  } else if (baseline.kernel != nullptr) {
    const NetworkKernel &before = *baseline.kernel, &after = *current.kernel;
    if (before.schedule != after.schedule) found.emplace_back("schedule and loops");
    if (hot_code_of(before) != hot_code_of(after)) {
      found.emplace_back("hot assembly");
    } else if (code_text(before.functions) != code_text(after.functions)) {
      found.emplace_back("assembly beside the hot loops");
    }
    if (before.gpu_text != after.gpu_text) found.emplace_back("code for GPUs");
  }
  return found;
}

// Operators with the same two kernels, which differ in the same way.
struct ChangedKernel {
  std::vector<std::string> nodes;
  PerSide<const Operator*> sides;
  std::vector<std::string> differences;

  std::string title() const {
    return short_node_name(nodes.front()) +
           (nodes.size() > 1 ? " and " + std::to_string(nodes.size() - 1) + " more" : "");
  }
};

void add_changed(std::vector<ChangedKernel>& all, const std::string& node, const Operator& before,
                 const Operator& after, std::vector<std::string> differences) {
  for (ChangedKernel& one : all) {
    if (one.sides[Side::baseline]->kernel != before.kernel || one.sides[Side::current]->kernel != after.kernel ||
        one.differences != differences)
      continue;
    one.nodes.push_back(node);
    return;
  }
  all.push_back({{node}, {&before, &after}, std::move(differences)});
}

}  // namespace

bool is_network_module(const ModuleFile& module) {
  return !module.descriptions.empty() && module.manifest.functions.size() == 1;
}

NetworkDiff diff_networks(const NetworkSide& baseline, const NetworkSide& current) {
  const NetworkParts before(baseline), after(current);
  std::vector<ChangedKernel> changed;
  std::string gone, came;
  std::size_t same = 0;
  for (const std::string& node : before.order()) {
    const Operator &one = *before.find(node), *other = after.find(node);
    if (other == nullptr) {
      gone += "-" + short_node_name(node) + ": " + kernel_text(one) + "\n";
      continue;
    }
    std::vector<std::string> differences = differences_of(one, *other);
    if (differences.empty()) {
      ++same;
    } else {
      add_changed(changed, node, one, *other, std::move(differences));
    }
  }
  for (const std::string& node : after.order())
    if (before.find(node) == nullptr)
      came += "+" + short_node_name(node) + ": " + kernel_text(*after.find(node)) + "\n";

  NetworkDiff diff;
  std::string lines = gone + came;
  PerSide<std::string> schedules, assembly;
  for (const ChangedKernel& one : changed) {
    const PerSide<std::string> names = {kernel_text(*one.sides[Side::baseline]),
                                        kernel_text(*one.sides[Side::current])};
    lines += "~" + one.title() + ": " + names[Side::baseline] +
             (names[Side::baseline] == names[Side::current] ? "" : " -> " + names[Side::current]) + ": differs in " +
             join(", ", one.differences) + "\n";
    for (const Side side : kSides) {
      const NetworkKernel* kernel = one.sides[side]->kernel;
      if (kernel == nullptr) continue;
      schedules[side] += one.title() + "\n" + kernel->schedule;
      assembly[side] += one.title() + "\n" + hot_code_of(*kernel) + kernel->gpu_text;
    }
  }
  if (before.beside_gpu_kernels() != after.beside_gpu_kernels())
    diff.assembly = diff_of(before.beside_gpu_kernels(), after.beside_gpu_kernels());
  if (lines.empty()) return diff;
  diff.operators = std::to_string(before.order().size()) + " operators before, " +
                   std::to_string(after.order().size()) + " now, of which " + std::to_string(same) +
                   " are computed as before\n" + shortened_lines(lines, kMostOperatorLines);
  diff.schedule = diff_of(schedules[Side::baseline], schedules[Side::current]);
  diff.assembly += diff_of(assembly[Side::baseline], assembly[Side::current]);
  return diff;
}

}  // namespace ferry::gate
