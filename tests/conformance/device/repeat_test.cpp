// Repeats in plans: operands that move from one iteration to the next, trip counts that a call determines, and refusals
// of what any iteration would do outside of its memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "device-runtime/plan/plan_call.h"
#include "tests/conformance/device/devices.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::device {
namespace {

constexpr std::size_t kBlock = 64;  // floats
constexpr std::int64_t kBlockBytes = 4 * kBlock;

ManifestExpr of(ManifestOp op, ManifestExpr a, ManifestExpr b) {
  return manifest_apply(op, {std::move(a), std::move(b)});
}

ValueIndex value(Plan& plan, ManifestExpr expr) {
  plan.values.push_back(std::move(expr));
  return static_cast<ValueIndex>(plan.values.size());  // after the symbol n
}
ValueIndex number(Plan& plan, std::int64_t number) { return value(plan, manifest_constant(number)); }
ValueIndex blocks(Plan& plan) {
  return value(plan, of(ManifestOp::floordiv, manifest_symbol(0), manifest_constant(kBlock)));
}

Operand in(ValueIndex offset) { return {OperandKind::argument, 0, offset}; }
Operand out(ValueIndex offset) { return {OperandKind::argument, 2, offset}; }

// The function of gpu_module() with a plan that takes A and C in blocks.
class Blocks {
 public:
  Blocks(TestedDevice& tested, std::size_t n) : device_(*tested.device), n_(n), a_(n), c_(n) {
    module_ = *tested.module;
    function().plan = {};
    function().messages.clear();
    std::iota(a_.begin(), a_.end(), 1.0F);
    in_ = device_.allocate(4 * n).value();
    out_ = device_.allocate(4 * n).value();
    if (n > 0) REQUIRE(device_.write(in_, 0, {reinterpret_cast<const std::uint8_t*>(a_.data()), 4 * n}).is_ok());
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    call_.reset();
    device_.release(in_, 4 * n_);
    device_.release(out_, 4 * n_);
  }

  FunctionInfo& function() { return module_.manifest.functions[0]; }
  Plan& plan() { return function().plan; }
  const std::vector<float>& a() const { return a_; }

  // Replaces A.
  void write(const std::vector<float>& values) {
    REQUIRE(device_.write(in_, 0, {reinterpret_cast<const std::uint8_t*>(values.data()), 4 * values.size()}).is_ok());
  }

  Status prepare(Program& program) {
    REQUIRE_MESSAGE(check_manifest(module_.manifest).is_ok(), check_manifest(module_.manifest).message());
    bound_.symbols = {static_cast<std::int64_t>(n_)};
    bound_.tensor_bytes = {4 * n_, 0, 4 * n_};
    auto call = PlanCall::prepare(devices_, program, function(),
                                  arguments_ = {{false, in_, 0}, {true, nullptr, 0}, {false, out_, 0}}, bound_);
    if (!call.is_ok()) return call.status();
    call_ = std::move(call.value());
    return {};
  }
  PlanCall& call() { return *call_; }
  const std::vector<float>& c() {
    if (n_ > 0) REQUIRE(device_.read(out_, 0, {reinterpret_cast<std::uint8_t*>(c_.data()), 4 * n_}).is_ok());
    return c_;
  }

 private:
  Device& device_;
  Device* devices_[1] = {&device_};
  std::size_t n_;
  ModuleFile module_;
  std::vector<float> a_, c_;
  void *in_ = nullptr, *out_ = nullptr;
  std::vector<DeviceArgument> arguments_;
  BoundCall bound_;
  std::unique_ptr<PlanCall> call_;
};

void for_each_gpu(const std::function<void(TestedDevice&, Program&)>& check) {
  for_each_device([&](TestedDevice& tested) {
    if (tested.module == nullptr) return;
    auto program = tested.device->load(*tested.module, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    check(tested, *program.value());
  });
}

// Copies a block of A to the workspace, and writes it doubled to C.
std::vector<Step> doubled(Plan& plan, ValueIndex from, ValueIndex to) {
  const ValueIndex bytes = number(plan, kBlockBytes), count = number(plan, kBlock);
  plan.workspaces = {{0, bytes}};
  LaunchStep twice;
  twice.kernel = "twice";
  twice.grid[0] = number(plan, 1);
  twice.block[0] = count;
  twice.operands = {{OperandKind::workspace, 0, kNoValue}, out(to), {OperandKind::value, count, kNoValue}};
  return {CopyStep{{OperandKind::workspace, 0, kNoValue}, in(from), bytes}, twice};
}

TEST_CASE("a repeat runs its steps as often as the call's sizes say, with operands that move forwards and backwards") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 100U}) {
      CAPTURE(count);
      Blocks blocked(tested, kBlock * count + 3);
      Plan& plan = blocked.plan();
      const ValueIndex up = number(plan, 0), trips = blocks(plan);
      const ValueIndex down =
          value(plan, of(ManifestOp::mul, of(ManifestOp::sub, manifest_symbol(trips), manifest_constant(1)),
                         manifest_constant(kBlockBytes)));
      plan.steps = doubled(plan, up, down);
      plan.steps.insert(plan.steps.begin(),
                        RepeatStep{trips, 2, {{up, number(plan, kBlockBytes)}, {down, number(plan, -kBlockBytes)}}});
      const Status status = blocked.prepare(program);
      REQUIRE_MESSAGE(status.is_ok(), status.message());
      std::int64_t elapsed = 0;
      REQUIRE(blocked.call().sample(2, elapsed) == 0);
      REQUIRE(blocked.call().run() == 0);
      const std::vector<float>& c = blocked.c();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < kBlock * count; ++i) {
        wrong += c[(count - 1 - i / kBlock) * kBlock + i % kBlock] != 2 * blocked.a()[i] ? 1 : 0;
      }
      CHECK(wrong == 0);
      const std::vector<StepTime> steps = blocked.call().steps();
      REQUIRE(steps.size() == (count == 0 ? 0 : 2));
      std::vector<std::int64_t> each(steps.size(), -1);
      REQUIRE(blocked.call().run_timed(each) == 0);
      for (const std::int64_t one : each) CHECK(one >= 0);
      REQUIRE(blocked.call().run() == 0);
    }
  });
}

TEST_CASE("nested repeats move the same operand") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    constexpr std::size_t kRows = 5, kColumns = 4;
    Blocks blocked(tested, kBlock * kRows * kColumns);
    Plan& plan = blocked.plan();
    const ValueIndex at = number(plan, 0), row = number(plan, kColumns * kBlockBytes),
                     block = number(plan, kBlockBytes);
    // The last column of each row is left out.
    std::vector<Step> steps = {RepeatStep{number(plan, kRows), 3, {{at, row}}},
                               RepeatStep{number(plan, kColumns - 1), 2, {{at, block}}}};
    for (Step& step : doubled(plan, at, at)) steps.push_back(std::move(step));
    plan.steps = {FillStep{out(kNoValue), number(plan, kRows * kColumns * kBlockBytes), 1, 0}};
    plan.steps.insert(plan.steps.end(), steps.begin(), steps.end());
    const Status status = blocked.prepare(program);
    REQUIRE_MESSAGE(status.is_ok(), status.message());
    for (int run = 0; run < 2; ++run) {
      REQUIRE(blocked.call().run() == 0);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < blocked.a().size(); ++i) {
        const bool is_doubled = i / kBlock % kColumns < kColumns - 1;
        wrong += blocked.c()[i] != (is_doubled ? 2 * blocked.a()[i] : 0) ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("a repeat ends before the first iteration at whose beginning its condition is false") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    constexpr std::size_t kCount = 6;
    for (const std::size_t ran : {std::size_t{0}, std::size_t{1}, std::size_t{4}, kCount}) {
      CAPTURE(ran);
      Blocks blocked(tested, kBlock * (kCount + 1));
      Plan& plan = blocked.plan();
      const ValueIndex at = number(plan, 0), stride = number(plan, kBlockBytes), one = number(plan, 1),
                       trips = number(plan, kCount), bytes = number(plan, kBlockBytes), count = number(plan, kBlock);
      // A byte that a kernel's result has in its memory is true until the iteration in which it becomes that of 0.
      plan.workspaces = {{0, bytes}, {0, number(plan, 64)}};
      const Operand condition{OperandKind::workspace, 1, kNoValue};
      LaunchStep twice;
      twice.kernel = "twice";
      twice.grid[0] = one;
      twice.block[0] = count;
      twice.operands = {{OperandKind::workspace, 0, kNoValue}, out(at), {OperandKind::value, count, kNoValue}};
      const ValueIndex first_byte = number(plan, 3), next_byte = number(plan, kBlockBytes + 3);
      plan.steps = {FillStep{out(kNoValue), number(plan, kBlockBytes * (kCount + 1)), 1, 0},
                    CopyStep{condition, in(first_byte), one},
                    RepeatStep{trips, 3, {{at, stride}, {next_byte, stride}}, condition},
                    CopyStep{{OperandKind::workspace, 0, kNoValue}, in(at), bytes},
                    twice,
                    CopyStep{condition, in(next_byte), one}};
      // The highest byte of a float is 0 for 0 alone among these.
      std::vector<float> values = blocked.a();
      if (ran < kCount) values[ran * kBlock] = 0;
      blocked.write(values);
      const Status status = blocked.prepare(program);
      REQUIRE_MESSAGE(status.is_ok(), status.message());
      std::int64_t elapsed = 0;
      for (const bool is_sampled : {false, true}) {
        REQUIRE((is_sampled ? blocked.call().sample(2, elapsed) : blocked.call().run()) == 0);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
          wrong += blocked.c()[i] != (i < ran * kBlock ? 2 * values[i] : 0) ? 1 : 0;
        CHECK(wrong == 0);
      }
      std::vector<std::int64_t> each(blocked.call().steps().size());
      CHECK(each.size() == 5);
      CHECK(blocked.call().run_timed(each) == 0);
    }
  });
}

TEST_CASE("numbers of a launch change with the iteration, and each iteration's result counts") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    const ModuleFile judging = test::with_verdict(*tested.module);
    auto program = tested.device->load(judging, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    for (const std::int64_t stride : {2, 1}) {
      Blocks blocked(tested, kBlock);
      Plan& plan = blocked.plan();
      blocked.function().messages = {"the number is odd"};
      plan.workspaces = {{0, number(plan, 256)}};
      const ValueIndex n = number(plan, 0);
      LaunchStep judge;
      judge.kernel = "judge";
      judge.operands = {{OperandKind::workspace, 0, kNoValue}, {OperandKind::value, n, kNoValue}};
      judge.result = {0, kNoValue};
      // The last iteration's number is even.
      plan.steps = {RepeatStep{number(plan, 3), 1, {{n, number(plan, stride)}}}, judge};
      const Status status = blocked.prepare(*program.value());
      REQUIRE_MESSAGE(status.is_ok(), status.message());
      for (int run = 0; run < 2; ++run) CHECK(blocked.call().run() == stride % 2);
      std::vector<std::int64_t> each(1);
      CHECK(blocked.call().run_timed(each) == stride % 2);
    }
  });
}

TEST_CASE("launches of a repeat that ends before its first iteration leave no result") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    const ModuleFile judging = test::with_verdict(*tested.module);
    auto program = tested.device->load(judging, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    for (const bool runs : {false, true}) {
      Blocks blocked(tested, kBlock);
      Plan& plan = blocked.plan();
      blocked.function().messages = {"the number is odd"};
      const ValueIndex bytes = number(plan, 256), one = number(plan, 1);
      plan.workspaces = {{0, bytes}, {0, bytes}};
      LaunchStep judge;
      judge.kernel = "judge";
      judge.operands = {{OperandKind::workspace, 0, kNoValue}, {OperandKind::value, one, kNoValue}};
      judge.result = {0, kNoValue};
      const Operand condition{OperandKind::workspace, 1, kNoValue};
      plan.steps = {FillStep{{OperandKind::workspace, 0, kNoValue}, bytes, 1, 0xab},
                    FillStep{condition, bytes, 1, runs ? 1U : 0U}, RepeatStep{number(plan, 3), 1, {}, condition},
                    judge};
      const Status status = blocked.prepare(*program.value());
      REQUIRE_MESSAGE(status.is_ok(), status.message());
      for (int run = 0; run < 2; ++run) CHECK(blocked.call().run() == (runs ? 1 : 0));
    }
  });
}

TEST_CASE("what any iteration would do outside of its memory is refused before the first one") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const auto refusal = [&](std::int64_t first, std::int64_t stride, std::int64_t count) {
      Blocks blocked(tested, 4 * kBlock);
      Plan& plan = blocked.plan();
      const ValueIndex at = number(plan, first);
      plan.steps = doubled(plan, at, at);
      plan.steps.insert(plan.steps.begin(), RepeatStep{number(plan, count), 2, {{at, number(plan, stride)}}});
      return blocked.prepare(program).message();
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    CHECK(refusal(0, kBlockBytes, 4).empty());
    CHECK(refusal(3 * kBlockBytes, -kBlockBytes, 4).empty());
    CHECK(refusal(kMost, kMost, 0).empty());
    CHECK(refusal(kMost, kMost, -7).empty());
    CHECK(refusal(0, kBlockBytes, 5) == "f: the plan copies or fills 256 bytes where 0 are left");
    CHECK(refusal(0, kBlockBytes, 6) == "f: the plan works at byte 1280 of memory of 1024 bytes");
    CHECK(refusal(2 * kBlockBytes, -kBlockBytes, 4) ==
          "f: expected sizes and offsets of at least 0 bytes in its plan, got -256");
    CHECK(refusal(0, kMost, 3) == "f: an offset of its plan exceeds 64 bits in a repeat");
    CHECK(refusal(kMost, 1, 2) == "f: an offset of its plan exceeds 64 bits in a repeat");
    CHECK(refusal(0, 2, kMost) == "f: an offset of its plan exceeds 64 bits in a repeat");
  });
}

TEST_CASE("copies whose ranges overlap in different iterations are refused") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const auto refusal = [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      Blocks blocked(tested, 8 * kBlock);
      Plan& plan = blocked.plan();
      const ValueIndex a = number(plan, to * kBlockBytes), b = number(plan, from * kBlockBytes),
                       stride = number(plan, kBlockBytes);
      plan.steps = {RepeatStep{number(plan, count), 1, {{a, stride}, {b, stride}}}, CopyStep{out(a), out(b), stride}};
      return blocked.prepare(program).message();
    };
    CHECK(refusal(0, 4, 4).empty());
    CHECK(refusal(4, 0, 4).empty());
    CHECK(refusal(0, 3, 4) == "f: the plan copies between overlapping ranges");
    CHECK(refusal(3, 0, 4) == "f: the plan copies between overlapping ranges");
    CHECK(refusal(2, 2, 1) == "f: the plan copies between overlapping ranges");
  });
}

}  // namespace
}  // namespace ferry::device
