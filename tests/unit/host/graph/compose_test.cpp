#include "host/graph/plan/composition.h"

#include "crosscompile/ir/error.h"
#include "tests/unit/host/graph/plan_memory.h"

#include <functional>
#include <random>

using namespace ferry;
using namespace ferry::graph;

namespace {

ManifestExpr number(std::int64_t value) { return manifest_constant(value); }
ManifestExpr times(std::int64_t factor, ManifestExpr size) {
  return manifest_apply(ManifestOp::mul, {number(factor), std::move(size)});
}

ParameterInfo tensor(const std::string& name, Direction direction, ManifestExpr size) {
  ParameterInfo parameter;
  parameter.name = name;
  parameter.direction = direction;
  parameter.shape = {std::move(size)};
  return parameter;
}
ParameterInfo vector_of(const std::string& name, Direction direction) {
  return tensor(name, direction, manifest_symbol(0));
}

// A kernel over vectors of n elements of 4 bytes, with a workspace of `scratch` bytes for each element. Its weights are
// packed by an init plan if there are any.
FunctionInfo kernel(const std::string& name, std::size_t inputs, std::int64_t scratch = 0, bool has_weights = false) {
  FunctionInfo function;
  function.name = name;
  function.symbols = {"n0"};
  for (std::size_t i = 0; i < inputs; ++i)
    function.parameters.push_back(vector_of("x" + std::to_string(i), Direction::in));
  if (has_weights) {
    function.parameters.push_back(tensor("w", Direction::in, number(10)));
    function.parameters.back().is_constant = true;
  }
  function.parameters.push_back(vector_of("y", Direction::out));
  function.flops = times(2, manifest_symbol(0));
  set_native_code(function, {"ferry_fn_" + name, times(scratch, manifest_symbol(0)), {}});
  if (!has_weights) return function;
  const auto weights = static_cast<std::uint32_t>(inputs);
  auto& call = std::get<CallStep>(function.plan.steps[0]);
  call.operands[weights] = {OperandKind::persistent, 0, kNoValue};
  function.init.values = {number(40)};
  function.persistent = {{0, 1}};
  CallStep init;
  init.symbol = "ferry_init_" + name;
  init.operands = {{OperandKind::argument, weights, kNoValue}, {OperandKind::persistent, 0, kNoValue}};
  function.init.steps = {init};
  return function;
}

Manifest manifest_of(FunctionInfo function, std::size_t constants = 0) {
  Manifest manifest;
  manifest.devices = {{"cpu", "x86_64", {}}};
  if (constants > 0) manifest.blobs = {{{}, constants * 64}};
  for (std::size_t c = 0; c < constants; ++c) manifest.constants.push_back({0, 0, c * 64, 40});
  manifest.functions = {std::move(function)};
  return manifest;
}

void check_valid(const FunctionInfo& function, std::size_t constants = 0) {
  const Status status = check_manifest(manifest_of(function, constants));
  CHECK_MESSAGE(status.is_ok(), status.message());
}

std::string refusal(const Composition& composition) {
  try {
    compose(composition);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("the plans of kernels become one plan, with their operands, messages and init plans renumbered") {
  const FunctionInfo packed = kernel("packed", 1, 0, true);
  FunctionInfo checked = kernel("checked", 2, 16);
  checked.messages = {"an index is out of bounds"};
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  const ManifestExpr n = manifest_symbol(0);
  network.storages = {{Storage::Kind::argument, 0},           {Storage::Kind::argument, 1},
                      {Storage::Kind::constant, 0},           {Storage::Kind::constant, 1},
                      {Storage::Kind::arena, 0, times(4, n)}, {Storage::Kind::arena, 0, times(4, n)}};
  network.steps = {KernelCall{"first", &packed, {{"n0", n}}, {0, 2, 4}},
                   KernelCall{"second", &packed, {{"n0", n}}, {4, 3, 5}},
                   KernelCall{"third", &checked, {{"n0", n}}, {4, 5, 1}}};
  const FunctionInfo function = compose(network);
  check_valid(function, 2);
  CHECK(function.persistent.size() == 2);
  REQUIRE(function.init.steps.size() == 2);
  CHECK(step_text(function, function.init.steps[1]).starts_with("call ferry_init_packed("));
  CHECK(std::get<CallStep>(function.init.steps[1]).operands[0] == Operand{OperandKind::constant, 1, kNoValue});
  CHECK(std::get<CallStep>(function.init.steps[1]).operands[1] == Operand{OperandKind::persistent, 1, kNoValue});
  REQUIRE(function.plan.steps.size() == 3);
  CHECK(std::get<CallStep>(function.plan.steps[1]).operands[1] == Operand{OperandKind::persistent, 1, kNoValue});
  CHECK(std::get<CallStep>(function.plan.steps[2]).first_message == 0);
  CHECK(function.messages == std::vector<std::string>{"third: an index is out of bounds"});
  CHECK(evaluate(function.flops, std::vector<std::int64_t>{100}).value() == 600);
}

TEST_CASE("sizes of a kernel are values over the network's symbols") {
  const FunctionInfo relu = kernel("relu", 1);
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}};
  network.steps = {KernelCall{"relu", &relu, {{"n0", times(3, manifest_symbol(0))}}, {0, 1}}};
  const FunctionInfo function = compose(network);
  check_valid(function);
  const auto& call = std::get<CallStep>(function.plan.steps[0]);
  REQUIRE(call.operands.size() == 3);
  PlanMemory memory(function, function.plan, {7});
  CHECK(memory.value(call.operands[2].index) == 21);
}

TEST_CASE("the arithmetic of many kernels is one short expression") {
  FunctionInfo dense = kernel("dense", 1);
  // (2 * n0) * 5 + n0, as a kernel's own sum may be written
  dense.flops =
      manifest_apply(ManifestOp::add,
                     {manifest_apply(ManifestOp::mul, {times(2, manifest_symbol(0)), number(5)}), manifest_symbol(0)});
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}};
  for (std::int64_t node = 1; node <= 100; ++node)
    network.steps.emplace_back(KernelCall{"node", &dense, {{"n0", times(node, manifest_symbol(0))}}, {0, 1}});
  const FunctionInfo function = compose(network);
  CHECK(function.flops.code.size() < 10);
  CHECK(evaluate(function.flops, std::vector<std::int64_t>{3}).value() == 3 * 11 * 5050);
}

TEST_CASE("scalar parameters of a kernel become values") {
  FunctionInfo shift = kernel("shift", 1);
  ParameterInfo by;
  by.name = "n1";
  by.kind = ParameterKind::scalar;
  by.dtype = DType::i64;
  shift.parameters.push_back(by);
  set_native_code(shift, {"ferry_fn_shift", {}, {}});
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}};
  network.steps = {
      KernelCall{"node", &shift, {{"n0", manifest_symbol(0)}, {"n1", times(5, manifest_symbol(0))}}, {0, 1}}};
  const FunctionInfo function = compose(network);
  check_valid(function);
  const auto& call = std::get<CallStep>(function.plan.steps[0]);
  REQUIRE(call.operands.size() == 4);
  CHECK(call.operands[2].kind == OperandKind::value);
  PlanMemory memory(function, function.plan, {7});
  CHECK(memory.value(call.operands[2].index) == 35);
}

TEST_CASE("a precondition that the network's sizes decide is checked when it is compiled") {
  FunctionInfo even = kernel("even", 1);
  const ManifestExpr is_even = manifest_apply(
      ManifestOp::eq, {manifest_apply(ManifestOp::floormod, {manifest_symbol(0), number(2)}), number(0)});
  even.preconditions = {{is_even, "n0 must be even"}};
  Composition network;
  network.name = "net";
  network.parameters = {tensor("in", Direction::in, number(6)), tensor("out", Direction::out, number(6))};
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}};
  network.steps = {KernelCall{"halves", &even, {{"n0", number(6)}}, {0, 1}}};
  CHECK(compose(network).preconditions.empty());
  std::get<KernelCall>(network.steps[0]).sizes["n0"] = number(7);
  CHECK(refusal(network) == "halves: n0 must be even, where n0 is 7");
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  std::get<KernelCall>(network.steps[0]).sizes["n0"] = times(3, manifest_symbol(0));
  network.steps.push_back(network.steps[0]);
  const FunctionInfo function = compose(network);
  REQUIRE(function.preconditions.size() == 1);
  CHECK(function.preconditions[0].message == "halves: n0 must be even, where n0 is 3 * N");
  CHECK(evaluate(function.preconditions[0].condition, std::vector<std::int64_t>{2}).value() == 1);
  CHECK(evaluate(function.preconditions[0].condition, std::vector<std::int64_t>{3}).value() == 0);
}

TEST_CASE("a grid of no blocks stays one, as no value means 1 there and 0 elsewhere") {
  FunctionInfo gpu;
  gpu.name = "gpu";
  gpu.symbols = {"n0"};
  gpu.parameters = {vector_of("x", Direction::in), vector_of("y", Direction::out)};
  gpu.plan.values = {number(0), number(64)};
  LaunchStep launch;
  launch.kernel = "k";
  launch.grid = {1, 0, kNoValue};
  launch.operands = {{OperandKind::argument, 0, 1}, {OperandKind::argument, 1, 2}};
  gpu.plan.steps = {launch};
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}};
  network.steps = {KernelCall{"node", &gpu, {{"n0", manifest_symbol(0)}}, {0, 1}}};
  const FunctionInfo function = compose(network);
  const auto& moved = std::get<LaunchStep>(function.plan.steps[0]);
  PlanMemory memory(function, function.plan, {5});
  REQUIRE(moved.grid[0] != kNoValue);
  CHECK(memory.value(moved.grid[0]) == 0);
  CHECK(memory.value(moved.grid[1]) == 5);
  CHECK(moved.grid[2] == kNoValue);
  CHECK(memory.value(moved.operands[0].offset) == 0);
  CHECK(memory.value(moved.operands[1].offset) == 64);
}

TEST_CASE("the result of a launch stays where it is until the plan ends, as it is read then") {
  FunctionInfo gather = kernel("gather", 1);
  gather.messages = {"an index is out of bounds"};
  const auto launch = [](OperandKind kind, std::uint32_t to) {
    LaunchStep step;
    step.kernel = "gather";
    step.operands = {{OperandKind::argument, 0, kNoValue}, {kind, to, kNoValue}};
    step.result = {0, kNoValue};
    return step;
  };
  gather.plan = {{number(256)}, {{0, 1}}, {launch(OperandKind::argument, 1)}};
  // Packs constants, of which it checks some too.
  FunctionInfo packed = gather;
  packed.parameters.insert(packed.parameters.begin() + 1, tensor("w", Direction::in, number(10)));
  packed.parameters[1].is_constant = true;
  packed.plan.steps = {launch(OperandKind::argument, 2)};
  packed.persistent = {{0, 1}};
  packed.init = {{number(40)}, {{0, 1}, {0, 1}}, {}};
  LaunchStep init = launch(OperandKind::workspace, 0);
  init.operands[0] = {OperandKind::argument, 1, kNoValue};
  init.result = {1, kNoValue};
  packed.init.steps = {init};
  Composition network;
  network.name = "net";
  network.symbols = {"N"};
  network.parameters = {vector_of("in", Direction::in), vector_of("out", Direction::out)};
  const ManifestExpr n = manifest_symbol(0);
  network.storages = {{Storage::Kind::argument, 0}, {Storage::Kind::argument, 1}, {Storage::Kind::constant, 0}};
  for (int step = 0; step < 4; ++step) network.storages.push_back({Storage::Kind::arena, 0, times(4, n)});
  network.steps = {
      KernelCall{"first", &gather, {{"n0", n}}, {0, 3}}, KernelCall{"second", &packed, {{"n0", n}}, {3, 2, 4}},
      KernelCall{"third", &packed, {{"n0", n}}, {4, 2, 5}}, KernelCall{"fourth", &gather, {{"n0", n}}, {5, 6}},
      KernelCall{"fifth", &gather, {{"n0", n}}, {6, 1}}};
  const FunctionInfo function = compose(network);
  Manifest manifest = manifest_of(function, 1);
  manifest.devices = {{"opencl", "opencl", {}}};
  const Status status = check_manifest(manifest);
  CHECK_MESSAGE(status.is_ok(), status.message());
  const auto nothing = [](const std::string&, const auto&) { return FakeKernel{}; };
  CHECK(function.init.steps.size() == 2);
  PlanMemory(function, function.init, {5}).run(nothing);
  for (const std::int64_t size : {1, 64, 1000}) PlanMemory(function, function.plan, {size}).run(nothing);
}

// Networks of random shape, run on memory that remembers what was written where.
TEST_CASE("no tensor of a random network is overwritten while a later step reads it, for any sizes") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const bool is_fixed = round % 4 == 0;
    std::vector<FunctionInfo> kernels;
    for (std::size_t k = 0; k < 6; ++k)
      kernels.push_back(kernel("k" + std::to_string(k), 1 + k % 3, k % 2 == 0 ? 0 : 12, k > 3));
    Composition network;
    network.name = "net";
    if (!is_fixed) network.symbols = {"N", "M"};
    const auto random_size = [&] {
      const auto factor = static_cast<std::int64_t>(random() % 30);
      return is_fixed ? number(factor) : times(factor, manifest_symbol(random() % 2));
    };
    const ManifestExpr in_size = is_fixed ? number(5) : manifest_symbol(0);
    network.parameters = {tensor("in", Direction::in, in_size)};
    if (!is_fixed) network.parameters.push_back(tensor("m", Direction::in, manifest_symbol(1)));
    const auto first_output = static_cast<std::uint32_t>(network.parameters.size());
    network.parameters.push_back(tensor("out", Direction::out, in_size));
    network.storages = {{Storage::Kind::argument, 0}};
    std::vector<ManifestExpr> sizes{in_size};  // in elements
    std::vector<std::string> names{"input"};   // what each storage should hold
    network.storages.push_back({Storage::Kind::constant, 0});
    sizes.push_back(number(10));
    names.push_back("weights");
    std::vector<std::uint32_t> readable{0};
    if (!is_fixed) network.guesses = {{"N", static_cast<std::int64_t>(1 + random() % 9)}};
    const std::size_t steps = 1 + random() % 30;
    for (std::size_t step = 0; step < steps; ++step) {
      const FunctionInfo& called = kernels[random() % kernels.size()];
      const ManifestExpr size = random_size();
      KernelCall call{"node" + std::to_string(step), &called, {{"n0", size}}, {}};
      std::string name = "ferry_fn_" + called.name + "(";
      for (const ParameterInfo& parameter : called.parameters) {
        if (parameter.is_constant) {
          call.storages.push_back(1);
          name += "ferry_init_" + called.name + "(weights,),";
        } else if (parameter.direction == Direction::in) {
          call.storages.push_back(readable[random() % readable.size()]);
          name += names[call.storages.back()] + ",";
        }
      }
      call.storages.push_back(static_cast<std::uint32_t>(network.storages.size()));
      readable.push_back(call.storages.back());
      network.storages.push_back({Storage::Kind::arena, 0, times(4, size)});
      if (step + 1 == steps) network.storages.back() = {Storage::Kind::argument, first_output};
      sizes.push_back(size);
      names.push_back(shortened(name + ")"));
      network.steps.emplace_back(std::move(call));
    }
    const FunctionInfo function = compose(network);
    check_valid(function, 1);
    for (const std::vector<std::int64_t>& symbols :
         is_fixed ? std::vector<std::vector<std::int64_t>>{{}}
                  : std::vector<std::vector<std::int64_t>>{{1, 1}, {17, 3}, {2, 50}, {0, 4}}) {
      // The sizes of a kernel's inputs are those of the storages that it is given here, not its own.
      std::size_t next = 0;
      const auto bytes_of = [&](std::uint32_t storage) {
        return static_cast<std::uint64_t>(4 * evaluate(sizes[storage], symbols).value());
      };
      PlanMemory init(function, function.init, symbols);
      init.write(OperandKind::constant, 0, 40, "weights");
      init.run([](const std::string&, const auto&) { return FakeKernel{{Direction::in, Direction::out}, {40, 40}}; });
      PlanMemory memory(function, function.plan, symbols);
      memory.write(OperandKind::argument, 0, bytes_of(0), "input");
      memory.write(OperandKind::constant, 0, 40, "weights");
      for (std::uint32_t p = 0; p < function.persistent.size(); ++p)
        memory.write(OperandKind::persistent, p, 40, init.read({OperandKind::persistent, p, kNoValue}, 40));
      memory.workspace_bytes = [&](const std::string& code, const std::vector<std::int64_t>& values) {
        return (code.back() - '0') % 2 == 0 ? std::uint64_t{0} : 12 * static_cast<std::uint64_t>(values[0]);
      };
      memory.run([&](const std::string&, const auto&) {
        const auto& call = std::get<KernelCall>(network.steps[next++]);
        FakeKernel accesses;
        for (std::size_t i = 0; i < call.storages.size(); ++i) {
          accesses.directions.push_back(call.kernel->parameters[i].direction);
          accesses.bytes.push_back(bytes_of(call.storages[i]));
        }
        return accesses;
      });
      const std::uint64_t bytes = bytes_of(static_cast<std::uint32_t>(sizes.size() - 1));
      // A tensor without elements has no name.
      bool has_empty = false;
      for (std::uint32_t s = 0; s < sizes.size(); ++s) has_empty |= bytes_of(s) == 0;
      const std::string got = memory.read({OperandKind::argument, first_output, kNoValue}, bytes);
      if (!has_empty) CHECK(got == names.back());
      if (has_empty) CHECK(got.find("a part of something") == std::string::npos);
      if (has_empty) CHECK(got.find("scratch") == std::string::npos);
    }
  }
}
