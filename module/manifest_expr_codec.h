// Encodes expressions as bytes, as parts of manifests and plans.
#pragma once

#include "base/archive.h"
#include "module/manifest_expr.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, ManifestInstruction& instruction) {
  archive(
      enum_field(instruction.op, [](std::uint8_t tag) { return manifest_arity(static_cast<ManifestOp>(tag)) >= 0; }),
      instruction.value);
}

template <class Archive>
void serialize(Archive& archive, ManifestExpr& expr) {
  archive(expr.code);
}

}  // namespace ferry
