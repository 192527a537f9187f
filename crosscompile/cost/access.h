// How an access of straight-line code moves through memory.
#pragma once

#include "crosscompile/cost/nest.h"

#include <vector>

namespace ferry::cost {

struct Access {
  const ir::Buffer* buffer = nullptr;
  double element_bytes = 4;
  std::vector<LinearIndex> indices;  // one for each dimension
  std::vector<double> strides;       // in elements
  std::vector<double> extents;       // one for each dimension
  const std::vector<Replica>* replicas = nullptr;
  bool is_store = false;

  // Returns by how many elements an access moves from one lane to the next.
  double lane_stride() const;
  double vector_elements() const;  // lanes of the statement
  // Returns how many different elements, or vectors, the copies of the statement access.
  double distinct_copies() const;
  // Whether vectors of so many bytes start at multiples of that, provided that tensors do.
  bool is_aligned(double vector_bytes) const;
  // Whether lanes are far apart, but copies of the statement access neighbours, as in a transposition.
  bool is_transposed(double lanes) const;

 private:
  double stride_along(const ir::ExprNode* var) const;
};

Access access_of(const ir::Buffer* buffer, const std::vector<ir::Expr>& indices, const Step& step,
                 const Variables& variables);

// Returns the accesses of a step to memory, conditions and indices included.
std::vector<Access> accesses_of(const Step& step, const Variables& variables);

}  // namespace ferry::cost
