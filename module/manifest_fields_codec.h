// Encodes the parts of manifests that are the same in every version of the format.
#pragma once

#include "base/archive.h"
#include "module/manifest.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, ManifestInstruction& instruction) {
  archive(
      enum_field(instruction.op, [](std::uint8_t tag) { return manifest_arity(static_cast<ManifestOp>(tag)) >= 0; }),
      instruction.value);
}

template <class Archive>
void serialize(Archive& archive, ManifestExpr& expr) {
  archive(limited(expr.code, kMaxManifestInstructions));
}

template <class Archive>
void serialize(Archive& archive, Precondition& precondition) {
  archive(precondition.condition, precondition.message);
}

// The fields that a parameter has in every version.
template <class Archive>
void serialize_parameter(Archive& archive, ParameterInfo& parameter) {
  const auto is_kind = [](std::uint8_t tag) { return tag == 1 || tag == 2; };
  const auto is_direction = [](std::uint8_t tag) { return tag >= 1 && tag <= 3; };
  archive(parameter.name, enum_field(parameter.kind, is_kind), enum_field(parameter.dtype, is_valid_dtype),
          enum_field(parameter.direction, is_direction), limited(parameter.shape, kMaxRank),
          limited(parameter.strides, kMaxRank));
}

// Runs `read` over the bytes of a section; a failure is an invalid_argument that begins with its name.
inline Status decode_section(const char* name, std::span<const std::uint8_t> bytes,
                             void (*read)(ByteInputArchive&, void*), void* into) {
  const Status status = decode_with(bytes, read, into);
  if (status.is_ok()) return status;
  const bool malformed = status.code() == ErrorCode::protocol_error;
  return Status(malformed ? ErrorCode::invalid_argument : status.code(), std::string(name) + ": " + status.message());
}

}  // namespace ferry
