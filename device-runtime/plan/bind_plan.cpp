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
      : function_(function),
        plan_(plan),
        values_(values),
        least_(values),
        greatest_(values),
        memory_(memory),
        stream_(stream) {
    bound_.first_messages.reserve(plan.steps.size());
  }

  Result<BoundSteps> run() {
    while (next_ < plan_.steps.size()) {
      end_repeats();
      const Step& step = plan_.steps[next_++];
      FERRY_TRY(std::visit([this](const auto& one) { return add(one); }, step));
    }
    end_repeats();
    return std::move(bound_);
  }

 private:
  // A repeat around the next step of the plan.
  struct OpenRepeat {
    std::size_t end = 0;                    // where its steps end in the plan
    std::size_t bound = 0;                  // its place in bound_.repeats
    std::vector<std::int64_t> ranges = {};  // the least and greatest of its loop values before
  };

  Status add(const RepeatStep& step) {
    const std::int64_t count = step.count == kNoValue ? 0 : values_[step.count];
    if (count < 1) {
      next_ += step.steps;
      return {};
    }
    if (bound_.values.empty()) {
      bound_.values.assign(values_.begin(), values_.end());
      least_values_.assign(values_.begin(), values_.end());
      greatest_values_ = least_values_;
      least_ = least_values_;
      greatest_ = greatest_values_;
    }
    BoundRepeat bound;
    bound.begin = bound_.first_messages.size();
    bound.count = count;
    bound.first_operand = bound_.operands.size();
    bound.first_result = bound_.results.size();
    bound.strides.reserve(step.values.size());
    if (step.condition) {
      FERRY_ASSIGN(bound.condition, memory_of(*step.condition));
      if (bound.condition.bytes == 0) return refuse(function_, "the condition of a repeat is outside of its memory");
    }
    OpenRepeat opened{next_ + step.steps, bound_.repeats.size()};
    for (const LoopValue& loop : step.values) {
      const std::int64_t stride = loop.stride == kNoValue ? 0 : values_[loop.stride];
      std::int64_t &least = least_values_[loop.value], &greatest = greatest_values_[loop.value], all = 0;
      opened.ranges.insert(opened.ranges.end(), {least, greatest});
      std::int64_t& end = stride < 0 ? least : greatest;
      if (__builtin_mul_overflow(count - 1, stride, &all) || __builtin_add_overflow(end, all, &end)) {
        return refuse(function_, "an offset of its plan exceeds 64 bits in a repeat");
      }
      bound.strides.emplace_back(loop.value, static_cast<std::uint64_t>(stride));
    }
    open_.push_back(std::move(opened));
    bound_.repeats.push_back(std::move(bound));
    return {};
  }

  // Ends the repeats that contain no further step.
  void end_repeats() {
    for (; !open_.empty() && open_.back().end == next_; open_.pop_back()) {
      BoundRepeat& bound = bound_.repeats[open_.back().bound];
      for (std::size_t i = bound.strides.size(); i-- > 0;) {
        least_values_[bound.strides[i].first] = open_.back().ranges[2 * i];
        greatest_values_[bound.strides[i].first] = open_.back().ranges[2 * i + 1];
      }
      bound.end = bound_.first_messages.size();
      bound.last_inner = bound_.repeats.size();
      bound.last_operand = bound_.operands.size();
      bound.last_result = bound_.results.size();
      // Without steps there is nothing to repeat.
      if (bound.begin == bound.end) bound_.repeats.resize(open_.back().bound);
    }
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
    FERRY_ASSIGN(const MemoryBlock to, range(step.to, 0, bytes));
    FERRY_ASSIGN(const MemoryBlock from, range(step.from, 1, bytes));
    const std::uint64_t begin_to = begin(step.to, to.memory), begin_from = begin(step.from, from.memory);
    const std::uint64_t bytes_before = begin_to < begin_from ? spread(step.to) : spread(step.from);
    if (to.device == from.device && bytes != 0 &&
        bytes + bytes_before > std::max(begin_to, begin_from) - std::min(begin_to, begin_from)) {
      return refuse(function_, "the plan copies between overlapping ranges");
    }
    return add(BoundCopy{to.memory, from.memory, bytes, to.device, from.device}, 0);
  }

  Status add(const FillStep& step) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function_, values_, step.bytes));
    FERRY_ASSIGN(const MemoryBlock to, range(step.to, 0, bytes));
    if (bytes % step.pattern_bytes != 0) {
      return refuse(function_, format("the plan fills %llu bytes with a pattern of %u", number(bytes),
                                      unsigned{step.pattern_bytes}));
    }
    return add(BoundFill{to.memory, bytes, step.pattern_bytes, step.pattern, to.device}, 0);
  }

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

  // Returns the address at an offset in the first iteration, and how many bytes are left in each from there on.
  Result<MemoryBlock> at(MemoryBlock block, ValueIndex offset_value) const {
    FERRY_TRY(size_of(function_, least_, offset_value).status());
    FERRY_ASSIGN(const std::uint64_t offset, size_of(function_, greatest_, offset_value));
    if (offset > block.bytes) {
      return refuse(function_,
                    format("the plan works at byte %llu of memory of %llu bytes", number(offset), number(block.bytes)));
    }
    if (block.memory != nullptr && offset_value != kNoValue) {
      block.memory = static_cast<char*>(block.memory) + values_[offset_value];
    }
    block.bytes -= offset;
    return block;
  }

  // Returns how far an operand moves in the repeats around the step.
  std::uint64_t spread(const Operand& operand) const {
    if (operand.offset == kNoValue) return 0;
    return static_cast<std::uint64_t>(greatest_[operand.offset]) - static_cast<std::uint64_t>(least_[operand.offset]);
  }

  // Returns the least address of an operand, given that in the first iteration.
  std::uint64_t begin(const Operand& operand, const void* memory) const {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory);
    if (operand.offset == kNoValue) return address;
    return address - static_cast<std::uint64_t>(values_[operand.offset] - least_[operand.offset]);
  }

  // Takes note of an operand that is `first` in the first iteration and changes with a value.
  void vary(std::size_t operand, std::uint64_t first, ValueIndex value) {
    if (value == kNoValue || least_[value] == greatest_[value]) return;
    bound_.operands.push_back(
        {bound_.first_messages.size(), operand, first - static_cast<std::uint64_t>(values_[value]), value});
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
  Result<MemoryBlock> range(const Operand& operand, std::size_t position, std::uint64_t bytes) {
    FERRY_ASSIGN(const MemoryBlock block, memory_of(operand));
    // A stream leaves a copy or a fill of no bytes out, whatever its operands are.
    if (bytes != 0) vary(position, reinterpret_cast<std::uintptr_t>(block.memory), operand.offset);
    if (bytes <= block.bytes) return block;
    return refuse(function_, format("the plan copies or fills %llu bytes where %llu are left", number(bytes),
                                    number(block.bytes)));
  }

  Status bind_all(const std::vector<Operand>& operands, std::vector<BoundOperand>& into) {
    into.resize(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      FERRY_TRY(bind(operands[i], into[i]));
      if (into[i].is_memory) vary(i, reinterpret_cast<std::uintptr_t>(into[i].memory), operands[i].offset);
      if (operands[i].kind == OperandKind::value) vary(i, into[i].bits, operands[i].index);
    }
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
  const Plan& plan_;
  // The values before the first iteration, and the range of each in the repeats around the next step.
  std::span<const std::int64_t> values_, least_, greatest_;
  std::vector<std::int64_t> least_values_, greatest_values_;
  const PlanMemory& memory_;
  Stream& stream_;
  std::size_t next_ = 0;  // step of the plan
  std::vector<OpenRepeat> open_;
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
    if (!value.is_ok()) {
      // A value may be computed from earlier ones, whose numbers say how large the sizes have become.
      std::vector<std::string> names = function.symbols;
      while (names.size() < values.size()) names.push_back("size");
      return refuse(function, "the size " + to_text(expr, names) + " of its plan: " + value.status().message() +
                                  symbols_text(expr, names, values));
    }
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
  return Binder(function, plan, values, memory, stream).run();
}

}  // namespace ferry::device
