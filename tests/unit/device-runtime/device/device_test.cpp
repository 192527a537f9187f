// Tests of the CPU device beyond the contract of all devices (tests/conformance/device): kernels with their workspaces
// and their output.
#include "device-runtime/device/device.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "device-runtime/device/cpu_device.h"
#include "device-runtime/device/null_device.h"
#include "device-runtime/plan/kept_call.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::device {
namespace {

TEST_CASE("memory beyond what the system has is refused, not promised") {
  MemoryBudget budget(~std::uint64_t{0});
  CpuDevice cpu({"cpu", "test", 0}, 1, budget);
  CHECK(cpu.allocate(std::uint64_t{1} << 60).status().code() == ErrorCode::resource_exhausted);
  CHECK(budget.used() == 0);
}

std::size_t index_of(const Manifest& manifest, const std::string& name) {
  for (std::size_t i = 0; i < manifest.functions.size(); ++i) {
    if (manifest.functions[i].name == name) return i;
  }
  FAIL("no function " << name);
  return 0;
}

struct CpuFixture {
  MemoryBudget budget{64 << 20};
  CpuDevice cpu{{"cpu", "test", 0}, 3, budget};
  Device* devices[1] = {&cpu};
  ModuleFile module = test::kit_module();
  std::unique_ptr<Program> program;

  CpuFixture() {
    auto loaded = cpu.load(module, {});
    REQUIRE_MESSAGE(loaded.is_ok(), loaded.status().message());
    program = std::move(loaded.value());
  }
  FunctionInfo& function(const char* name) { return module.manifest.functions[index_of(module.manifest, name)]; }
  Result<std::unique_ptr<PlanCall>> try_prepare(const char* name, std::vector<DeviceArgument> arguments,
                                                BoundCall bound) {
    return PlanCall::prepare(devices, *program, function(name), arguments, bound);
  }
  std::unique_ptr<PlanCall> prepare(const char* name, std::vector<DeviceArgument> arguments, BoundCall bound) {
    auto call = try_prepare(name, std::move(arguments), std::move(bound));
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    return std::move(call.value());
  }
};

TEST_CASE_FIXTURE(CpuFixture, "a prepared call can be run again and again, and gives its workspaces back") {
  const std::uint64_t before = budget.used();
  CHECK(before > 0);  // the module's code
  float out[100] = {};
  {
    const auto call = prepare("ramp", {{true, nullptr, 100}, {false, out, 0}}, {{100}, {0, 400}});
    CHECK(budget.used() >= before + 800 + 3 * 100);
    for (int i = 0; i < 3; ++i) {
      std::memset(out, 0, sizeof out);
      CHECK(call->run() == 0);
      CHECK(out[99] == 99.0F);
    }
  }
  CHECK(budget.used() == before);
}

TEST_CASE_FIXTURE(CpuFixture, "workspaces beyond the budget are refused when the call is prepared") {
  const std::uint64_t before = budget.used();
  const std::vector<DeviceArgument> arguments = {{true, nullptr, 1}, {false, nullptr, 0}};
  const ManifestExpr large = manifest_constant(std::int64_t{1} << 40), huge = manifest_constant(INT64_MAX);
  for (const NativeCode& code : {NativeCode{"ramp", large, {}}, {"ramp", manifest_constant(8), huge}}) {
    set_native_code(function("ramp"), code);
    CHECK(try_prepare("ramp", arguments, {{1}, {0, 4}}).status().code() == ErrorCode::resource_exhausted);
  }
  CHECK(budget.used() == before);
}

TEST_CASE_FIXTURE(CpuFixture, "a plan runs its calls, copies and fills in order, and each step is timed") {
  // C = (A + 1) + B through a workspace.
  FunctionInfo& add = function("add");
  const Operand a{OperandKind::argument, 0, kNoValue}, b{OperandKind::argument, 1, kNoValue};
  const Operand c{OperandKind::argument, 2, kNoValue}, n{OperandKind::value, 0, kNoValue};
  const Operand between{OperandKind::workspace, 0, kNoValue};
  Plan& plan = add.plan;
  const ValueIndex bytes =
      add_value(plan, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
  plan.workspaces = {{0, bytes}};
  CallStep first = std::get<CallStep>(plan.steps[0]), second = first;
  first.operands = {a, between, c, n};
  second.operands = {between, b, c, n};
  plan.steps = {FillStep{between, bytes, 4, 0x3f800000}, first, CopyStep{between, c, bytes}, second};
  REQUIRE(check_manifest(module.manifest).is_ok());
  float left[3] = {1, 2, 3}, right[3] = {10, 20, 30}, sum[3] = {};
  const auto call = prepare("add", {{false, left, 0}, {false, right, 0}, {false, sum, 0}}, {{3}, {12, 12, 12}});
  REQUIRE(call->run() == 0);
  CHECK(sum[0] == 12);
  CHECK(sum[2] == 34);
  std::int64_t elapsed = -1;
  CHECK(call->sample(10, elapsed) == 0);
  CHECK(elapsed >= 0);
  const std::vector<StepTime> steps = call->steps();
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].kind == StepKind::fill);
  CHECK(steps[1].kind == StepKind::call);
  CHECK(steps[1].kernel == "add");
  CHECK(steps[2].kind == StepKind::copy);
  std::vector<std::int64_t> each(4, -1);
  CHECK(call->run_timed(each) == 0);
  for (const std::int64_t one : each) CHECK(one >= 0);
  CHECK(sum[1] == 23);
}

TEST_CASE_FIXTURE(CpuFixture, "the first result other than 0 ends the plan, and says which of the messages it means") {
  FunctionInfo& fail = function("fail");
  const FillStep after{{OperandKind::argument, 1, kNoValue}, add_value(fail.plan, 0, manifest_constant(4)), 4, 1};
  std::get<CallStep>(fail.plan.steps[0]).first_message = 1;
  fail.plan.steps.emplace_back(after);
  REQUIRE(check_manifest(module.manifest).is_ok());
  std::int32_t out = 0;
  const auto run = [&](std::int64_t code) {
    out = 0;
    return prepare("fail", {{true, nullptr, static_cast<std::uint64_t>(code)}, {false, &out, 0}}, {{}, {0, 4}})->run();
  };
  CHECK(run(0) == 0);
  CHECK(out == 1);
  CHECK(run(1) == 2);
  CHECK(out == 0);
  CHECK(run(-5) == -5);
}

TEST_CASE_FIXTURE(CpuFixture, "a sample ends at the first result other than 0, in plans of one step and of several") {
  FunctionInfo& fail = function("fail");
  std::int32_t out = 0;
  const std::vector<DeviceArgument> arguments = {{true, nullptr, 2}, {false, &out, 0}};
  std::int64_t elapsed = 0;
  CHECK(prepare("fail", arguments, {{}, {0, 4}})->sample(5, elapsed) == 2);
  const CallStep call = std::get<CallStep>(fail.plan.steps[0]);
  fail.plan.steps = {FillStep{{OperandKind::argument, 1, kNoValue}, kNoValue, 1, 0}, call};
  CHECK(prepare("fail", arguments, {{}, {0, 4}})->sample(5, elapsed) == 2);
}

TEST_CASE_FIXTURE(CpuFixture,
                  "a repeat moves the operands of calls, and each iteration reads what the one before wrote") {
  // C[0] = A[0], then C[i] = A[i] + C[i - 1].
  FunctionInfo& add = function("add");
  Plan& plan = add.plan;
  const ValueIndex four = add_value(plan, 1, manifest_constant(4)), one = add_value(plan, 1, manifest_constant(1)),
                   trips =
                       add_value(plan, 1, manifest_apply(ManifestOp::sub, {manifest_symbol(0), manifest_constant(1)}));
  plan.values.insert(plan.values.end(), {manifest_constant(0), manifest_constant(4)});
  const auto before = static_cast<ValueIndex>(plan.values.size() - 1), next = before + 1;
  const Operand a{OperandKind::argument, 0, next}, c{OperandKind::argument, 2, next},
      last{OperandKind::argument, 2, before};
  CallStep call = std::get<CallStep>(plan.steps[0]);
  call.operands = {a, last, c, {OperandKind::value, one, kNoValue}};
  plan.steps = {CopyStep{{OperandKind::argument, 2, kNoValue}, {OperandKind::argument, 0, kNoValue}, four},
                RepeatStep{trips, 1, {{before, four}, {next, four}}}, call};
  REQUIRE_MESSAGE(check_manifest(module.manifest).is_ok(), check_manifest(module.manifest).message());
  for (const std::size_t n : {1U, 2U, 1000U}) {
    CAPTURE(n);
    std::vector<float> in(n), sums(n), expected(n);
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) expected[i] = sum += in[i] = static_cast<float>(i % 13);
    const std::uint64_t bytes = 4 * n;
    const auto prepared = prepare("add", {{false, in.data(), 0}, {false, in.data(), 0}, {false, sums.data(), 0}},
                                  {{static_cast<std::int64_t>(n)}, {bytes, bytes, bytes}});
    REQUIRE(prepared->run() == 0);
    CHECK(sums == expected);
    std::ranges::fill(sums, 0.0F);
    std::vector<std::int64_t> each(prepared->steps().size(), -1);
    REQUIRE(each.size() == (n == 1 ? 1 : 2));
    REQUIRE(prepared->run_timed(each) == 0);
    CHECK(sums == expected);
    for (const std::int64_t elapsed : each) CHECK(elapsed >= 0);
  }
}

TEST_CASE_FIXTURE(CpuFixture, "the first result other than 0 ends a repeat, and the next call begins anew") {
  FunctionInfo& fail = function("fail");
  Plan& plan = fail.plan;
  plan.values = {manifest_constant(-3), manifest_constant(1), manifest_constant(std::int64_t{1} << 40)};
  CallStep call = std::get<CallStep>(plan.steps[0]);
  call.operands[0] = {OperandKind::value, 0, kNoValue};
  plan.steps = {RepeatStep{2, 1, {{0, 1}}}, call};
  REQUIRE_MESSAGE(check_manifest(module.manifest).is_ok(), check_manifest(module.manifest).message());
  std::int32_t out = 0;
  const auto prepared = prepare("fail", {{true, nullptr, 0}, {false, &out, 0}}, {{}, {0, 4}});
  for (int run = 0; run < 2; ++run) CHECK(prepared->run() == -3);
  plan.values[0] = manifest_constant(0);
  const auto later = prepare("fail", {{true, nullptr, 0}, {false, &out, 0}}, {{}, {0, 4}});
  for (int run = 0; run < 2; ++run) CHECK(later->run() == 1);
}

// Copies rows of A to C, element by element while the elements of B are true. `rows` of `columns` elements each; of B
// one more is read than an iteration needs.
void copy_rows_while(FunctionInfo& add, std::int64_t rows, std::int64_t columns) {
  Plan& plan = add.plan;
  const auto value = [&](ManifestExpr expr) {
    plan.values.push_back(std::move(expr));
    return static_cast<ValueIndex>(plan.values.size());  // behind the symbol n
  };
  const auto number = [&](std::int64_t of) { return value(manifest_constant(of)); };
  plan = {};
  const ValueIndex at = number(0), next = number(4), one = number(1), four = number(4), row = number(4 * columns),
                   row_count = number(rows), column_count = number(columns);
  plan.workspaces = {{0, number(64)}};
  const Operand condition{OperandKind::workspace, 0, one};
  plan.steps = {RepeatStep{row_count, 4, {{at, row}, {next, row}}},
                CopyStep{condition, {OperandKind::argument, 1, at}, one},
                RepeatStep{column_count, 2, {{at, four}, {next, four}}, condition},
                CopyStep{{OperandKind::argument, 2, at}, {OperandKind::argument, 0, at}, four},
                CopyStep{condition, {OperandKind::argument, 1, next}, one}};
}

TEST_CASE_FIXTURE(CpuFixture, "a repeat ends before the first iteration at whose beginning its condition is false") {
  FunctionInfo& add = function("add");
  for (const std::size_t columns : {1U, 2U, 7U}) {
    constexpr std::size_t kRows = 9;
    CAPTURE(columns);
    copy_rows_while(add, kRows, static_cast<std::int64_t>(columns));
    REQUIRE_MESSAGE(check_manifest(module.manifest).is_ok(), check_manifest(module.manifest).message());
    const std::size_t n = kRows * columns + 1;
    std::vector<float> a(n), c(n), expected(n);
    std::vector<std::int32_t> conditions(n);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = 0; i < columns; ++i) {
        a[r * columns + i] = static_cast<float>(r * columns + i + 1);
        // Row r has r true elements, or all.
        conditions[r * columns + i] = i < r ? (i % 2 == 0 ? 1 : 255) : 0;
        if (i < r) expected[r * columns + i] = a[r * columns + i];
      }
    }
    const std::uint64_t bytes = 4 * n;
    const auto prepared = prepare("add", {{false, a.data(), 0}, {false, conditions.data(), 0}, {false, c.data(), 0}},
                                  {{static_cast<std::int64_t>(n)}, {bytes, bytes, bytes}});
    for (int run = 0; run < 2; ++run) {
      REQUIRE(prepared->run() == 0);
      CHECK(c == expected);
      std::ranges::fill(c, 0.0F);
    }
    std::vector<std::int64_t> each(prepared->steps().size(), -1);
    REQUIRE(each.size() == 3);
    REQUIRE(prepared->run_timed(each) == 0);
    CHECK(c == expected);
    std::ranges::fill(c, 0.0F);
    std::int64_t elapsed = 0;
    REQUIRE(prepared->sample(3, elapsed) == 0);
    CHECK(c == expected);
  }
}

TEST_CASE_FIXTURE(CpuFixture, "a condition outside of its memory is refused before the first step") {
  FunctionInfo& add = function("add");
  const auto refusal = [&](std::int64_t workspace_bytes) {
    copy_rows_while(add, 2, 3);
    Plan& plan = add.plan;
    plan.values.back() = manifest_constant(workspace_bytes);
    plan.steps = {plan.steps[2], plan.steps[3], plan.steps[3]};
    std::vector<float> memory(7);
    const std::vector<DeviceArgument> arguments(3, {false, memory.data(), 0});
    return try_prepare("add", arguments, {{7}, {28, 28, 28}}).status().message();
  };
  CHECK(refusal(1) == "add: the condition of a repeat is outside of its memory");
  CHECK(refusal(0) == "add: the plan works at byte 1 of memory of 0 bytes");
}

TEST_CASE_FIXTURE(CpuFixture, "a bound call is kept for the same arguments and sizes") {
  float a[2] = {1, 2}, other[2] = {1, 2};
  const auto scale = [&](float by, float* memory) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &by, sizeof by);
    return std::vector<DeviceArgument>{{true, nullptr, bits}, {false, memory, 0}};
  };
  const std::vector<std::int64_t> two = {2}, one = {1};
  KeptCall kept;
  CHECK(kept.take(scale(2, a), two) == nullptr);
  auto call = prepare("scale", scale(2, a), {two, {0, 8}});
  PlanCall* const address = call.get();
  kept.keep(scale(2, a), two, std::move(call));
  CHECK(kept.take(scale(3, a), two) == nullptr);
  CHECK(kept.take(scale(2, other), two) == nullptr);
  CHECK(kept.take(scale(2, a), one) == nullptr);
  call = kept.take(scale(2, a), two);
  REQUIRE(call.get() == address);
  CHECK(call->run() == 0);
  CHECK(a[1] == 4);
  CHECK(kept.take(scale(2, a), two) == nullptr);
  kept.keep(scale(2, a), two, std::move(call));
  kept.keep(scale(2, other), two, prepare("scale", scale(2, other), {two, {0, 8}}));
  CHECK(kept.take(scale(2, a), two) == nullptr);
  CHECK(kept.take(scale(2, other), two) != nullptr);
}

TEST_CASE_FIXTURE(CpuFixture, "a kept call holds its workspaces until it is dropped") {
  const std::uint64_t before = budget.used();
  const std::vector<std::int64_t> two = {2};
  float out[2] = {};
  const std::vector<DeviceArgument> ramp = {{true, nullptr, 2}, {false, out, 0}};
  KeptCall kept;
  kept.keep(ramp, two, prepare("ramp", ramp, {two, {0, 8}}));
  const std::uint64_t charged = budget.used();
  CHECK(charged > before);
  auto call = kept.take(ramp, two);
  REQUIRE(call != nullptr);
  CHECK(call->run() == 0);
  CHECK(out[1] == 1);
  CHECK(budget.used() == charged);
  kept.keep(ramp, two, std::move(call));
  kept.drop();
  CHECK(kept.take(ramp, two) == nullptr);
  CHECK(budget.used() == before);
}

TEST_CASE_FIXTURE(CpuFixture, "a value of a plan that overflows is refused") {
  set_native_code(function("ramp"),
                  {"ramp", manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(INT64_MAX)}), {}});
  CHECK(try_prepare("ramp", {{true, nullptr, 2}, {false, nullptr, 0}}, {{2}, {0, 8}}).status().message() ==
        "ramp: the size n * 9223372036854775807 of its plan: a result does not fit into 64 bits, got n = 2");
}

TEST_CASE_FIXTURE(CpuFixture, "what kernels print is kept until it is taken") {
  const auto call = prepare("say", {}, {});
  CHECK(call->run() == 0);
  CHECK(call->run() == 0);
  CHECK(cpu.take_printed() == "hello from a kernelhello from a kernel");
  CHECK(cpu.take_printed().empty());
  for (int i = 0; i < 5000; ++i) (void)call->run();
  const std::string much = cpu.take_printed();
  CHECK(much.size() < 70'000);
  CHECK(much.find("more was printed than is kept") != std::string::npos);
}

TEST_CASE_FIXTURE(CpuFixture, "a program gives its memory back") {
  program.reset();
  CHECK(budget.used() == 0);
}

TEST_CASE("a module without code for a CPU is refused, the null device takes any and runs nothing") {
  MemoryBudget budget(1 << 20);
  ModuleFile module = test::kit_module();
  module.images.clear();
  CpuDevice cpu({"cpu", "test", 0}, 1, budget);
  CHECK(cpu.load(module, {}).status().message() ==
        "the module has no code for a CPU (expected an image of kind 'elf')");
  NullDevice null(budget);
  auto program = null.load(module, {});
  REQUIRE(program.is_ok());
  const std::vector<DeviceArgument> arguments(3);
  Device* const devices[] = {&null};
  auto call = PlanCall::prepare(devices, *program.value(), module.manifest.functions[0], arguments, {{1}, {4, 4, 4}});
  REQUIRE(call.is_ok());
  CHECK(call.value()->run() == 0);
}

}  // namespace
}  // namespace ferry::device
