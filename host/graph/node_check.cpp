#include "host/graph/node_check.h"

#include "base/printable.h"
#include "crosscompile/ir/error.h"

namespace ferry::graph {
namespace {

int declared_inputs(Operator op) {
  switch (op) {
#define FERRY_CASE(name, inputs, attributes) \
  case Operator::name: return inputs;
    FERRY_GRAPH_OPERATORS(FERRY_CASE)
#undef FERRY_CASE
  }
  return -1;
}

}  // namespace

void NodeCheck::fail(const std::string& expected, const std::string& got) const {
  throw NodeError("node '" + printable(node_.name) + "' (" + operator_name(node_.op) + "): ",
                  "expected " + expected + ", got " + got);
}

void NodeCheck::fail_attributes() const {
  throw InternalError("node '" + node_.name + "' has attributes of another operator than " + operator_name(node_.op));
}

void NodeCheck::input_count(std::size_t count) const {
  const auto got = [&] { return std::to_string(count); };
  const int declared = declared_inputs(node_.op);
  if (declared >= 0) {
    expect(count == static_cast<std::size_t>(declared), std::to_string(declared) + " inputs", got);
  } else if (node_.op == Operator::conv) {
    expect(count == 2 || count == 3, "2 or 3 inputs", got);
  } else if (node_.op == Operator::quantized_conv || node_.op == Operator::quantized_matmul) {
    const auto* conv = std::get_if<QuantizedConvAttributes>(&node_.attributes);
    const bool is_scaled = conv != nullptr ? conv->is_scaled : attributes<QuantizedMatmulAttributes>().is_scaled;
    const std::size_t least = zero_point_input(is_scaled);
    expect(count == least || count == least + 1, std::to_string(least) + " or " + std::to_string(least + 1) + " inputs",
           got);
  } else if (node_.op == Operator::packed_matmul) {
    expect(count == 3 || count == 4, "3 or 4 inputs", got);
  } else {
    expect(count >= 1, "at least one input", got);
  }
}

void NodeCheck::rank(const std::string& what, const Shape& shape, std::size_t rank) const {
  expect(shape.size() == rank, what + " to have rank " + std::to_string(rank), [&] { return to_text(shape); });
}

void NodeCheck::equal(const std::string& what, const Size& size, const std::string& other_what,
                      const Size& other) const {
  expect(is_equal(what, size, other_what, other), what + " to equal " + other_what,
         [&] { return to_text(size) + " and " + to_text(other); });
}

bool NodeCheck::is_equal(const std::string& what, const Size& size, const std::string& other_what,
                         const Size& other) const {
  if (size == other) return true;
  if (undecided_ == nullptr || proves_different(size, other)) return false;
  undecided_->push_back({size, other, what, other_what});
  return true;
}

void NodeCheck::same_dtype(DType first, DType other) const {
  expect(first == other, "inputs of one type",
         [&] { return std::string(dtype_name(first)) + " and " + dtype_name(other); });
}

void NodeCheck::dimension(std::size_t dimension, const Shape& shape) const {
  expect(dimension < shape.size(), "a dimension of the input",
         [&] { return std::to_string(dimension) + " for " + to_text(shape); });
}

}  // namespace ferry::graph
