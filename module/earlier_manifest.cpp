#include "module/earlier_manifest.h"

#include "module/manifest_fields_codec.h"

namespace ferry {
namespace {

// Readers of earlier versions did not check whether a plan reported a failure.
constexpr std::uint32_t kVersionWithChecks = 3;
// The limits of those versions.
constexpr std::size_t kMaxEarlierParameters = 64;
constexpr std::size_t kMaxEarlierSteps = 4096;
constexpr std::size_t kMaxEarlierOperands = 128;

// A parameter of which is_constant and device are not in the file.
struct EarlierParameter {
  ParameterInfo info;
};

struct EarlierFunction {
  FunctionInfo info;
  NativeCode code;
  std::vector<EarlierParameter> parameters;
};

struct EarlierManifest {
  Manifest manifest;
  ModuleDevice device;
  std::vector<EarlierFunction> functions;
};

struct EarlierOperand {
  std::uint8_t kind = 0;
  std::uint32_t index = 0;
  ManifestExpr offset;
};

struct EarlierStep {
  std::uint8_t kind = 0;
  std::string kernel;
  std::array<ManifestExpr, 6> extents;  // the grid's, then a block's
  ManifestExpr shared_bytes;
  std::vector<EarlierOperand> operands;
};

struct EarlierPlan {
  std::uint32_t function = 0;
  std::vector<EarlierStep> steps;
};

Status refuse(std::string what) { return Status(ErrorCode::invalid_argument, std::move(what)); }

}  // namespace

template <class Archive>
void serialize(Archive& archive, EarlierParameter& parameter) {
  serialize_parameter(archive, parameter.info);
}

template <class Archive>
void serialize(Archive& archive, EarlierFunction& function) {
  FunctionInfo& info = function.info;
  archive(info.name, function.code.symbol, limited(info.symbols, kMaxSymbols),
          limited(function.parameters, kMaxEarlierParameters), limited(info.preconditions, kMaxPreconditions),
          function.code.call_workspace, function.code.thread_workspace, limited(info.messages, kMaxMessages),
          info.flops);
}

template <class Archive>
void serialize(Archive& archive, EarlierManifest& earlier) {
  archive(earlier.manifest.abi_version, earlier.device.arch, limited(earlier.device.features, kMaxFeatures),
          earlier.manifest.target, limited(earlier.functions, kMaxFunctions));
}

template <class Archive>
void serialize(Archive& archive, EarlierOperand& operand) {
  archive(operand.kind, operand.index, operand.offset);
}

template <class Archive>
void serialize(Archive& archive, EarlierStep& step) {
  archive(step.kind, step.kernel);
  for (ManifestExpr& extent : step.extents) archive(extent);
  archive(step.shared_bytes, limited(step.operands, kMaxEarlierOperands));
}

template <class Archive>
void serialize(Archive& archive, EarlierPlan& plan) {
  archive(plan.function, limited(plan.steps, kMaxEarlierSteps));
}

namespace {

Status add_launches(const EarlierPlan& from, const ManifestExpr& workspace, bool is_checked, FunctionInfo& into) {
  const std::size_t symbols = into.symbols.size();
  Plan& plan = into.plan;
  if (!workspace.code.empty()) plan.workspaces.push_back({0, add_value(plan, symbols, workspace)});
  for (const EarlierStep& step : from.steps) {
    if (step.kind != 2) return refuse("plans: " + into.name + ": expected a known kind of step");
    LaunchStep launch;
    launch.kernel = step.kernel;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      launch.grid[axis] = add_value(plan, symbols, step.extents[axis]);
      launch.block[axis] = add_value(plan, symbols, step.extents[axis + 3]);
    }
    launch.shared_bytes = add_value(plan, symbols, step.shared_bytes);
    for (const EarlierOperand& operand : step.operands) {
      if (operand.kind < 1 || operand.kind > 4) {
        return refuse("plans: " + into.name + ": expected a known kind of operand");
      }
      const auto kind = static_cast<OperandKind>(operand.kind);
      const bool is_memory = kind == OperandKind::argument || kind == OperandKind::workspace;
      launch.operands.push_back({kind, kind == OperandKind::workspace ? 0 : operand.index,
                                 is_memory ? add_value(plan, symbols, operand.offset) : kNoValue});
    }
    plan.steps.emplace_back(std::move(launch));
  }
  // The kernels leave their result at the beginning of the workspace.
  if (!is_checked) into.messages.clear();
  if (!into.messages.empty() && !plan.steps.empty()) std::get<LaunchStep>(plan.steps.back()).result = {0, kNoValue};
  return Status();
}

}  // namespace

Result<Manifest> decode_earlier_manifest(std::uint32_t version, std::span<const std::uint8_t> manifest,
                                         const std::span<const std::uint8_t>* plans) {
  EarlierManifest earlier;
  FERRY_TRY(decode_section(
      "manifest", manifest,
      [](ByteInputArchive& archive, void* into) { archive(*static_cast<EarlierManifest*>(into)); }, &earlier));
  std::vector<EarlierPlan> launches;
  if (plans != nullptr) {
    FERRY_TRY(decode_section(
        "plans", *plans,
        [](ByteInputArchive& archive, void* into) {
          auto list = limited(*static_cast<std::vector<EarlierPlan>*>(into), kMaxFunctions);
          archive(list);
        },
        &launches));
  }
  ModuleDevice& device = earlier.device;
  const bool is_gpu = device.arch == "cuda" || device.arch == "opencl";
  device.kind = is_gpu ? device.arch : "cpu";
  if (is_gpu) device.arch.clear();
  Manifest& result = earlier.manifest;
  result.devices.push_back(std::move(device));
  for (EarlierFunction& function : earlier.functions) {
    for (EarlierParameter& parameter : function.parameters) {
      function.info.parameters.push_back(std::move(parameter.info));
    }
    if (!is_gpu) set_native_code(function.info, function.code);
    result.functions.push_back(std::move(function.info));
  }
  for (const EarlierPlan& plan : launches) {
    if (!is_gpu || plan.function >= result.functions.size() || !result.functions[plan.function].plan.steps.empty()) {
      return refuse("plans: expected a function that has none yet, got number " + std::to_string(plan.function));
    }
    const ManifestExpr& workspace = earlier.functions[plan.function].code.call_workspace;
    FERRY_TRY(add_launches(plan, workspace, version >= kVersionWithChecks, result.functions[plan.function]));
  }
  for (const FunctionInfo& function : result.functions) {
    if (function.plan.steps.empty()) return refuse("plans: expected one for " + function.name + ", got none");
  }
  FERRY_TRY(check_manifest(result));
  return std::move(result);
}

}  // namespace ferry
