#include "device-runtime/device/plan_call.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMaxExtent = INT32_MAX;

class Binder {
 public:
  Binder(const FunctionInfo& function, std::span<const DeviceArgument> arguments, const BoundCall& bound,
         void* workspace)
      : function_(function), arguments_(arguments), bound_(bound), workspace_(workspace) {}

  Result<std::vector<BoundLaunch>> run() const {
    if (!function_.messages.empty() && bound_.call_workspace < sizeof(std::int32_t)) {
      return Status(ErrorCode::invalid_argument, function_.name + ": the plan has no workspace for its result");
    }
    std::vector<BoundLaunch> launches;
    for (const Step& step : function_.plan) {
      BoundLaunch launch;
      launch.kernel = step.launch.kernel;
      FERRY_TRY(extents(step.launch, "grid", step.launch.grid, launch.grid));
      FERRY_TRY(extents(step.launch, "block", step.launch.block, launch.block));
      FERRY_ASSIGN(launch.shared_bytes, value(step.launch.shared_bytes, 0));
      for (const Operand& operand : step.launch.operands) {
        FERRY_ASSIGN(BoundOperand one, bind(operand));
        launch.operands.push_back(one);
      }
      const bool is_empty = std::find(launch.grid.begin(), launch.grid.end(), 0U) != launch.grid.end();
      if (!is_empty) launches.push_back(std::move(launch));
    }
    return launches;
  }

 private:
  Result<std::uint64_t> value(const ManifestExpr& expr, std::uint64_t otherwise) const {
    if (expr.code.empty()) return otherwise;
    FERRY_ASSIGN(const std::int64_t number, evaluate(expr, bound_.symbols));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
  }

  Status extents(const Launch& launch, const char* what, const std::array<ManifestExpr, 3>& from,
                 std::array<std::uint64_t, 3>& into) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      FERRY_ASSIGN(into[axis], value(from[axis], 1));
      if (into[axis] > kMaxExtent) {
        return {ErrorCode::invalid_argument,
                format("%s: kernel '%s': a %s of %llu along %c is larger than any device takes (%llu)",
                       function_.name.c_str(), launch.kernel.c_str(), what, static_cast<unsigned long long>(into[axis]),
                       "xyz"[axis], static_cast<unsigned long long>(kMaxExtent))};
      }
    }
    return {};
  }

  Result<BoundOperand> bind(const Operand& operand) const {
    BoundOperand one;
    if (operand.kind == OperandKind::scalar) {
      one.bits = arguments_[operand.index].scalar_bits;
      one.bytes = dtype_bytes(function_.parameters[operand.index].dtype);
      return one;
    }
    if (operand.kind == OperandKind::symbol) {
      one.bits = static_cast<std::uint64_t>(bound_.symbols[operand.index]);
      one.bytes = sizeof(std::int64_t);
      return one;
    }
    FERRY_ASSIGN(const std::uint64_t offset, value(operand.offset, 0));
    const bool is_argument = operand.kind == OperandKind::argument;
    const std::uint64_t size = is_argument ? bound_.tensor_bytes[operand.index] : bound_.call_workspace;
    if (offset > size) {
      return Status(ErrorCode::invalid_argument,
                    format("%s: the plan works at byte %llu of memory of %llu bytes", function_.name.c_str(),
                           static_cast<unsigned long long>(offset), static_cast<unsigned long long>(size)));
    }
    one.is_memory = true;
    void* start = is_argument ? arguments_[operand.index].memory : workspace_;
    if (start != nullptr) one.memory = static_cast<char*>(start) + offset;
    return one;
  }

  const FunctionInfo& function_;
  std::span<const DeviceArgument> arguments_;
  const BoundCall& bound_;
  void* workspace_;
};

}  // namespace

void* result_place(const FunctionInfo& function, void* workspace) {
  return function.messages.empty() ? nullptr : workspace;
}

Result<std::vector<BoundLaunch>> bind_plan(const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                                           const BoundCall& bound, void* workspace) {
  return Binder(function, arguments, bound, workspace).run();
}

}  // namespace ferry::device
