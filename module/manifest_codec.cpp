#include "module/manifest_codec.h"

#include "module/manifest_expr_codec.h"

namespace ferry {
namespace {

bool is_valid_kind(std::uint8_t tag) { return tag == 1 || tag == 2; }
bool is_valid_direction(std::uint8_t tag) { return tag >= 1 && tag <= 3; }

}  // namespace

template <class Archive>
void serialize(Archive& archive, ParameterInfo& parameter) {
  archive(parameter.name, enum_field(parameter.kind, is_valid_kind), enum_field(parameter.dtype, is_valid_dtype),
          enum_field(parameter.direction, is_valid_direction), parameter.shape, parameter.strides);
}

template <class Archive>
void serialize(Archive& archive, Precondition& precondition) {
  archive(precondition.condition, precondition.message);
}

template <class Archive>
void serialize(Archive& archive, FunctionInfo& function) {
  archive(function.name, function.symbol, function.symbols, function.parameters, function.preconditions,
          function.call_workspace, function.thread_workspace, function.messages, function.flops);
}

template <class Archive>
void serialize(Archive& archive, Manifest& manifest) {
  archive(manifest.abi_version, manifest.arch, manifest.features, manifest.target, manifest.functions);
}

std::vector<std::uint8_t> encode_manifest(const Manifest& manifest) {
  std::vector<std::uint8_t> bytes;
  ByteOutputArchive archive(bytes);
  archive(manifest);
  return bytes;
}

Result<Manifest> decode_manifest(std::span<const std::uint8_t> bytes) {
  Manifest manifest;
  const Status status = decode_with(
      bytes, [](ByteInputArchive& archive, void* into) { archive(*static_cast<Manifest*>(into)); }, &manifest);
  if (!status.is_ok()) {
    const bool malformed = status.code() == ErrorCode::protocol_error;
    return Status(malformed ? ErrorCode::invalid_argument : status.code(), "manifest: " + status.message());
  }
  FERRY_TRY(check_manifest(manifest));
  return manifest;
}

}  // namespace ferry
