// Sums of products over named dimensions.
#include <algorithm>
#include <map>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// The dimensions of a tensor by the letters of the equation. Those of an ellipsis count from kEllipsis on, the last of
// them being the greatest.
using Labels = std::vector<int>;
constexpr int kEllipsis = 1 << 20, kMaxRank = 64;

struct Labelled {
  Value value;
  Labels labels;
};

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

std::size_t place_of(const Labels& labels, int label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

class Einsum {
 public:
  explicit Einsum(NodeImport& node) : node_(node), of_(node) {}

  void run() {
    std::string equation = node_.text("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    std::vector<std::string> terms = {""};
    for (const char letter : equation.substr(0, arrow)) {
      if (letter == ',') {
        terms.emplace_back();
      } else {
        terms.back() += letter;
      }
    }
    node_.expect(terms.size() == node_.input_count(), "a term of the equation for each input",
                 [&] { return std::to_string(terms.size()) + " for " + std::to_string(node_.input_count()); });
    std::vector<Labelled> operands;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto rank = static_cast<int>(std::min<std::size_t>(node_.shape(i).size(), kMaxRank));
      operands.push_back({node_.input(i), labels_of(terms[i], rank)});
      node_.expect(operands[i].labels.size() == node_.shape(i).size(), "a letter for each dimension",
                   [&] { return "'" + terms[i] + "' for " + to_text(node_.shape(i)); });
    }
    const Labels output = arrow == std::string::npos ? implied(operands) : labels_of(equation.substr(arrow + 2), -1);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const bool is_known = std::any_of(operands.begin(), operands.end(),
                                        [&](const Labelled& operand) { return has(operand.labels, output[i]); });
      node_.expect(is_known && place_of(output, output[i]) == i, "different letters of the inputs in the output",
                   [&] { return equation; });
    }
    for (Labelled& operand : operands) operand = without_repetition(operand);
    Labelled result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      Labels kept = output;
      for (std::size_t later = i + 1; later < operands.size(); ++later) {
        kept.insert(kept.end(), operands[later].labels.begin(), operands[later].labels.end());
      }
      result = product(summed(result, kept, operands[i].labels), summed(operands[i], kept, result.labels), kept);
    }
    result = summed(result, output, {});
    node_.output(0, ordered(result, output).value);
  }

 private:
  // A rank of -1 stands for the output, whose ellipsis has all dimensions that one of an input has.
  Labels labels_of(const std::string& term, int rank) {
    const std::size_t dots = term.find("...");
    const int letters = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    const int others = rank < 0 ? ellipsis_ : std::max(0, rank - letters);
    if (dots != std::string::npos) ellipsis_ = std::max(ellipsis_, others);
    Labels labels;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (int d = others; d > 0; --d) labels.push_back(kEllipsis + kMaxRank - d);
        i += 2;
        continue;
      }
      const bool is_letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
      node_.expect(is_letter, "letters and at most one '...' in each term", [&] { return term; });
      labels.push_back(term[i]);
    }
    return labels;
  }

  // Without an arrow the output has the ellipsis, and the letters that occur once in order.
  Labels implied(const std::vector<Labelled>& operands) const {
    std::map<int, int> counts;
    for (const Labelled& operand : operands) {
      for (const int label : operand.labels) ++counts[label];
    }
    Labels output;
    for (int d = ellipsis_; d > 0; --d) output.push_back(kEllipsis + kMaxRank - d);
    for (const auto& [label, count] : counts) {
      if (label < kEllipsis && count == 1) output.push_back(label);
    }
    return output;
  }

  // Takes the diagonal of dimensions with one letter.
  Labelled without_repetition(Labelled x) const {
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const auto again = std::find(x.labels.begin() + static_cast<std::ptrdiff_t>(d) + 1, x.labels.end(), x.labels[d]);
      if (again == x.labels.end()) continue;
      const auto other = static_cast<std::size_t>(again - x.labels.begin());
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < x.labels.size(); ++i) {
        if (i != d && i != other) order.push_back(i);
      }
      order.insert(order.end(), {d, other});
      const Value moved = of_.transpose(x.value, order);
      Shape shape = moved.type.shape;
      const Size size = shape.back();
      const std::optional<std::int64_t> number = size.constant();
      node_.expect(shape[shape.size() - 2] == size && number && *number < std::int64_t{1} << 30,
                   "dimensions of one letter to have one known size", [&] { return to_text(x.value.type.shape); });
      shape.pop_back();
      shape.back() = size * size;
      const Value diagonal = of_.slice(of_.reshape(moved, shape), shape.size() - 1, 0, size, *number + 1);
      Labels labels;
      for (std::size_t i = 0; i + 1 < order.size(); ++i) labels.push_back(x.labels[order[i]]);
      return without_repetition({diagonal, labels});
    }
    return x;
  }

  // Sums over dimensions that neither the output nor another operand has.
  Labelled summed(const Labelled& x, const Labels& kept, const Labels& other) const {
    std::vector<std::size_t> reduced;
    Labels labels;
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      if (has(kept, x.labels[d]) || has(other, x.labels[d])) {
        labels.push_back(x.labels[d]);
      } else {
        reduced.push_back(d);
      }
    }
    return {of_.reduce(Operator::reduce_sum, x.value, reduced, false), labels};
  }

  Labelled ordered(const Labelled& x, const Labels& order) const {
    std::vector<std::size_t> places;
    for (const int label : order) places.push_back(place_of(x.labels, label));
    return {of_.transpose(x.value, places), order};
  }

  // Returns the sizes of these dimensions.
  static Shape sizes_of(const Labelled& x, const Labels& labels) {
    Shape shape;
    for (const int label : labels) shape.push_back(x.value.type.shape[place_of(x.labels, label)]);
    return shape;
  }

  static Labels joined(std::initializer_list<Labels> parts) {
    Labels all;
    for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  Labelled product(Labelled a, Labelled b, const Labels& kept) const {
    Labels batch, inner, rows, columns;
    for (const int label : a.labels) (!has(b.labels, label) ? rows : has(kept, label) ? batch : inner).push_back(label);
    for (const int label : b.labels) {
      if (!has(a.labels, label)) columns.push_back(label);
    }
    a = ordered(a, joined({batch, rows, inner}));
    b = ordered(b, joined({batch, inner, columns}));
    const Shape a_rows = sizes_of(a, rows), b_columns = sizes_of(b, columns);
    const auto with = [](Shape shape, std::initializer_list<Size> more) {
      shape.insert(shape.end(), more);
      return shape;
    };
    Shape inner_shape = sizes_of(a, inner);
    const Shape common = node_.broadcast_shape(inner_shape, sizes_of(b, inner));
    const Size depth = element_count(common), height = element_count(a_rows), width = element_count(b_columns);
    // A dimension of size 1 is repeated, as in the other dimensions.
    Shape a_shape = sizes_of(a, joined({batch, rows})), b_shape = sizes_of(b, batch);
    a_shape.insert(a_shape.end(), common.begin(), common.end());
    b_shape.insert(b_shape.end(), common.begin(), common.end());
    b_shape.insert(b_shape.end(), b_columns.begin(), b_columns.end());
    const Value left = of_.reshape(of_.broadcast(a.value, a_shape), with(sizes_of(a, batch), {height, depth}));
    const Value right = of_.reshape(of_.broadcast(b.value, b_shape), with(sizes_of(b, batch), {depth, width}));
    const Value result = inner.empty() ? of_.mul(left, right) : of_.matmul(left, right);
    Shape shape(result.type.shape.begin(), result.type.shape.end() - 2);
    shape.insert(shape.end(), a_rows.begin(), a_rows.end());
    shape.insert(shape.end(), b_columns.begin(), b_columns.end());
    return {of_.reshape(result, shape), joined({batch, rows, columns})};
  }

  NodeImport& node_;
  NodeOps of_;
  int ellipsis_ = 0;  // number of dimensions of the longest one
};

}  // namespace

void import_einsum(NodeImport& node) { Einsum(node).run(); }

}  // namespace ferry::graph::onnx
