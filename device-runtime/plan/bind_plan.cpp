#include "device-runtime/plan/bind_plan.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMaxExtent = INT32_MAX;

unsigned long long number(std::uint64_t value) { return value; }

Status refuse(const FunctionInfo& function, const std::string& what) {
  return {ErrorCode::invalid_argument, function.name + ": " + what};
}

class Binder {
 public:
  Binder(const FunctionInfo& function, const Plan& plan, std::span<const std::int64_t> values, const PlanMemory& memory,
         Stream& stream)
      : function_(function), values_(values), memory_(memory), stream_(stream) {
    bound_.first_messages.reserve(plan.steps.size());
  }

  Status add(const CallStep& step) {
    BoundNativeCall call;
    call.device = step.device;
    call.symbol = &step.symbol;
    FERRY_TRY(bind_all(step.operands, call.operands));
    if (step.workspace.is_given()) {
      FERRY_ASSIGN(const MemoryBlock workspace, place_in(step.workspace));
      call.workspace = workspace.memory;
    }
    FERRY_ASSIGN(call.thread_workspace, size_of(function_, values_, step.thread_workspace));
    return add(std::move(call), step.first_message);
  }

  Status add(const LaunchStep& step) {
    if (step.result.is_given()) {
      FERRY_ASSIGN(const MemoryBlock place, place_in(step.result));
      if (place.bytes < sizeof(std::int32_t)) return refuse(function_, "the plan has no workspace for its result");
      bound_.results.push_back({place.memory, step.device, step.first_message});
      stream_.add_result(bound_.results.back());
    }
    BoundLaunch launch;
    launch.device = step.device;
    launch.kernel = step.kernel;
    FERRY_TRY(extents(step, "grid", step.grid, launch.grid));
    FERRY_TRY(extents(step, "block", step.block, launch.block));
    if (std::find(launch.grid.begin(), launch.grid.end(), 0U) != launch.grid.end()) return {};
    FERRY_ASSIGN(launch.shared_bytes, size_of(function_, values_, step.shared_bytes));
    FERRY_TRY(bind_all(step.operands, launch.operands));
    return add(std::move(launch), step.first_message);
  }

  Status add(const CopyStep& step) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function_, values_, step.bytes));
    FERRY_ASSIGN(const MemoryBlock to, range(step.to, bytes));
    FERRY_ASSIGN(const MemoryBlock from, range(step.from, bytes));
    const auto a = reinterpret_cast<std::uintptr_t>(to.memory), b = reinterpret_cast<std::uintptr_t>(from.memory);
    if (to.device == from.device && bytes > std::max(a, b) - std::min(a, b))
      return refuse(function_, "the plan copies between overlapping ranges");
    return add(BoundCopy{to.memory, from.memory, bytes, to.device, from.device}, 0);
  }

  Status add(const FillStep& step) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function_, values_, step.bytes));
    FERRY_ASSIGN(const MemoryBlock to, range(step.to, bytes));
    if (bytes % step.pattern_bytes != 0) {
      return refuse(function_, format("the plan fills %llu bytes with a pattern of %u", number(bytes),
                                      unsigned{step.pattern_bytes}));
    }
    return add(BoundFill{to.memory, bytes, step.pattern_bytes, step.pattern, to.device}, 0);
  }

  BoundSteps take() { return std::move(bound_); }

 private:
  template <class Bound>
  Status add(Bound bound, std::uint32_t first_message) {
    FERRY_TRY(stream_.add(std::move(bound)));
    bound_.first_messages.push_back(first_message);
    return {};
  }

  Status extents(const LaunchStep& launch, const char* what, const std::array<ValueIndex, 3>& from,
                 std::array<std::uint64_t, 3>& into) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (from[axis] == kNoValue) continue;
      into[axis] = static_cast<std::uint64_t>(std::max<std::int64_t>(values_[from[axis]], 0));
      if (into[axis] > kMaxExtent) {
        return refuse(function_,
                      format("kernel '%s': a %s of %llu along %c is larger than any device takes (%llu)",
                             launch.kernel.c_str(), what, number(into[axis]), "xyz"[axis], number(kMaxExtent)));
      }
    }
    return {};
  }

  // Returns the address at an offset and how many bytes are left from there on.
  Result<MemoryBlock> at(MemoryBlock block, ValueIndex offset_value) const {
    FERRY_ASSIGN(const std::uint64_t offset, size_of(function_, values_, offset_value));
    if (offset > block.bytes) {
      return refuse(function_,
                    format("the plan works at byte %llu of memory of %llu bytes", number(offset), number(block.bytes)));
    }
    if (block.memory != nullptr) block.memory = static_cast<char*>(block.memory) + offset;
    block.bytes -= offset;
    return block;
  }

  Result<MemoryBlock> place_in(const WorkspacePlace& place) const {
    return at(memory_.workspaces[place.workspace], place.offset);
  }

  Result<MemoryBlock> memory_of(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::argument:
        return at({memory_.arguments[operand.index].memory, memory_.argument_bytes[operand.index],
                   function_.parameters[operand.index].device},
                  operand.offset);
      case OperandKind::workspace: return at(memory_.workspaces[operand.index], operand.offset);
      case OperandKind::persistent: return at(memory_.persistent[operand.index], operand.offset);
      case OperandKind::constant: return at(memory_.constants[operand.index], operand.offset);
      case OperandKind::scalar:
      case OperandKind::value: break;
    }
    return refuse(function_, "expected an operand that is memory");
  }

  // Returns at least so many bytes of an operand.
  Result<MemoryBlock> range(const Operand& operand, std::uint64_t bytes) const {
    FERRY_ASSIGN(const MemoryBlock block, memory_of(operand));
    if (bytes <= block.bytes) return block;
    return refuse(function_, format("the plan copies or fills %llu bytes where %llu are left", number(bytes),
                                    number(block.bytes)));
  }

  Status bind_all(const std::vector<Operand>& operands, std::vector<BoundOperand>& into) const {
    into.resize(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) FERRY_TRY(bind(operands[i], into[i]));
    return {};
  }

  Status bind(const Operand& operand, BoundOperand& into) const {
    if (operand.kind == OperandKind::argument && operand.offset == kNoValue) {
      into.is_memory = true;
      into.memory = memory_.arguments[operand.index].memory;
    } else if (operand.kind == OperandKind::scalar) {
      into.bits = memory_.arguments[operand.index].scalar_bits;
      into.bytes = dtype_bytes(function_.parameters[operand.index].dtype);
    } else if (operand.kind == OperandKind::value) {
      into.bits = static_cast<std::uint64_t>(values_[operand.index]);
      into.bytes = sizeof(std::int64_t);
    } else {
      FERRY_ASSIGN(const MemoryBlock block, memory_of(operand));
      into.is_memory = true;
      into.memory = block.memory;
    }
    return {};
  }

  const FunctionInfo& function_;
  std::span<const std::int64_t> values_;
  const PlanMemory& memory_;
  Stream& stream_;
  BoundSteps bound_;
};

}  // namespace

Result<std::vector<std::int64_t>> evaluate_values(const FunctionInfo& function, const Plan& plan,
                                                  std::span<const std::int64_t> symbols) {
  std::vector<std::int64_t> values;
  values.reserve(symbols.size() + plan.values.size());
  values.assign(symbols.begin(), symbols.end());
  for (const ManifestExpr& expr : plan.values) {
    const Result<std::int64_t> value = evaluate(expr, values);
    if (!value.is_ok()) return refuse(function, "a size of its plan: " + value.status().message());
    values.push_back(value.value());
  }
  return values;
}

Result<std::uint64_t> size_of(const FunctionInfo& function, std::span<const std::int64_t> values, ValueIndex bytes) {
  if (bytes == kNoValue) return std::uint64_t{0};
  const std::int64_t value = values[bytes];
  if (value >= 0) return static_cast<std::uint64_t>(value);
  return refuse(function, format("expected sizes and offsets of at least 0 bytes in its plan, got %lld",
                                 static_cast<long long>(value)));
}

Result<BoundSteps> bind_plan(const FunctionInfo& function, const Plan& plan, std::span<const std::int64_t> values,
                             const PlanMemory& memory, Stream& stream) {
  Binder binder(function, plan, values, memory, stream);
  for (const Step& step : plan.steps) {
    FERRY_TRY(std::visit([&binder](const auto& one) { return binder.add(one); }, step));
  }
  return binder.take();
}

}  // namespace ferry::device
