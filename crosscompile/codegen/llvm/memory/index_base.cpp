#include "crosscompile/codegen/llvm/memory/index_base.h"

#include "crosscompile/analysis/affine.h"

#include <utility>

namespace ferry::codegen {

std::optional<IndexBase> split_index(analysis::Atoms& atoms, const ir::Expr& index) {
  constexpr std::int64_t kMaxOffset = std::int64_t{1} << 48;
  if (!index.defined()) return IndexBase{};
  if (!analysis::is_arithmetic(index)) return std::nullopt;
  IndexBase found{atoms.polynomial(index)};
  if (!found.base.valid) return std::nullopt;
  found.offset = std::exchange(found.base.constant, 0);
  if (found.offset > kMaxOffset || found.offset < -kMaxOffset) return std::nullopt;
  return found;
}

}  // namespace ferry::codegen
