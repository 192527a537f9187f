#include "module/step_description.h"

#include "base/format.h"
#include "base/printable.h"
#include "module/manifest_fields_codec.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, StepDescription& step) {
  archive(step.node, enum_field(step.dtype, is_valid_dtype), limited(step.shape, kMaxRank), step.flops, step.bytes);
}

template <class Archive>
void serialize(Archive& archive, CountedOutput& one) {
  archive(one.output, one.shape);
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

Status check(const CountedOutput& one, const std::vector<ParameterInfo>& parameters) {
  const auto is_output = [&](std::uint32_t p) {
    return p < parameters.size() && parameters[p].direction == Direction::out &&
           parameters[p].kind == ParameterKind::tensor;
  };
  if (!is_output(one.output) || !is_output(one.shape) || one.output == one.shape)
    return refuse(format("an output and its shape, got the parameters %u and %u", one.output, one.shape));
  const ParameterInfo &output = parameters[one.output], &shape = parameters[one.shape];
  const ManifestExpr rank = manifest_constant(static_cast<std::int64_t>(output.shape.size()));
  if (shape.dtype != DType::i64 || shape.shape != std::vector<ManifestExpr>{rank})
    return refuse("the shape of '" + output.name + "' to be a vector of int64, got '" + shape.name + "'");
  return Status();
}

}  // namespace

std::vector<std::uint8_t> encode_step_descriptions(std::vector<StepDescription> steps,
                                                   const std::vector<CountedOutput>& counted) {
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
  if (!counted.empty()) archive(counted);
  return bytes;
}

Result<std::vector<StepDescription>> step_descriptions(const ModuleFile& module) {
  Result<StepDescriptions> read = read_descriptions(module);
  if (!read.is_ok()) return read.status();
  return std::move(read.value().steps);
}

Result<StepDescriptions> read_descriptions(const ModuleFile& module) {
  StepDescriptions all;
  if (module.descriptions.empty()) return all;
  if (module.manifest.functions.size() != 1)
    return refuse(format("a module of one function, got one of %zu", module.manifest.functions.size()));
  FERRY_TRY(decode_section(
      "module: descriptions of steps", module.descriptions,
      [](ByteInputArchive& archive, void* into) {
        auto& read = *static_cast<StepDescriptions*>(into);
        archive(limited(read.steps, kMaxSteps));
        if (archive.remaining() != 0) archive(limited(read.counted, kMaxParameters));
      },
      &all));
  const FunctionInfo& function = module.manifest.functions.front();
  if (all.steps.size() != function.plan.steps.size())
    return refuse(format("%zu, got %zu", function.plan.steps.size(), all.steps.size()));
  for (const StepDescription& step : all.steps) FERRY_TRY(check(step, function.symbols.size()));
  for (const CountedOutput& one : all.counted) FERRY_TRY(check(one, function.parameters));
  return all;
}

}  // namespace ferry
