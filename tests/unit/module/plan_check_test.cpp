// Plans that refer to what is not there, or write what is only to be read.
#include <doctest/doctest.h>

#include <algorithm>

#include "module/manifest_codec.h"
#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

template <class Change>
std::string refusal(Change change) {
  Manifest manifest = sample_manifest();
  change(manifest.functions[2]);
  const Status status = check_manifest(manifest);
  CHECK(status.code() == ErrorCode::invalid_argument);
  CHECK_FALSE(decode_manifest(encode_manifest(manifest)).is_ok());
  const std::string prefix = "manifest: layer: ";
  REQUIRE_MESSAGE(status.message().find(prefix) == 0, status.message());
  return status.message().substr(prefix.size());
}

template <class Kind>
Kind& step(FunctionInfo& f, std::size_t index) {
  return std::get<Kind>(f.plan.steps[index]);
}
CallStep& call(FunctionInfo& f) { return step<CallStep>(f, 1); }
CopyStep& copy(FunctionInfo& f) { return step<CopyStep>(f, 2); }
FillStep& fill(FunctionInfo& f) { return step<FillStep>(f, 0); }
LaunchStep& launch(FunctionInfo& f) { return step<LaunchStep>(f, 3); }
CopyStep& copy_at(FunctionInfo& f, std::size_t index) { return step<CopyStep>(f, index); }
CopyStep& init_copy(FunctionInfo& f) { return std::get<CopyStep>(f.init.steps[0]); }

using F = FunctionInfo;

TEST_CASE("every index of a plan is checked") {
  CHECK(refusal([](F& f) { call(f).operands[0].index = 3; }) ==
        "expected an operand that is a tensor parameter, got number 3");
  CHECK(refusal([](F& f) { call(f).operands[0].kind = OperandKind::scalar; }) ==
        "expected an operand that is a scalar parameter, got number 0");
  CHECK(refusal([](F& f) { call(f).operands[1].index = 1; }) == "expected a persistent buffer below 1, got 1");
  CHECK(refusal([](F& f) { call(f).operands[2].index = 1; }) == "expected a constant below 1, got 1");
  CHECK(refusal([](F& f) { call(f).operands[3].index = 2; }) == "expected a workspace below 2, got 2");
  CHECK(refusal([](F& f) { call(f).operands[4].index = 6; }) == "expected an operand that is a value below 6, got 6");
  CHECK(refusal([](F& f) { call(f).operands[4].index = kNoValue; }) == "expected an operand that is a value, got none");
  CHECK(refusal([](F& f) { call(f).operands[2].offset = 6; }) ==
        "expected an operand's offset that is a value below 6, got 6");
  CHECK(refusal([](F& f) { call(f).workspace.workspace = 2; }) == "expected a workspace below 2, got 2");
  CHECK(refusal([](F& f) { call(f).workspace.offset = 7; }) ==
        "expected a place's offset that is a value below 6, got 7");
  CHECK(refusal([](F& f) { call(f).thread_workspace = 6; }) ==
        "expected a thread's workspace that is a value below 6, got 6");
  CHECK(refusal([](F& f) { call(f).first_message = 3; }) == "expected a first message below 3, got 3");
  CHECK(refusal([](F& f) { call(f).symbol = ""; }) == "symbol of its code: expected 1 to 256 bytes, got 0");
  CHECK(refusal([](F& f) { launch(f).kernel = ""; }) == "kernel name: expected 1 to 256 bytes, got 0");
  CHECK(refusal([](F& f) { launch(f).grid[2] = 6; }) ==
        "kernel 'layer_kernel0': expected a grid that is a value below 6, got 6");
  CHECK(refusal([](F& f) { launch(f).result.workspace = 9; }) ==
        "kernel 'layer_kernel0': expected a workspace below 2, got 9");
  CHECK(refusal([](F& f) { launch(f).operands.resize(2049); }) ==
        "kernel 'layer_kernel0': expected at most 2048 operands, got 2049");
  CHECK(refusal([](F& f) { f.plan.workspaces[1].device = 2; }) == "expected a workspace on a device below 2, got 2");
  CHECK(refusal([](F& f) { f.plan.workspaces[1].bytes = 8; }) ==
        "expected a workspace's size that is a value below 6, got 8");
  CHECK(refusal([](F& f) { f.persistent[0].device = 2; }) == "expected a persistent buffer on a device below 2, got 2");
  CHECK(refusal([](F& f) { f.persistent[0].bytes = 4; }) ==
        "init plan: expected a persistent buffer's size that is a value below 4, got 4");
}

TEST_CASE("the memory of a step is on the device where the step runs") {
  const std::string on_cpu = "expected memory on device 0, where the step runs, got some on device 1";
  CHECK(refusal([](F& f) { call(f).operands[0].index = 2; }) == on_cpu);
  CHECK(refusal([](F& f) { call(f).operands[3].index = 1; }) == on_cpu);
  CHECK(refusal([](F& f) { call(f).workspace.workspace = 1; }) == on_cpu);
  CHECK(refusal([](F& f) { f.persistent[0].device = 1; }) == on_cpu);
  const std::string on_gpu =
      "kernel 'layer_kernel0': expected memory on device 1, where the step runs, got some on device 0";
  CHECK(refusal([](F& f) { launch(f).operands[0].index = 0; }) == on_gpu);
  CHECK(refusal([](F& f) { launch(f).operands[0] = {OperandKind::constant, 0, kNoValue}; }) == on_gpu);
  CHECK(refusal([](F& f) { launch(f).result.workspace = 0; }) == on_gpu);
}

TEST_CASE("a value refers to symbols and earlier values alone") {
  CHECK(refusal([](F& f) { f.plan.values[1].code[0].value = 4; }) ==
        "value: instruction 0 of an expression: expected a symbol below 4, got 4");
  CHECK(refusal([](F& f) { f.plan.values[0].code.clear(); }).find("expected an expression of 1 to 256") !=
        std::string::npos);
  CHECK(refusal([](F& f) { f.plan.values.resize(65'537, manifest_constant(1)); }) ==
        "expected at most 65536 values, got 65537");
}

TEST_CASE("calls run on CPUs and launches on others") {
  CHECK(refusal([](F& f) { call(f).device = 1; }) == "expected calls on a CPU, got one on cuda");
  CHECK(refusal([](F& f) { launch(f).device = 0; }) == "expected launches on a GPU, got one on a CPU");
  CHECK(refusal([](F& f) { launch(f).device = 2; }) == "expected a step on a device below 2, got 2");
}

TEST_CASE("copies and fills write nothing that is only to be read") {
  const std::string read_only = "expected memory that the plan may write, got an input";
  CHECK(refusal([](F& f) { copy(f).to = {OperandKind::argument, 0, kNoValue}; }) == read_only);
  CHECK(refusal([](F& f) { copy(f).to = {OperandKind::constant, 0, kNoValue}; }) == read_only);
  CHECK(refusal([](F& f) { fill(f).to = {OperandKind::persistent, 0, kNoValue}; }) == read_only);
  CHECK(refusal([](F& f) { copy(f).from = {OperandKind::value, 0, kNoValue}; }) ==
        "expected memory to copy or fill, got a number");
  CHECK(refusal([](F& f) { fill(f).pattern_bytes = 3; }) == "expected a pattern of 1, 2 or 4 bytes, got 3");
  CHECK(refusal([](F& f) { fill(f).bytes = 6; }) == "expected a fill's size that is a value below 6, got 6");
  CHECK(refusal([](F& f) { copy(f).bytes = 6; }) == "expected a copy's size that is a value below 6, got 6");
}

TEST_CASE("an init plan reads constant inputs and sizes that these determine") {
  CHECK(refusal([](F& f) { init_copy(f).from.index = 0; }) ==
        "init plan: expected an operand that is a constant input, got 'A'");
  CHECK(refusal([](F& f) { init_copy(f).bytes = 0; }) ==
        "init plan: expected a copy's size that the constant inputs determine, got value 0");
  CHECK(refusal([](F& f) { f.init.values[0].code[0].value = 0; }) ==
        "init plan: expected a value that the constant inputs determine, got value 0");
  CHECK(refusal([](F& f) {
          f.parameters[1].shape.push_back(manifest_apply(ManifestOp::add, {manifest_symbol(0), manifest_constant(1)}));
        }) == "init plan: expected a constant's size that the constant inputs determine, got value 0");
  CHECK(refusal([](F& f) { f.persistent[0].bytes = 0; }) ==
        "init plan: expected a persistent buffer's size that the constant inputs determine, got value 0");
}

// Repeats the last two steps M times, with a new value growing by value 1.
RepeatStep& repeat(FunctionInfo& f) {
  f.plan.values.push_back(manifest_constant(64));
  const auto moving = static_cast<ValueIndex>(f.symbols.size() + f.plan.values.size() - 1);
  const auto at = f.plan.steps.insert(f.plan.steps.begin() + 2, RepeatStep{0, 2, {{moving, 4}}});
  copy_at(f, 3).from.offset = moving;
  return std::get<RepeatStep>(*at);
}

TEST_CASE("repeats end inside of those around them, and change nothing but operands and trip counts") {
  Manifest manifest = sample_manifest();
  repeat(manifest.functions[2]);
  REQUIRE_MESSAGE(check_manifest(manifest).is_ok(), check_manifest(manifest).message());
  const Result<Manifest> decoded = decode_manifest(encode_manifest(manifest));
  REQUIRE_MESSAGE(decoded.is_ok(), decoded.status().message());
  CHECK(decoded.value() == manifest);

  CHECK(refusal([](F& f) { repeat(f).steps = 3; }) == "expected a repeat of 1 to 2 steps, got 3");
  CHECK(refusal([](F& f) { repeat(f).steps = 0; }) == "expected a repeat of 1 to 2 steps, got 0");
  CHECK(refusal([](F& f) { repeat(f).steps = UINT32_MAX; }) == "expected a repeat of 1 to 2 steps, got 4294967295");
  CHECK(refusal([](F& f) {
          repeat(f).steps = 1;
          f.plan.steps.insert(f.plan.steps.begin() + 3, RepeatStep{0, 1, {}});
        }) == "expected a repeat of 1 to 0 steps, got 1");
  CHECK(refusal([](F& f) {
          for (std::uint32_t depth = 0; depth < 5; ++depth)
            f.plan.steps.insert(f.plan.steps.begin(), RepeatStep{0, 4 + depth, {}});
        }) == "expected at most 4 repeats around a step, got 5");
  CHECK(refusal([](F& f) { repeat(f).count = 7; }) == "expected a count of iterations that is a value below 7, got 7");
  CHECK(refusal([](F& f) { repeat(f).values[0].value = 7; }) == "expected a loop value that is a value below 7, got 7");
  CHECK(refusal([](F& f) { repeat(f).values[0].value = 1; }) ==
        "expected loop values in ascending order from 3 on, got 1");
  CHECK(refusal([](F& f) { repeat(f).values[0].value = kNoValue; }) ==
        "expected loop values in ascending order from 3 on, got 4294967295");
  CHECK(refusal([](F& f) { repeat(f).values.push_back({6, 4}); }) ==
        "expected loop values in ascending order from 7 on, got 6");
  CHECK(refusal([](F& f) { repeat(f).count = 6; }) ==
        "expected a count of iterations that no repeat changes, got value 6");
  CHECK(refusal([](F& f) { repeat(f).values[0].stride = 7; }) == "expected a stride that is a value below 7, got 7");
  CHECK(refusal([](F& f) { repeat(f).values[0].stride = 6; }) ==
        "expected a stride that no repeat changes, got value 6");
  CHECK(refusal([](F& f) { repeat(f).values.resize(1025, {6, 4}); }) == "expected at most 1024 loop values, got 1025");
  CHECK(refusal([](F& f) {
          repeat(f);
          copy_at(f, 3).bytes = 6;
        }) == "expected a copy's size that no repeat changes, got value 6");
  CHECK(refusal([](F& f) {
          repeat(f);
          fill(f).bytes = 6;
        }) == "expected a fill's size that no repeat changes, got value 6");
  CHECK(refusal([](F& f) {
          repeat(f);
          call(f).workspace.offset = 6;
        }) == "expected a place's offset that no repeat changes, got value 6");
  CHECK(refusal([](F& f) {
          repeat(f);
          step<LaunchStep>(f, 4).grid[0] = 6;
        }) == "kernel 'layer_kernel0': expected a grid that no repeat changes, got value 6");
}

// The same with a condition at the beginning of a workspace.
Operand& condition(FunctionInfo& f) {
  RepeatStep& step = repeat(f);
  step.condition = Operand{OperandKind::workspace, 0, kNoValue};
  return *step.condition;
}

TEST_CASE("the condition of a repeat is memory at the same place in all iterations") {
  Manifest manifest = sample_manifest();
  repeat(manifest.functions[2]);
  const std::size_t unconditional = encode_manifest(manifest).size();
  manifest = sample_manifest();
  condition(manifest.functions[2]);
  REQUIRE_MESSAGE(check_manifest(manifest).is_ok(), check_manifest(manifest).message());
  const std::vector<std::uint8_t> bytes = encode_manifest(manifest);
  CHECK(bytes.size() == unconditional + 9);
  const Result<Manifest> decoded = decode_manifest(bytes);
  REQUIRE_MESSAGE(decoded.is_ok(), decoded.status().message());
  CHECK(decoded.value() == manifest);

  CHECK(refusal([](F& f) { condition(f).index = 2; }) == "expected a workspace below 2, got 2");
  CHECK(refusal([](F& f) { condition(f) = {OperandKind::argument, 3, kNoValue}; }) ==
        "expected an operand that is a tensor parameter, got number 3");
  CHECK(refusal([](F& f) { condition(f) = {OperandKind::constant, 1, kNoValue}; }) ==
        "expected a constant below 1, got 1");
  CHECK(refusal([](F& f) { condition(f) = {OperandKind::value, 0, kNoValue}; }) ==
        "expected memory with a condition, got a number");
  CHECK(refusal([](F& f) { condition(f) = {OperandKind::scalar, 0, kNoValue}; }) ==
        "expected an operand that is a scalar parameter, got number 0");
  CHECK(refusal([](F& f) { condition(f).kind = static_cast<OperandKind>(7); }) == "expected a known kind of operand");
  CHECK(refusal([](F& f) { condition(f).offset = 7; }) ==
        "expected an operand's offset that is a value below 7, got 7");
  CHECK(refusal([](F& f) { condition(f).offset = 6; }) ==
        "expected a condition's offset that no repeat changes, got value 6");
  CHECK(refusal([](F& f) {
          f.init.steps.insert(f.init.steps.begin(),
                              RepeatStep{kNoValue, 1, {}, Operand{OperandKind::argument, 0, kNoValue}});
        }) == "init plan: expected an operand that is a constant input, got 'A'");
}

TEST_CASE("a manifest that ends within a repeat, or has a later kind of step, is refused") {
  Manifest manifest = sample_manifest();
  manifest.functions.erase(manifest.functions.begin(), manifest.functions.begin() + 2);
  condition(manifest.functions[0]);
  std::vector<std::uint8_t> whole = encode_manifest(manifest);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CHECK_FALSE(decode_manifest(std::span(whole).first(bytes)).is_ok());
  }
  // The repeat's condition is the only operand of workspace 0 behind a list of one loop value.
  const std::vector<std::uint8_t> repeat_step = {6, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 6};
  const auto found = std::ranges::search(whole, repeat_step);
  REQUIRE(!found.empty());
  found.front() = 7;
  CHECK(decode_manifest(whole).status().message().find("expected a known tag, got 7") != std::string::npos);
}

TEST_CASE("a plan reads as text") {
  const FunctionInfo layer = sample_layer();
  CHECK(step_text(layer, layer.plan.steps[0]) == "fill 256 bytes of workspace 1");
  CHECK(step_text(layer, layer.plan.steps[1]) ==
        "call ferry_layer(A, persistent 0, constant 0 + 256, workspace 0, M * N) with workspace 0 with 256 bytes a "
        "thread");
  CHECK(step_text(layer, layer.plan.steps[2]) == "copy value 1 bytes to C from workspace 0");
  FunctionInfo repeated = layer;
  repeat(repeated);
  CHECK(step_text(repeated, repeated.plan.steps[2]) == "repeat the next 2 steps M times, value 3 from 64 by value 1");
  CHECK(step_text(repeated, repeated.plan.steps[3]) == "copy value 1 bytes to C from workspace 0 + value 3");
  FunctionInfo conditional = layer;
  condition(conditional);
  CHECK(step_text(conditional, conditional.plan.steps[2]) ==
        "repeat the next 2 steps M times at most, while workspace 0 is true, value 3 from 64 by value 1");
  CHECK(step_text(layer, layer.plan.steps[3]) == "launch layer_kernel0[M * N, 1, K][256, 1, 1](C + 256, N)");
}

}  // namespace
}  // namespace ferry
