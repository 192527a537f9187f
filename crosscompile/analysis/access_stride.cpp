#include "crosscompile/analysis/access_stride.h"

#include "crosscompile/analysis/atoms.h"
#include "crosscompile/ir/substitute.h"

namespace ferry::analysis {

using namespace ir;

std::optional<std::int64_t> stride_along(const Expr& index, const Expr& var) {
  Atoms atoms;
  const Polynomial here = atoms.polynomial(index);
  const Polynomial next = atoms.polynomial(substitute(index, {{var.get(), var + Expr(1)}}));
  const Polynomial stride = add(next, here, -1);
  return stride.is_constant() ? std::optional(stride.constant) : std::nullopt;
}

AccessStride access_stride(const Load& load, const Expr& var) {
  AccessStride result = AccessStride::none;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    if (!uses_var(load.indices[d], var)) continue;
    const std::vector<Expr>& strides = load.buffer->strides;
    if (d + 1 != load.indices.size() || (!strides.empty() && !is_constant(strides[d], 1))) return AccessStride::strided;
    const std::optional<std::int64_t> stride = stride_along(load.indices[d], var);
    if (!stride || *stride < 1 || *stride > 4) return AccessStride::strided;
    result = *stride == 1 ? AccessStride::contiguous : AccessStride::small;
  }
  return result;
}

}  // namespace ferry::analysis
