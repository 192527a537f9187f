// Forests of decision trees, as the operators of ai.onnx.ml describe them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/graph/onnx/operators/ml.h"

namespace ferry::graph::onnx::ml {

// How a node compares a feature with its value.
enum class Comparison : std::uint8_t { less_equal, less, greater_equal, greater, equal, not_equal, member };

// The nodes of all trees, leaves among them: a leaf is where both branches lead to itself.
struct Forest {
  struct Node {
    std::int64_t feature = 0;
    double value = 0;
    Comparison comparison = Comparison::less_equal;
    bool is_nan_true = false;  // a feature that is NaN takes the branch of what is true
    std::int64_t if_true = 0, if_false = 0;
    std::vector<double> members = {};  // for Comparison::member

    bool is_leaf(std::int64_t own) const { return if_true == own && if_false == own; }
  };
  std::vector<Node> nodes;
  std::vector<std::int64_t> roots;
};

// What the leaves add up to: for each leaf some targets with a weight.
struct LeafWeight {
  std::int64_t node = 0, target = 0;
  double weight = 0;
};
enum class Aggregate : std::uint8_t { average, sum, minimum, maximum };

// Reads the attributes nodes_* of TreeEnsembleClassifier and TreeEnsembleRegressor, and the weights of leaves, whose
// attributes begin with `weights` ("class" or "target").
Forest read_forest(NodeImport& node, const char* weights, std::vector<LeafWeight>& leaves);

// Returns what the trees say of each row of x, [N, F]: for each of so many targets the aggregate over all trees, [N,
// C]. Refuses nodes that do not form trees.
Value evaluate_forest(const NodeImport& node, const Forest& forest, const std::vector<LeafWeight>& leaves,
                      std::int64_t targets, Aggregate aggregate, const Value& x);

}  // namespace ferry::graph::onnx::ml
