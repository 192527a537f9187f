#include <algorithm>
#include <vector>

#include "device-runtime/plan/bind_plan.h"
#include "module/manifest_codec.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {
namespace {

using device::MemoryBlock;

// Takes every step and traps if one would access memory outside of the blocks that it may use.
class CheckingStream final : public device::Stream {
 public:
  explicit CheckingStream(const std::vector<MemoryBlock>& blocks) : blocks_(blocks) {}

  Status add(device::BoundNativeCall call) override {
    if (call.workspace != nullptr) check(call.workspace, 0);
    return check_operands(call.operands);
  }
  Status add(device::BoundLaunch launch) override {
    for (const auto& extents : {launch.grid, launch.block}) {
      for (const std::uint64_t extent : extents) {
        if (extent > INT32_MAX) __builtin_trap();
      }
    }
    return check_operands(launch.operands);
  }
  Status add(device::BoundCopy copy) override {
    check(copy.to, copy.bytes);
    check(copy.from, copy.bytes);
    steps_.push_back({copy.bytes, {true, true}});
    return {};
  }
  Status add(device::BoundFill fill) override {
    check(fill.to, fill.bytes);
    if (fill.bytes % fill.pattern_bytes != 0) __builtin_trap();
    steps_.push_back({fill.bytes, {true}});
    return {};
  }
  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) override {
    const Step& changed = steps_.at(step);
    if (changed.is_memory.at(operand)) check(reinterpret_cast<void*>(to), changed.bytes);
    return 0;
  }
  StepTime describe(std::size_t) const override { return {}; }
  std::int32_t run(std::size_t, bool) override { return 0; }

  void check(const void* memory, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const bool is_inside = std::any_of(blocks_.begin(), blocks_.end(), [&](const MemoryBlock& block) {
      const auto begin = reinterpret_cast<std::uintptr_t>(block.memory);
      return address >= begin && address - begin <= block.bytes && bytes <= block.bytes - (address - begin);
    });
    if (!is_inside) __builtin_trap();
  }

 private:
  // A step: how many bytes each of its operands that is memory has at least, and which ones are.
  struct Step {
    std::uint64_t bytes = 0;
    std::vector<bool> is_memory;
  };

  Status check_operands(const std::vector<device::BoundOperand>& operands) {
    Step step;
    for (const device::BoundOperand& operand : operands) {
      if (operand.is_memory) check(operand.memory, 0);
      step.is_memory.push_back(operand.is_memory);
    }
    steps_.push_back(std::move(step));
    return {};
  }

  const std::vector<MemoryBlock>& blocks_;
  std::vector<Step> steps_;
};

// Traps if an operand lies outside of its memory in some iteration: its least and its greatest address are those at the
// first and last values of each repeat around its step.
void check_iterations(const device::BoundSteps& bound, CheckingStream& stream) {
  for (const device::LoopOperand& operand : bound.operands) {
    std::uint64_t least = operand.base + bound.values.at(operand.value), greatest = least;
    for (const device::BoundRepeat& repeat : bound.repeats) {
      if (operand.step < repeat.begin || operand.step >= repeat.end) continue;
      for (const auto& [value, stride] : repeat.strides) {
        if (value != operand.value) continue;
        const auto all = static_cast<std::int64_t>(stride) * (repeat.count - 1);
        (all < 0 ? least : greatest) += static_cast<std::uint64_t>(all);
      }
    }
    stream.set(operand.step, operand.operand, least);
    stream.set(operand.step, operand.operand, greatest);
  }
}

// Stands for memory: the plan is bound but not run, so no address is accessed.
MemoryBlock next_block(std::vector<MemoryBlock>& blocks, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const std::uintptr_t begin = (blocks.size() + 1) << 44;
  blocks.push_back({reinterpret_cast<void*>(begin), std::min(bytes, kMost)});
  return blocks.back();
}

// Binds one of the function's plans for sizes that all have this value.
void bind(const Manifest& manifest, const FunctionInfo& function, const Plan& plan, std::int64_t size) {
  const std::vector<std::int64_t> symbols(function.symbols.size(), size);
  const auto values = device::evaluate_values(function, plan, symbols);
  if (!values.is_ok()) return;
  std::vector<MemoryBlock> blocks, workspaces, persistent, constants;
  std::vector<device::DeviceArgument> arguments;
  std::vector<std::uint64_t> bytes;
  for (const ParameterInfo& parameter : function.parameters) {
    const bool is_scalar = parameter.kind == ParameterKind::scalar;
    bytes.push_back(is_scalar ? 0 : 4096);
    arguments.push_back({is_scalar, is_scalar ? nullptr : next_block(blocks, 4096).memory, 7});
  }
  for (const Workspace& workspace : plan.workspaces) {
    const auto wanted = device::size_of(function, values.value(), workspace.bytes);
    if (!wanted.is_ok()) return;
    workspaces.push_back(next_block(blocks, wanted.value()));
  }
  for (std::size_t i = 0; i < function.persistent.size(); ++i) persistent.push_back(next_block(blocks, 4096));
  for (const Constant& constant : manifest.constants) constants.push_back(next_block(blocks, constant.bytes));
  if (blocks.size() > 1000) return;  // their addresses would wrap around
  CheckingStream stream(blocks);
  const auto bound =
      device::bind_plan(function, plan, values.value(), {arguments, bytes, workspaces, persistent, constants}, stream);
  if (!bound.is_ok()) return;
  check_iterations(bound.value(), stream);
  for (const device::ResultPlace& place : bound.value().results) stream.check(place.memory, sizeof(std::int32_t));
}

}  // namespace

void fuzz_plan(Input input) {
  const Result<Manifest> manifest = decode_manifest(input);
  if (!manifest.is_ok()) return;
  if (encode_manifest(manifest.value()) != std::vector<std::uint8_t>(input.begin(), input.end())) __builtin_trap();
  for (const FunctionInfo& function : manifest.value().functions) {
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{3}, std::int64_t{1000}, INT64_MAX, INT64_MIN}) {
      bind(manifest.value(), function, function.plan, size);
      bind(manifest.value(), function, function.init, size);
    }
  }
}

}  // namespace ferry::fuzz
