#include "host/ops/checks.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"

namespace ferry::ops {

std::string shape_text(const Tensor& tensor) {
  std::string text;
  for (const Expr& size : tensor.shape()) text += (text.empty() ? "" : ", ") + ir::to_text(size);
  return "[" + text + "]";
}

void expect_rank(const Tensor& tensor, std::size_t rank, const std::string& name) {
  if (tensor.rank() == rank) return;
  throw CompileError("'" + name + "': expected '" + tensor.name() + "' to have " + std::to_string(rank) +
                     (rank == 1 ? " dimension" : " dimensions") + ", got " + shape_text(tensor));
}

void expect_dimension(std::size_t dimension, const Tensor& tensor, const std::string& name) {
  if (dimension < tensor.rank()) return;
  throw CompileError("'" + name + "': expected a dimension of '" + tensor.name() + "' " + shape_text(tensor) +
                     ", got " + std::to_string(dimension));
}

void expect_same(const Expr& a, const Expr& b, const std::string& what, const std::string& name) {
  if (ir::equal(a, b)) return;
  throw CompileError("'" + name + "': expected " + what + " to be the same, got " + ir::to_text(a) + " and " +
                     ir::to_text(b));
}

bool is_multiple(const Expr& size, std::int64_t block) {
  const std::int64_t* constant = ir::as_int(size);
  return constant != nullptr && *constant % block == 0;
}

void expect_two_windows(const std::vector<Window>& windows, const std::string& name) {
  if (windows.size() != 2)
    throw CompileError("'" + name + "': expected a window for the height and one for the width, got " +
                       std::to_string(windows.size()));
}

}  // namespace ferry::ops
