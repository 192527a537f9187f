// Ensembles of decision trees.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/ml.h"
#include "host/graph/onnx/operators/ml_forest.h"

namespace ferry::graph::onnx {
namespace {

using ml::Aggregate;
using ml::Forest;
using ml::LeafWeight;

Aggregate read_aggregate(NodeImport& node) {
  constexpr std::pair<const char*, Aggregate> kAggregates[] = {{"AVERAGE", Aggregate::average},
                                                               {"SUM", Aggregate::sum},
                                                               {"MIN", Aggregate::minimum},
                                                               {"MAX", Aggregate::maximum}};
  const std::string wanted = node.text("aggregate_function", "SUM");
  const auto* found = std::find_if(std::begin(kAggregates), std::end(kAggregates),
                                   [&](const auto& one) { return one.first == wanted; });
  node.expect(found != std::end(kAggregates), "the aggregate_function AVERAGE, SUM, MIN or MAX",
              [&] { return wanted; });
  return found->second;
}

Value with_base(const NodeImport& node, const Value& scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const auto count = static_cast<std::int64_t>(base.size());
  node.expect(scores.type.shape[1].constant() == count, "a base value for each target",
              [&] { return std::to_string(count); });
  return NodeOps(node).add(scores, ml::floats(node, scores.type.dtype, {count}, base));
}

// Returns the integers of an attribute that is a tensor of them.
std::vector<std::int64_t> integers_in_tensor(NodeImport& node, const std::string& name) {
  const auto* constant = std::get_if<Constant>(node.attribute(name));
  node.expect(constant != nullptr && constant->data != nullptr && constant->dtype == DType::u8,
              "the attribute '" + name + "' with uint8", [] { return "others"; });
  return {constant->data->bytes.begin(), constant->data->bytes.end()};
}

// Two classes of which the leaves say only how likely the second one is: a probability, unless a weight is negative.
void output_two_classes(NodeImport& node, const ml::Classes& classes, const Value& score, bool is_probability) {
  const NodeOps of(node);
  const Size& rows = score.type.shape[0];
  const Value is_second = of.less(of.number(score, is_probability ? 0.5 : 0.0), score);
  node.output(0, classes.labels(node, of.reshape(node.cast(is_second, DType::i64), {rows})));
  const bool is_logistic = ml::has_transform(node, "LOGISTIC");
  const Value both = of.concat({is_probability && !is_logistic ? of.sub(1, score) : of.neg(score), score}, 1);
  node.output(1, is_logistic ? of.sigmoid(both) : both);
}

}  // namespace

void import_tree_classifier(NodeImport& node) {
  const NodeOps of(node);
  const ml::Classes classes(node);
  std::vector<LeafWeight> leaves;
  const Forest forest = ml::read_forest(node, "class", leaves);
  const std::vector<double> base = ml::reals_or_tensor(node, "base_values");
  const Value x = ml::rows_of(node);
  const bool is_one_sided = classes.count() == 2 && base.size() < 2 &&
                            std::ranges::all_of(leaves, [](const LeafWeight& leaf) { return leaf.target == 0; });
  const auto count = static_cast<std::int64_t>(is_one_sided ? 1 : classes.count());
  Value scores = with_base(node, ml::evaluate_forest(node, forest, leaves, count, Aggregate::sum, x), base);
  scores = node.cast(scores, DType::f32);
  if (is_one_sided)
    return output_two_classes(node, classes, scores,
                              std::ranges::all_of(leaves, [](const LeafWeight& leaf) { return leaf.weight >= 0; }));
  node.output(0, classes.labels(node, of.reduce(Operator::arg_max, scores, {1}, false)));
  node.output(1, ml::transformed(node, scores));
}

void import_tree_regressor(NodeImport& node) {
  std::vector<LeafWeight> leaves;
  const Forest forest = ml::read_forest(node, "target", leaves);
  const std::vector<double> base = ml::reals_or_tensor(node, "base_values");
  const Aggregate aggregate = read_aggregate(node);
  const Value scores =
      ml::evaluate_forest(node, forest, leaves, node.integer("n_targets", 1), aggregate, ml::rows_of(node));
  node.output(0, ml::transformed(node, node.cast(with_base(node, scores, base), DType::f32)));
}

// The nodes that decide and the leaves are numbered apart.
void import_tree_ensemble(NodeImport& node) {
  const auto integers = [&](const char* name) { return node.integers(name, std::vector<std::int64_t>()); };
  node.ignore({"nodes_hitrates"});
  const std::vector<std::int64_t> roots = integers("tree_roots"), features = integers("nodes_featureids"),
                                  if_true = integers("nodes_truenodeids"), if_false = integers("nodes_falsenodeids"),
                                  true_leaves = integers("nodes_trueleafs"),
                                  false_leaves = integers("nodes_falseleafs"),
                                  nan = integers("nodes_missing_value_tracks_true"),
                                  targets = integers("leaf_targetids"), modes = integers_in_tensor(node, "nodes_modes");
  const auto reals = [&](const char* name) {
    const auto* constant = std::get_if<Constant>(node.attribute(name));
    if (constant == nullptr) return std::vector<double>();
    return ml::reals_of(node, name, *constant);
  };
  const std::vector<double> splits = reals("nodes_splits"), weights = reals("leaf_weights"),
                            members = reals("membership_values");
  const std::size_t count = features.size();
  const auto leaf_count = static_cast<std::int64_t>(weights.size());
  for (const std::size_t size :
       {if_true.size(), if_false.size(), true_leaves.size(), false_leaves.size(), splits.size(), modes.size()})
    node.expect(size == count, "attributes nodes_* of equal lengths", [&] { return std::to_string(size); });
  node.expect(targets.size() == weights.size(), "attributes leaf_* of equal lengths",
              [&] { return std::to_string(targets.size()); });
  const auto place = [&](std::int64_t at, bool is_leaf) {
    node.expect(at >= 0 && at < (is_leaf ? leaf_count : static_cast<std::int64_t>(count)), "nodes that there are",
                [&] { return std::to_string(at); });
    return is_leaf ? static_cast<std::int64_t>(count) + at : at;
  };
  Forest forest;
  std::size_t member = 0;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::int64_t kModes = 7;
    node.expect(modes[i] < kModes, "modes below 7", [&] { return std::to_string(modes[i]); });
    Forest::Node& one = forest.nodes.emplace_back();
    one = {features[i],
           splits[i],
           static_cast<ml::Comparison>(modes[i]),
           !nan.empty() && nan[i % nan.size()] != 0,
           place(if_true[i], true_leaves[i] != 0),
           place(if_false[i], false_leaves[i] != 0)};
    if (one.comparison != ml::Comparison::member) continue;
    // The sets of all such nodes follow each other, with a NaN behind each.
    for (; member < members.size() && !std::isnan(members[member]); ++member) one.members.push_back(members[member]);
    ++member;
  }
  std::vector<LeafWeight> leaves;
  for (std::int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    const std::int64_t at = static_cast<std::int64_t>(count) + leaf;
    forest.nodes.push_back({.if_true = at, .if_false = at});
    leaves.push_back({at, targets[static_cast<std::size_t>(leaf)], weights[static_cast<std::size_t>(leaf)]});
  }
  for (const std::int64_t root : roots) forest.roots.push_back(place(root, false));
  constexpr Aggregate kAggregates[] = {Aggregate::average, Aggregate::sum, Aggregate::minimum, Aggregate::maximum};
  const std::int64_t aggregate = node.integer("aggregate_function", 1);
  node.expect(aggregate >= 0 && aggregate < 4, "an aggregate_function below 4",
              [&] { return std::to_string(aggregate); });
  const Value scores = ml::evaluate_forest(node, forest, leaves, node.integer("n_targets", 1), kAggregates[aggregate],
                                           ml::rows_of(node));
  constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::int64_t transform = node.integer("post_transform", 0);
  node.expect(transform >= 0 && transform < 5, "a post_transform below 5", [&] { return std::to_string(transform); });
  node.output(0, ml::transformed(node, scores, kTransforms[transform]));
}

}  // namespace ferry::graph::onnx
