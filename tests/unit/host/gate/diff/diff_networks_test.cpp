#include "host/gate/diff/diff_networks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "base/lines.h"
#include "ferry/error.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/compiler/llvm/network.h"
#include "host/gate/diff/diff_modules.h"
#include "module/step_description.h"
#include "tests/support/networks/mixed_network.h"
#include "tests/support/networks/small_networks.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Fixture {
  std::unique_ptr<const Compiler> compiler = make_compiler();

  Bytes module(graph::Graph graph, const std::string& target) const {
    return make_network(std::move(graph))->compile({.target = compiler->resolve_target(target).value}).module;
  }
  ModuleFile file(graph::Graph graph, const std::string& target) const {
    return read_module(module(std::move(graph), target)).value();
  }
};

// Gives the step another description.
void rename(ModuleFile& file, std::size_t step, const std::string& node) {
  std::vector<StepDescription> steps = step_descriptions(file).value();
  REQUIRE(step < steps.size());
  steps[step].node = node;
  file.descriptions = encode_step_descriptions(std::move(steps));
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a network has no difference to itself on any target") {
  for (const std::string target : {"x86-64", "armv7", "aarch64", "riscv64", "opencl"}) {
    CAPTURE(target);
    const Bytes one = module(test::residual_network(1), target);
    const Noted<ModuleDiff> diff = diff_modules(*compiler, one, one);
    CHECK(diff.value.is_empty());
    CHECK(diff.notes.empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "operators that came and went are named with their kernels") {
  const ModuleFile baseline = file(test::residual_network(1), "x86-64");
  const std::vector<StepDescription> steps = step_descriptions(baseline).value();
  ModuleFile current = baseline;
  rename(current, 1, "something new");
  const NetworkDiff diff = diff_networks({baseline, {}}, {current, {}});
  CAPTURE(diff.operators);
  const std::string count = std::to_string(steps.size());
  CHECK(diff.operators.starts_with(count + " operators before, " + count + " now, of which " +
                                   std::to_string(steps.size() - 1) + " are computed as before\n-" + steps[1].node +
                                   ": "));
  CHECK(contains(diff.operators, "\n+something new: "));
  CHECK(diff.schedule == "");
  CHECK(diff.assembly == "");
}

TEST_CASE_FIXTURE(Fixture, "operators of many nodes are named by the first and the last") {
  const ModuleFile baseline = file(test::residual_network(1), "x86-64");
  std::string added = "/layer1/first", changed = "/layer2/first";
  for (int i = 0; i < 20; ++i) {
    added += "+Added_" + std::to_string(i);
    changed += "+Changed_" + std::to_string(i);
  }
  ModuleFile before = baseline;
  rename(before, 0, changed);
  ModuleFile current = before;
  rename(current, 1, added);
  for (std::size_t at = 0; (at = current.schedule.find("vectorize ", at)) != std::string::npos;)
    current.schedule.replace(at, 10, "unroll ");
  const NetworkDiff diff = diff_networks({before, {}}, {current, {}});
  CAPTURE(diff.operators);
  CHECK(contains(diff.operators, "\n+/layer1/first+...+Added_19 (21 nodes): "));
  CHECK(contains(diff.operators, "\n~/layer2/first+...+Changed_19 (21 nodes)"));
  CHECK(!contains(diff.operators + diff.schedule, "Added_7"));
  CHECK(!contains(diff.operators + diff.schedule, "Changed_7"));
}

TEST_CASE_FIXTURE(Fixture, "an operator with another schedule is named once for each kernel, with the directives") {
  const ModuleFile baseline = file(test::residual_network(1), "x86-64");
  ModuleFile current = baseline;
  const std::size_t directive = current.schedule.find("vectorize ");
  REQUIRE(directive != std::string::npos);
  current.schedule.replace(directive, 10, "unroll ");
  const NetworkDiff diff = diff_networks({baseline, {}}, {current, {}});
  CAPTURE(diff.operators);
  CAPTURE(diff.schedule);
  CHECK(std::ranges::count(diff.operators, '~') == 1);
  CHECK(contains(diff.operators, ": differs in schedule and loops\n"));
  CHECK(contains(diff.schedule, "unroll "));
  CHECK(lines_of(diff.schedule).size() < 20);
}

TEST_CASE_FIXTURE(Fixture, "kernels that only have other numbers are the same") {
  const ModuleFile baseline = file(test::mobile_network(1), "x86-64");
  ModuleFile current = baseline;
  const auto replace_all = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  // Sections are "def NAME_0"; symbols end in their numbers as well.
  for (Step& step : current.manifest.functions.front().plan.steps)
    if (auto* call = std::get_if<CallStep>(&step)) call->symbol += "7";
  std::string schedule;
  for (const std::string_view line : lines_of(current.schedule))
    schedule += std::string(line) + (line.starts_with("def ") ? "7\n" : "\n");
  current.schedule = schedule;
  const std::vector<MachineFunction> before =
      compiler->disassemble(baseline.images.front().bytes, compiler->resolve_target("x86-64").value);
  std::vector<MachineFunction> after = before;
  for (MachineFunction& function : after) {
    const std::size_t dot = std::min(function.name.find('.'), function.name.size());
    function.name.insert(dot, "7");
  }
  const NetworkDiff same = diff_networks({baseline, before}, {current, after});
  CAPTURE(same.operators);
  CHECK(same.operators == "");
  // The number of one of them is another kernel's name, but what it computes differs.
  REQUIRE(!after.empty());
  for (MachineFunction& function : after)
    for (MachineInstruction& instruction : function.instructions) replace_all(instruction.text, "mulps", "divps");
  const NetworkDiff other = diff_networks({baseline, before}, {current, after});
  CAPTURE(other.operators);
  CHECK(contains(other.operators, "7: differs in hot assembly\n"));
  CHECK(contains(other.assembly, "divps"));
  CHECK(other.schedule == "");
}

TEST_CASE_FIXTURE(Fixture, "the modules of a network for two processors differ in schedules and hot assembly") {
  const Noted<ModuleDiff> diff =
      diff_modules(*compiler, module(test::image_network(1), "x86-64"), module(test::image_network(1), "x86-64-v3"));
  CAPTURE(diff.value.operators);
  CHECK(diff.notes.empty());
  CHECK(diff.value.source == "");
  CHECK(contains(diff.value.operators, "schedule and loops, hot assembly\n"));
  CHECK(contains(diff.value.schedule, "\n-"));
  CHECK(contains(diff.value.assembly, "ymm"));
  CHECK(lines_of(diff.value.operators).size() <= 52);
}

TEST_CASE_FIXTURE(Fixture, "a network on two devices, and one whose descriptions are damaged") {
  const std::string target = "opencl -host=x86-64-v3";
  const Bytes one = module(test::mixed_network(1999), target);
  CHECK(diff_modules(*compiler, one, one).value.is_empty());
  const Noted<ModuleDiff> diff = diff_modules(*compiler, one, module(test::mixed_network(2500), target));
  CHECK(contains(diff.value.operators, " operators before, "));
  ModuleFile damaged = read_module(one).value();
  damaged.descriptions.resize(damaged.descriptions.size() / 2);
  CHECK_THROWS_AS(diff_networks({damaged, {}}, {damaged, {}}), Error);
}

TEST_CASE_FIXTURE(Fixture, "a network for GPUs is compared kernel by kernel, whatever the numbers of its kernels are") {
  const ModuleFile baseline = file(test::residual_network(1), "opencl");
  const auto text_with = [](const ModuleFile& module, const std::function<void(std::string&)>& change) {
    ModuleFile changed = module;
    CodeImage& image = changed.images.front();
    std::string text(image.bytes.begin(), image.bytes.end());
    change(text);
    image.bytes.assign(text.begin(), text.end());
    return changed;
  };
  const auto replace_all = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  // The first kernel has another number, in all places that name it.
  REQUIRE(baseline.schedule.starts_with("def "));
  const std::string name = baseline.schedule.substr(4, baseline.schedule.find('\n') - 4);
  CAPTURE(name);
  ModuleFile renumbered = text_with(baseline, [&](std::string& text) { replace_all(text, name, name + "777"); });
  replace_all(renumbered.schedule, name, name + "777");
  for (Step& step : renumbered.manifest.functions.front().plan.steps)
    if (auto* launch = std::get_if<LaunchStep>(&step)) replace_all(launch->kernel, name, name + "777");
  const NetworkDiff same = diff_networks({baseline, {}}, {renumbered, {}});
  CHECK(same.operators == "");
  CHECK(same.assembly == "");

  const ModuleFile changed = text_with(renumbered, [&](std::string& text) {
    const std::size_t begin = text.find("ferry_fn_" + name + "777(\n");
    REQUIRE(begin != std::string::npos);
    const std::size_t end = text.find("\n}\n", begin);
    REQUIRE(end != std::string::npos);
    text.insert(end + 1, "  /* one more line */\n");
  });
  const NetworkDiff diff = diff_networks({baseline, {}}, {changed, {}});
  CAPTURE(diff.operators);
  CAPTURE(diff.assembly);
  CHECK(std::ranges::count(diff.operators, '~') == 1);
  CHECK(contains(diff.operators, name + " -> " + name + "777: differs in code for GPUs\n"));
  CHECK(contains(diff.assembly, "\n+  /* one more line */\n"));
  CHECK(lines_of(diff.assembly).size() < 15);

  const ModuleFile helper =
      text_with(baseline, [](std::string& text) { text.insert(0, "static inline float f(float a) { return a; }\n"); });
  const NetworkDiff beside = diff_networks({baseline, {}}, {helper, {}});
  CHECK(beside.operators == "");
  CHECK(contains(beside.assembly, "+static inline float f(float a) { return a; }"));
}

TEST_CASE_FIXTURE(Fixture, "networks for GPUs with other sizes differ operator by operator") {
  for (const std::string target : {"opencl", "cuda -arch=sm_80"}) {
    CAPTURE(target);
    const Bytes one = module(test::residual_network(1), target);
    CHECK(diff_modules(*compiler, one, one).value.is_empty());
    const Noted<ModuleDiff> diff = diff_modules(*compiler, one, module(test::residual_network(2), target));
    CAPTURE(diff.value.operators);
    CHECK(contains(diff.value.operators, ": differs in shape, work"));
    CHECK(contains(diff.value.operators, "code for GPUs\n"));
  }
}
