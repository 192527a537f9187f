// Tests of adding up the memory of modules.
#include "host/kernel/memory_use.h"

#include <doctest/doctest.h>

#include "ferry/error.h"

using namespace ferry;

namespace {

Manifest two_layers() {
  FunctionInfo function;
  function.name = "net";
  function.symbols = {"N"};
  for (const Direction direction : {Direction::in, Direction::out}) {
    ParameterInfo parameter;
    parameter.name = direction == Direction::in ? "x" : "y";
    parameter.direction = direction;
    parameter.shape = {manifest_symbol(0), manifest_constant(16)};
    function.parameters.push_back(parameter);
  }
  function.preconditions = {
      {manifest_apply(ManifestOp::le, {manifest_constant(1), manifest_symbol(0)}), "N must be at least 1"}};
  // An arena of N * 256 bytes, which is twice a value that another step needs.
  const auto times = [](ManifestExpr value, std::int64_t by) {
    return manifest_apply(ManifestOp::mul, {std::move(value), manifest_constant(by)});
  };
  function.plan.values = {times(manifest_symbol(0), 128), times(manifest_symbol(1), 2)};
  function.plan.workspaces = {{0, 2}};
  function.init.values = {manifest_constant(4096), manifest_constant(64)};
  function.persistent = {{0, 1}};
  function.init.workspaces = {{0, 2}};
  Manifest manifest;
  manifest.blobs = {{{}, 5000}};
  manifest.constants = {{0, 0, 0, 1000}, {0, 0, 1024, 3976}};
  CallStep step;
  step.operands = {{OperandKind::constant, 0}, {OperandKind::constant, 0}};
  function.plan.steps = {step};
  manifest.functions = {function};
  return manifest;
}

}  // namespace

TEST_CASE("the memory of a call is added up for its sizes") {
  const Manifest manifest = two_layers();
  const std::optional<MemoryUse> use = memory_use(manifest, manifest.functions[0], {{"N", 10}});
  REQUIRE(use);
  CHECK(use->weights == 5000);
  CHECK(use->in_place == 1000);
  CHECK(use->packed == 4096);
  CHECK(use->binding == 64);
  CHECK(use->arena == 2560);
  CHECK(use->tensors == 2 * 10 * 16 * 4);
  CHECK(use->peak() == 4096 + 5064);
  CHECK(memory_use(manifest, manifest.functions[0], {{"N", 1000}})->peak() == 4096 + 1000 + 256000 + 128000);
}

TEST_CASE("open sizes leave the memory open, and others are refused") {
  const Manifest manifest = two_layers();
  const FunctionInfo& function = manifest.functions[0];
  CHECK_FALSE(memory_use(manifest, function, {}));
  CHECK_FALSE(memory_use(manifest, function, {{"N", std::int64_t{1} << 62}}));
  CHECK_THROWS_WITH_AS(memory_use(manifest, function, {{"M", 1}}), "unknown size 'M'; the nearest known are N",
                       UsageError);
  CHECK_THROWS_WITH_AS(memory_use(manifest, function, {{"N", 0}}),
                       "expected sizes that a call can have: N must be at least 1", UsageError);
}
