#include "module/manifest_codec.h"

#include "module/manifest_fields_codec.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, ParameterInfo& parameter) {
  serialize_parameter(archive, parameter);
  archive(parameter.is_constant, parameter.device);
}

template <class Archive>
void serialize(Archive& archive, Operand& operand) {
  archive(enum_field(operand.kind, [](std::uint8_t tag) { return tag >= 1 && tag <= 6; }), operand.index,
          operand.offset);
}

template <class Archive>
void serialize(Archive& archive, WorkspacePlace& place) {
  archive(place.workspace, place.offset);
}

template <class Archive>
void serialize(Archive& archive, CallStep& step) {
  archive(step.device, step.symbol, limited(step.operands, kMaxOperands), step.workspace, step.thread_workspace,
          step.first_message);
}

template <class Archive>
void serialize(Archive& archive, LaunchStep& step) {
  archive(step.device, step.kernel, step.grid[0], step.grid[1], step.grid[2], step.block[0], step.block[1],
          step.block[2], step.shared_bytes, limited(step.operands, kMaxOperands), step.result, step.first_message);
}

template <class Archive>
void serialize(Archive& archive, CopyStep& step) {
  archive(step.to, step.from, step.bytes);
}

template <class Archive>
void serialize(Archive& archive, FillStep& step) {
  archive(step.to, step.bytes, step.pattern_bytes, step.pattern);
}

template <class Archive>
void serialize(Archive& archive, LoopValue& value) {
  archive(value.value, value.stride);
}

template <class Archive>
void serialize(Archive& archive, RepeatStep& step) {
  archive(step.count, step.steps, limited(step.values, kMaxLoopValues));
  if (step.condition) archive(*step.condition);
}

template <class Archive>
void serialize(Archive& archive, Step& step) {
  constexpr std::uint8_t kConditionalRepeat = 6;
  auto tag = static_cast<std::uint8_t>(step.index() + 1);
  if (const auto* repeat = std::get_if<RepeatStep>(&step); repeat != nullptr && repeat->condition)
    tag = kConditionalRepeat;
  archive(tag);
  if constexpr (Archive::is_loading::value) {
    switch (tag) {
      case 1: step = CallStep(); break;
      case 2: step = LaunchStep(); break;
      case 3: step = CopyStep(); break;
      case 4: step = FillStep(); break;
      case 5: step = RepeatStep(); break;
      case kConditionalRepeat: step = RepeatStep{kNoValue, 0, {}, Operand()}; break;
      default: archive.fail("a known tag", tag, sizeof tag);
    }
  }
  std::visit([&archive](auto& one) { archive(one); }, step);
}

template <class Archive>
void serialize(Archive& archive, Workspace& workspace) {
  archive(workspace.device, workspace.bytes);
}

template <class Archive>
void serialize(Archive& archive, Plan& plan) {
  archive(limited(plan.values, kMaxValues), limited(plan.workspaces, kMaxWorkspaces), limited(plan.steps, kMaxSteps));
}

template <class Archive>
void serialize(Archive& archive, PersistentBuffer& buffer) {
  archive(buffer.device, buffer.bytes);
}

template <class Archive>
void serialize(Archive& archive, FunctionInfo& function) {
  archive(function.name, limited(function.symbols, kMaxSymbols), limited(function.parameters, kMaxParameters),
          limited(function.preconditions, kMaxPreconditions), limited(function.messages, kMaxMessages), function.flops,
          function.plan, limited(function.persistent, kMaxPersistent), function.init);
}

template <class Archive>
void serialize(Archive& archive, ModuleDevice& device) {
  archive(device.kind, device.arch, limited(device.features, kMaxFeatures));
}

template <class Archive>
void serialize(Archive& archive, Blob& blob) {
  archive(blob.hash, blob.bytes);
}

template <class Archive>
void serialize(Archive& archive, Constant& constant) {
  archive(constant.blob, constant.device, constant.offset, constant.bytes);
}

template <class Archive>
void serialize(Archive& archive, Manifest& manifest) {
  archive(manifest.abi_version, limited(manifest.devices, kMaxDevices), manifest.target,
          limited(manifest.blobs, kMaxBlobs), limited(manifest.constants, kMaxConstants),
          limited(manifest.functions, kMaxFunctions));
}

std::vector<std::uint8_t> encode_manifest(const Manifest& manifest) {
  std::vector<std::uint8_t> bytes;
  ByteOutputArchive archive(bytes);
  archive(manifest);
  return bytes;
}

Result<Manifest> decode_manifest(std::span<const std::uint8_t> bytes) {
  Manifest manifest;
  FERRY_TRY(decode_section(
      "manifest", bytes, [](ByteInputArchive& archive, void* into) { archive(*static_cast<Manifest*>(into)); },
      &manifest));
  FERRY_TRY(check_manifest(manifest));
  return manifest;
}

}  // namespace ferry
