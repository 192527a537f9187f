#include "module/plan_codec.h"

#include "module/manifest_expr_codec.h"

namespace ferry {
namespace {

bool is_valid_step(std::uint8_t tag) { return tag == 2; }
bool is_valid_operand(std::uint8_t tag) { return tag >= 1 && tag <= 4; }

// The plan of the function with this index.
struct FunctionPlan {
  std::uint32_t function = 0;
  Plan plan;
};

}  // namespace

template <class Archive>
void serialize(Archive& archive, Operand& operand) {
  archive(enum_field(operand.kind, is_valid_operand), operand.index, operand.offset);
}

template <class Archive>
void serialize(Archive& archive, Step& step) {
  Launch& launch = step.launch;
  archive(enum_field(step.kind, is_valid_step), launch.kernel);
  for (ManifestExpr& extent : launch.grid) archive(extent);
  for (ManifestExpr& extent : launch.block) archive(extent);
  archive(launch.shared_bytes, launch.operands);
}

template <class Archive>
void serialize(Archive& archive, FunctionPlan& plan) {
  archive(plan.function, plan.plan);
}

std::vector<std::uint8_t> encode_plans(const Manifest& manifest) {
  std::vector<FunctionPlan> plans;
  for (std::uint32_t i = 0; i < manifest.functions.size(); ++i)
    if (!manifest.functions[i].plan.empty()) plans.push_back({i, manifest.functions[i].plan});
  std::vector<std::uint8_t> bytes;
  if (plans.empty()) return bytes;
  ByteOutputArchive archive(bytes);
  archive(plans);
  return bytes;
}

Status decode_plans(std::span<const std::uint8_t> bytes, Manifest& manifest) {
  std::vector<FunctionPlan> plans;
  const Status status = decode_with(
      bytes, [](ByteInputArchive& archive, void* into) { archive(*static_cast<std::vector<FunctionPlan>*>(into)); },
      &plans);
  if (!status.is_ok()) {
    const bool malformed = status.code() == ErrorCode::protocol_error;
    return Status(malformed ? ErrorCode::invalid_argument : status.code(), "plans: " + status.message());
  }
  for (FunctionPlan& plan : plans) {
    if (plan.function >= manifest.functions.size() || !manifest.functions[plan.function].plan.empty()) {
      return Status(ErrorCode::invalid_argument,
                    "plans: expected a function that has none yet, got number " + std::to_string(plan.function));
    }
    manifest.functions[plan.function].plan = std::move(plan.plan);
  }
  return Status();
}

}  // namespace ferry
