// Tests of init plans that read constants of a blob, each step others, in processes of their own.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/supervisor/blob_fixture.h"

namespace ferry::test {
namespace {

// Constants of the blob, in floats. The first and the last have 8 MiB together and more.
constexpr std::int64_t kFirst = 1'300'003, kSecond = 61, kLast = 1'200'007;
constexpr std::int64_t kLengths[] = {kFirst, kSecond, kLast};

// Adds a step to the init plan: C = A + B over so many floats.
void add_step(FunctionInfo& f, Operand a, Operand b, Operand c, std::int64_t count) {
  CallStep add;
  add.symbol = "add";
  add.operands = {a, b, c, {OperandKind::value, add_value(f.init, 1, manifest_constant(count)), kNoValue}};
  f.init.steps.push_back(add);
}

Operand constant(std::uint32_t index) { return {OperandKind::constant, index, kNoValue}; }
Operand persistent(std::uint32_t index) { return {OperandKind::persistent, index, kNoValue}; }

// name(in f32[n] A, out f32[n] C): C = A + P, n at most kSecond. P = 2 K1 + K0 + K2, over the elements that they have,
// in steps that read one, another, and two of the constants.
FunctionInfo stepped(const std::string& name) {
  FunctionInfo f;
  f.name = name;
  f.symbols = {"n"};
  f.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("C", Direction::out)};
  CallStep add;
  add.symbol = "add";
  add.operands = {{OperandKind::argument, 0, kNoValue},
                  persistent(0),
                  {OperandKind::argument, 1, kNoValue},
                  {OperandKind::value, 0, kNoValue}};
  f.plan.steps = {add};
  for (int i = 0; i < 2; ++i) f.persistent.push_back({0, add_value(f.init, 1, manifest_constant(4 * kSecond))});
  return f;
}

Bytes stepped_file(const Blob& blob) {
  ModuleFile module = kit_module();
  module.manifest.blobs = {blob};
  std::uint64_t offset = 0;
  for (const std::int64_t length : kLengths) {
    module.manifest.constants.push_back({0, 0, offset, static_cast<std::uint64_t>(4 * length)});
    offset += static_cast<std::uint64_t>(4 * length + 60) / 64 * 64;
  }
  // Two constants of one step come first, then each of them again.
  FunctionInfo together = stepped("together");
  add_step(together, constant(0), constant(2), persistent(1), kSecond);
  add_step(together, constant(1), constant(1), persistent(0), kSecond);
  add_step(together, persistent(0), persistent(1), persistent(0), kSecond);
  // One after the other, so that the first and the last have the same place, and then both.
  FunctionInfo apart = stepped("apart");
  add_step(apart, constant(1), constant(1), persistent(0), kSecond);
  add_step(apart, persistent(0), constant(0), persistent(0), kSecond);
  add_step(apart, persistent(0), constant(2), persistent(0), kSecond);
  FunctionInfo crossed = apart;
  crossed.name = "crossed";
  add_step(crossed, constant(0), constant(2), persistent(1), kSecond);
  module.manifest.functions.insert(module.manifest.functions.end(), {together, apart, crossed});
  const Status valid = check_manifest(module.manifest);
  REQUIRE_MESSAGE(valid.is_ok(), valid.message());
  return write_module(module);
}

TEST_CASE("the steps of an init plan have their constants one after the other in a process of its own") {
  BlobFixture fixture({"--memory-limit", "64M"});
  BlobClient client(fixture.server);
  const Bytes contents = floats(static_cast<std::size_t>(4 * (kFirst + kSecond + kLast) + 256));
  const Blob blob = blob_of(contents);
  REQUIRE(client.missing({blob}).size() == 1);
  REQUIRE(client.send(blob, contents, 1 << 20).is_ok());
  REQUIRE(client.load(stepped_file(blob)).status.is_ok());
  const std::size_t second = static_cast<std::size_t>(4 * kFirst + 60) / 64 * 64,
                    last = second + static_cast<std::size_t>(4 * kSecond + 60) / 64 * 64;
  const rpc::Handle a = client.upload(std::vector<float>(kSecond, 1));
  for (const std::string function : {"together", "apart", "crossed"}) {
    CAPTURE(function);
    const rpc::Handle instance = client.new_handle(), c = client.upload(std::vector<float>(kSecond, -1));
    client.must(rpc::Bind{instance, client.last_module, function, {}});
    rpc::Evaluate evaluate;
    evaluate.calls = {{client.last_module, function, {tensor(a, {kSecond}), tensor(c, {kSecond})}, instance}};
    evaluate.options = {.number = 1, .repeat = 3, .min_repeat_ms = 0, .warmup_ms = 0};
    evaluate.options.isolated = true;
    const TimingEnvironment found = client.must(evaluate).reply.environment;
    const std::vector<float> sums = client.download<float>(c, kSecond);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      REQUIRE(sums[i] == 1 + 2 * float_at(contents, second + 4 * i) + float_at(contents, 4 * i) +
                             float_at(contents, last + 4 * i));
    }
    if (!is_native()) continue;
    // Last, since that runs in the session's own process.
    CHECK((found.not_isolated == "") == (function != "crossed"));
  }
}

}  // namespace
}  // namespace ferry::test
