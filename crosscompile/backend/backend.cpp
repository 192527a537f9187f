#include "crosscompile/backend/backend.h"

#include "crosscompile/ir/error.h"

namespace ferry {

void refuse_object(const Target& target) {
  throw CompileError("expected a target with machine code, got '" + target.text + "'");
}

}  // namespace ferry
