#include "ferry/ops/matmul.h"

#include "host/graph/kernels/families.h"

namespace ferry::graph {

lang::Tensor product(const MatmulAttributes& attributes, const Inputs& inputs, const std::string& name) {
  return ops::broadcast_matmul(inputs[0], inputs[1], name, {attributes.transposed_a, attributes.transposed_b});
}

}  // namespace ferry::graph
