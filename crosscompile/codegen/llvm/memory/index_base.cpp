#include "crosscompile/codegen/llvm/memory/index_base.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

namespace ferry::codegen {
namespace {

// The constant of a simplified sum is its last operand, or that of its last operand: row * width + (column + 1).
IndexBase split(const ir::Expr& index) {
  if (!index.defined()) return {};
  if (const std::int64_t* constant = ir::as_int(index)) return {{}, *constant};
  const auto* sum = index.as<ir::Binary>();
  const std::int64_t* offset = sum == nullptr ? nullptr : ir::as_int(sum->right);
  if (sum == nullptr || sum->op != ir::BinaryOp::add) return {index, 0};
  if (offset != nullptr) return {sum->left, *offset};
  const IndexBase last = split(sum->right);
  return last.offset == 0 ? IndexBase{index, 0} : IndexBase{sum->left + last.base, last.offset};
}

}  // namespace

std::optional<IndexBase> split_index(const ir::Expr& index) {
  constexpr std::int64_t kMaxOffset = std::int64_t{1} << 48;
  const IndexBase found = split(index);
  if (found.offset > kMaxOffset || found.offset < -kMaxOffset) return std::nullopt;
  if (found.base.defined() && !analysis::is_arithmetic(found.base)) return std::nullopt;
  return found;
}

bool is_same_base(const ir::Expr& a, const ir::Expr& b) {
  return a.defined() && b.defined() ? ir::equal(a, b) : a.defined() == b.defined();
}

}  // namespace ferry::codegen
