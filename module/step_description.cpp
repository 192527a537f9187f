#include "module/step_description.h"

#include "base/format.h"
#include "base/printable.h"
#include "module/manifest_fields_codec.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, StepDescription& step) {
  archive(step.node, enum_field(step.dtype, is_valid_dtype), limited(step.shape, kMaxRank), step.flops, step.bytes);
}

namespace {

constexpr std::string_view kCut = "...";

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

Status refuse(const std::string& expected) {
  return Status(ErrorCode::invalid_argument, "module: descriptions of steps: expected " + expected);
}

Status check(const StepDescription& step, std::size_t symbols) {
  if (step.node.size() > kMaxNameBytes)
    return refuse(format("names of up to %zu bytes, got one of %zu", kMaxNameBytes, step.node.size()));
  if (printable(step.node) != step.node)
    return refuse("names in UTF-8 without control characters, got '" + printable(step.node) + "'");
  for (const ManifestExpr& size : step.shape) FERRY_TRY(check_manifest_expr(size, symbols));
  if (!step.flops.code.empty()) FERRY_TRY(check_manifest_expr(step.flops, symbols));
  if (!step.bytes.code.empty()) FERRY_TRY(check_manifest_expr(step.bytes, symbols));
  return Status();
}

}  // namespace

std::vector<std::uint8_t> encode_step_descriptions(std::vector<StepDescription> steps) {
  for (StepDescription& step : steps) {
    step.node = printable(step.node);
    if (step.node.size() <= kMaxNameBytes) continue;
    std::size_t end = kMaxNameBytes - kCut.size();
    while (continues_character(step.node[end])) --end;
    step.node.replace(end, std::string::npos, kCut);
  }
  std::vector<std::uint8_t> bytes;
  ByteOutputArchive archive(bytes);
  archive(steps);
  return bytes;
}

Result<std::vector<StepDescription>> step_descriptions(const ModuleFile& module) {
  std::vector<StepDescription> steps;
  if (module.descriptions.empty()) return steps;
  if (module.manifest.functions.size() != 1)
    return refuse(format("a module of one function, got one of %zu", module.manifest.functions.size()));
  FERRY_TRY(decode_section(
      "module: descriptions of steps", module.descriptions,
      [](ByteInputArchive& archive, void* into) {
        archive(limited(*static_cast<std::vector<StepDescription>*>(into), kMaxSteps));
      },
      &steps));
  const FunctionInfo& function = module.manifest.functions.front();
  if (steps.size() != function.plan.steps.size())
    return refuse(format("%zu, got %zu", function.plan.steps.size(), steps.size()));
  for (const StepDescription& step : steps) FERRY_TRY(check(step, function.symbols.size()));
  return steps;
}

}  // namespace ferry
