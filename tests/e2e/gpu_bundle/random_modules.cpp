// Compiles programs of the fuzzer under random schedules into modules that a machine with a GPU checks by their
// definitions.
//
//   gpu_random_modules FOLDER COUNT SEED TARGET
//
// Prints a line for each module, "random_SEED|options of ferry run". Schedules that the target refuses are left out.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/generate_program.h"
#include "tests/fuzz/cases/generate_schedule.h"

namespace ferry::fuzz {
namespace {

// Elements of all tensors together, so that a program's definition is evaluated at once.
constexpr std::int64_t kMostSize = 1 << 12;

bool is_callable(const FuzzCase& made) {
  std::int64_t product = 1;
  for (const auto& [name, size] : made.sizes) product *= std::max<std::int64_t>(size, 1);
  // The command line has no random strides, and numbers other than sizes are drawn there.
  for (const InputTensor& input : made.inputs)
    if (!input.strides.empty()) return false;
  return !made.may_leave && product <= kMostSize;
}

// Returns the options of a call: the sizes that the function has, and its other numbers.
std::string call_options(const FuzzCase& made, const ir::Function& function) {
  std::string sizes, rest;
  std::set<std::string> names;
  for (const ir::Expr& symbol : function.symbols) {
    const std::string& name = symbol.as<ir::Var>()->name;
    names.insert(name);
    sizes += (sizes.empty() ? "" : ",") + name + "=" + std::to_string(made.sizes.at(name));
  }
  for (const ir::FunctionParameter& parameter : function.parameters)
    if (parameter.kind == ParameterKind::scalar && !names.contains(parameter.name))
      rest += " --arg " + parameter.name + "=" + std::to_string(made.sizes.at(parameter.name));
  return (sizes.empty() ? "" : "--size " + sizes) + rest;
}

ScheduleListener nobody_listens() {
  return {[](const std::string&) {}, [](const std::string&) {}, [](const std::string&, const std::string&) {}};
}

// Returns whether there is a module.
bool write_case(std::uint64_t seed, const Target& target, const std::string& folder) {
  Random random(seed);
  FuzzCase made = generate_program(random);
  if (!is_callable(made)) return false;
  const std::string source = source_of(made);
  try {
    const std::vector<lang::Program> programs = lang::parse(source, "random.tc");
    const GeneratedSchedule generated = generate_schedule(programs.at(0), target, made.sizes, random, nobody_listens());
    const ir::Function lowered = lower::lower(programs.at(0), generated.schedule);
    const std::vector<std::uint8_t> module =
        compile_module(
            lower::split_constants(lowered), target,
            {.source = source, .schedule = autoschedule::to_text(programs, std::span(&generated.schedule, 1))})
            .bytes;
    const std::string name = "random_" + std::to_string(seed);
    std::ofstream file(folder + "/" + name + ".ferry", std::ios::binary);
    file.write(reinterpret_cast<const char*>(module.data()), static_cast<std::streamsize>(module.size()));
    if (!file.flush()) throw std::runtime_error("cannot write to " + folder);
    printf("%s|%s\n", name.c_str(), call_options(made, lowered).c_str());
    return true;
  } catch (const CompileError&) {
    return false;
  }
}

}  // namespace
}  // namespace ferry::fuzz

int main(int count, char** words) {
  if (count != 5) {
    fprintf(stderr, "usage: gpu_random_modules FOLDER COUNT SEED TARGET\n");
    return 2;
  }
  try {
    const std::string folder = words[1];
    std::filesystem::create_directories(folder);
    const ferry::Target target = ferry::resolve_target(words[4]);
    unsigned long wanted = std::stoul(words[2]), seed = std::stoul(words[3]), tries = 20 * wanted;
    for (; wanted > 0 && tries > 0; --tries)
      if (ferry::fuzz::write_case(seed++, target, folder)) --wanted;
    return wanted == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fprintf(stderr, "gpu_random_modules: %s\n", error.what());
    return 1;
  }
}
