// ferry's own kernels pass their own judge: each program, examples included, is right with exact sums, adversarial
// inputs and other sizes. A drawn part of the programs is probed; with FERRY_PROGRAMS_ALL all are.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "ferry/compile.h"
#include "host/client/bind.h"
#include "host/kernel/kernel_failure.h"
#include "host/verify/probes.h"
#include "tests/e2e/programs/program_case.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::test;

namespace {

constexpr std::size_t kParts = 32;

// Returns the call of a program with the case's arguments. Floats are random; integers may be indices.
CallPlan plan_of(const ProgramCase& program, const FunctionInfo& info) {
  const std::size_t count = info.parameters.size();
  CallPlan plan;
  plan.shapes.resize(count);
  plan.dtypes.resize(count);
  plan.contents.resize(count);
  plan.scalars.resize(count);
  auto argument = program.arguments.begin();
  for (std::size_t p = 0; p < count; ++p) {
    plan.dtypes[p] = info.parameters[p].dtype;
    if (info.parameters[p].direction == Direction::out) continue;
    const Data& data = *argument++;
    if (data.is_scalar) {
      plan.scalars[p] = is_float(data.dtype) ? Argument::Scalar(data.values[0])
                                             : Argument::Scalar(static_cast<std::int64_t>(data.values[0]));
      continue;
    }
    plan.shapes[p] = data.shape;
    if (is_float(data.dtype)) continue;
    plan.contents[p].bytes = to_bytes(data);
    plan.contents[p].file = "given";
  }
  std::vector<session::PartialArgument> partial(count);
  for (std::size_t p = 0; p < count; ++p) {
    partial[p].dtype = plan.dtypes[p];
    if (info.parameters[p].direction != Direction::out && !plan.scalars[p]) partial[p].shape = plan.shapes[p];
    if (plan.scalars[p] && std::holds_alternative<std::int64_t>(*plan.scalars[p]))
      partial[p].scalar = std::get<std::int64_t>(*plan.scalars[p]);
  }
  session::SymbolValues sizes;
  solve_symbols(info, partial, sizes);
  const std::vector<Shape> shapes = session::shapes_of(info, sizes, "");
  for (std::size_t p = 0; p < count; ++p)
    if (info.parameters[p].direction == Direction::out) plan.shapes[p] = shapes[p];
  bind_plan(info, plan);
  return plan;
}

struct Probed {
  std::size_t probes = 0, exact = 0;
};

void probe(const Device& device, const Target& target, const ProgramCase& program, Probed& total) {
  INFO(program.name << "\n" << program.source);
  const lang::Program meaning = program_of(program);
  const CompiledModule module = compile(meaning, schedule_of(program, meaning, target), target);
  const FunctionInfo& info = module.manifest().functions.at(0);
  const CallPlan plan = plan_of(program, info);
  const std::vector<verify::Definition> definitions = verify::definitions_of(meaning, info, {}, nullptr);
  for (const verify::Probe& probe :
       verify::run_probes(device, module, info, plan, definitions, {.seed = 1, .thorough = true})) {
    CHECK(probe.mistake() == "");
    ++total.probes;
    for (const verify::CheckResult& check : probe.checks) total.exact += check.exact;
  }
}

}  // namespace

TEST_CASE("programs are right with exact sums, adversarial inputs and other sizes") {
  const Device device = local_device();
  const Target target = target_of(device);
  const bool is_long = std::getenv("FERRY_PROGRAMS_ALL") != nullptr;
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  Probed total;
  for (const ProgramCase& program : all_cases()) {
    if (!program.failure.empty() || (!is_long && part_of(program.name, kParts, seed) != 1)) continue;
    probe(device, target, program, total);
  }
  CHECK(total.probes > 100);
  CHECK(total.exact > 1000);
  MESSAGE(total.probes << " probes, " << total.exact << " elements exact");
}
