#include "examples/show/show.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/compile.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lang/reference/reference.h"
#include "host/lower/lower.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ferry::example {

namespace {

// Number of elements of an output that are compared.
constexpr std::uint64_t kSample = 1000;

struct Inputs {
  std::vector<Argument> arguments;                // the call's arguments
  std::vector<std::vector<std::uint8_t>> memory;  // the same elements on this machine, one entry per parameter
  std::vector<ArgumentShape> shapes;
};

Inputs make_inputs(const Device& device, const FunctionInfo& function, const std::vector<Shape>& shapes) {
  Inputs inputs;
  for (const ParameterInfo& parameter : function.parameters) {
    inputs.memory.emplace_back();
    inputs.shapes.push_back({parameter.kind, parameter.dtype, {}});
    if (parameter.direction != Direction::in) continue;
    const Shape& shape = shapes.at(inputs.arguments.size());
    const std::uint64_t seed = inputs.arguments.size() + 1;
    inputs.arguments.emplace_back(device.filled(parameter.dtype, shape, FillKind::random, seed));
    inputs.memory.back().resize(dense_bytes(parameter.dtype, shape).value());
    std::uint64_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::uint64_t>(extent);
    fill(FillKind::random, seed, parameter.dtype, 0, count, inputs.memory.back().data());
    inputs.shapes.back().shape = shape;
  }
  return inputs;
}

bool check(const lang::Program& program, const Function& function, const Inputs& inputs) {
  std::vector<const void*> pointers;
  for (const auto& memory : inputs.memory) pointers.push_back(memory.empty() ? nullptr : memory.data());
  const lang::Reference reference(program, bind_symbols(function.info(), inputs.shapes).value(), pointers);
  const std::vector<DeviceTensor> results = function.call(inputs.arguments);
  bool right = true;
  for (std::size_t p = 0, next = 0; p < program.parameters.size(); ++p) {
    if (program.parameters[p].direction == Direction::in) continue;
    const DeviceTensor& result = results.at(next++);
    std::vector<std::uint8_t> bytes(result.bytes());
    result.read(bytes.data());
    const std::uint64_t step = std::max<std::uint64_t>(1, result.elements() / kSample);
    std::uint64_t compared = 0, wrong = 0;
    for (std::uint64_t i = 0; i < result.elements(); i += step, ++compared) {
      const lang::Element want = reference.evaluate(p, i);
      const lang::Element got = lang::load_element(result.dtype(), bytes.data() + i * dtype_bytes(result.dtype()));
      const bool same = got.real == want.real || (std::isnan(got.real) && std::isnan(want.real)) ||
                        std::abs(got.real - want.real) <= 1e-6 * std::abs(want.real) + 2 * want.error;
      if (!same || got.integer != want.integer) ++wrong;
    }
    printf("check %s: %llu elements%s\n", program.parameters[p].name.c_str(), static_cast<unsigned long long>(compared),
           wrong == 0 ? ": fine" : ", not all of them RIGHT");
    right = right && wrong == 0;
  }
  return right;
}

}  // namespace

int show(const lang::Program& program, const schedule::Schedule& schedule,
         const std::vector<std::vector<std::int64_t>>& shapes) try {
  const char* remote = getenv("FERRY_REMOTE");
  const Device device = remote != nullptr ? connect(remote) : local_device();
  printf("%s\n", ir::to_text(passes::simplify(lower::lower(program, schedule))).c_str());

  const Target target = target_of(device);
  const Module module = device.load(compile(program, schedule, target));
  const Function function = module[program.name];
  const Inputs inputs = make_inputs(device, function.info(), shapes);
  const bool right = check(program, function, inputs);
  const auto milliseconds = [&](const schedule::Schedule& other) {
    const Module loaded = device.load(compile(program, other, target));
    return loaded[program.name].measure(inputs.arguments, {}).median() * 1e3;
  };
  const double serial = milliseconds(schedule::Schedule(program));
  const double own = milliseconds(autoschedule::default_schedule(program, target)), this_one = milliseconds(schedule);
  printf("times  serial loops %.3f ms, ferry's own schedule %.3f ms (%.1f times as fast), this one %.3f ms (%.1f)\n",
         serial, own, serial / own, this_one, serial / this_one);
  return right ? 0 : 1;
} catch (const std::exception& error) {
  fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
  return 1;
}

}  // namespace ferry::example
