#include "crosscompile/cost/access.h"

#include "crosscompile/analysis/loads.h"

#include <algorithm>
#include <cmath>

namespace ferry::cost {

namespace {

double constant_of(const ir::Expr& expr, double otherwise) {
  const auto* number = expr.as<ir::IntImm>();
  return number == nullptr ? otherwise : static_cast<double>(number->value);
}

constexpr double kUnknownSize = 1024;

}  // namespace

double Access::stride_along(const ir::ExprNode* var) const {
  double stride = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) stride += strides[d] * indices[d].coefficient(var);
  return stride;
}

double Access::lane_stride() const {
  for (const Replica& replica : *replicas)
    if (replica.is_vector)
      if (const double stride = stride_along(replica.var); stride != 0) return stride;
  return 0;
}

double Access::vector_elements() const {
  double lanes = 1;
  for (const Replica& replica : *replicas)
    if (replica.is_vector) lanes *= replica.extent;
  return lanes;
}

double Access::distinct_copies() const {
  double count = 1, combinations = 1;
  for (const Replica& replica : *replicas)
    if (!replica.is_vector && stride_along(replica.var) != 0) combinations *= replica.extent;
  for (const LinearIndex& index : indices) {
    double range = 1, product = 1;
    for (const Replica& replica : *replicas) {
      const double coefficient = index.coefficient(replica.var);
      if (replica.is_vector || coefficient == 0) continue;
      range += std::abs(coefficient) * (replica.extent - 1);
      product *= replica.extent;
    }
    count *= std::min(range, product);
  }
  return std::min(count, combinations);
}

bool Access::is_aligned(double vector_bytes) const {
  double constant = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    constant += strides[d] * indices[d].constant;
    for (const LinearTerm& term : indices[d].terms) {
      const bool is_lane = std::ranges::any_of(
          *replicas, [&](const Replica& replica) { return replica.is_vector && replica.var == term.var; });
      if (!is_lane && std::fmod(strides[d] * term.coefficient * element_bytes, vector_bytes) != 0) return false;
    }
  }
  return std::fmod(constant * element_bytes, vector_bytes) == 0;
}

bool Access::is_transposed(double lanes) const {
  return std::ranges::any_of(*replicas, [&](const Replica& replica) {
    return !replica.is_vector && std::abs(stride_along(replica.var)) == 1 && replica.extent >= std::min(lanes, 4.0);
  });
}

Access access_of(const ir::Buffer* buffer, const std::vector<ir::Expr>& indices, const Step& step,
                 const Variables& variables) {
  Access access;
  access.buffer = buffer;
  access.element_bytes = static_cast<double>(dtype_bytes(buffer->dtype));
  access.replicas = &step.replicas;
  double stride = 1;
  access.strides.resize(indices.size());
  access.extents.resize(indices.size());
  for (std::size_t d = indices.size(); d-- > 0;) {
    const bool has_shape = d < buffer->shape.size();
    access.extents[d] = has_shape ? constant_of(buffer->shape[d], kUnknownSize) : kUnknownSize;
    access.strides[d] = d < buffer->strides.size() ? constant_of(buffer->strides[d], stride) : stride;
    stride = access.strides[d] * access.extents[d];
  }
  for (const ir::Expr& index : indices) access.indices.push_back(linear_index(index, variables));
  return access;
}

std::vector<Access> accesses_of(const Step& step, const Variables& variables) {
  std::vector<Access> accesses;
  // A prefetched element counts where it is read.
  if (const auto* call = step.value.as<ir::Call>(); call != nullptr && call->callee.op == ir::CallOp::prefetch)
    return accesses;
  const auto add_loads = [&](const ir::Expr& expr) {
    analysis::for_each_load(expr, [&](const ir::Load& load) {
      accesses.push_back(access_of(load.buffer.get(), load.indices, step, variables));
    });
  };
  add_loads(step.value);
  if (step.store != nullptr) {
    for (const ir::Expr& index : step.store->indices) add_loads(index);
    accesses.push_back(access_of(step.store->buffer.get(), step.store->indices, step, variables));
    accesses.back().is_store = true;
  }
  return accesses;
}

}  // namespace ferry::cost
