// A forest becomes tables with an entry for each node. All trees take a step from the root towards a leaf at the same
// time, as often as the deepest one is deep; whoever has arrived stays.
#include "host/graph/onnx/operators/ml_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ferry::graph::onnx::ml {
namespace {

// Elements of a table of leaves and targets.
constexpr std::int64_t kMaxWeights = std::int64_t{1} << 24;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Comparison comparison_of(const NodeImport& node, const std::string& mode) {
  constexpr std::pair<const char*, Comparison> kModes[] = {
      {"BRANCH_LEQ", Comparison::less_equal},    {"BRANCH_LT", Comparison::less},
      {"BRANCH_GTE", Comparison::greater_equal}, {"BRANCH_GT", Comparison::greater},
      {"BRANCH_EQ", Comparison::equal},          {"BRANCH_NEQ", Comparison::not_equal}};
  for (const auto& [name, comparison] : kModes)
    if (mode == name) return comparison;
  node.refuse("a node's mode such as BRANCH_LEQ or LEAF", mode);
}

// Returns how many steps the deepest leaf is away from its root.
std::int64_t depth_of(const NodeImport& node, const Forest& forest) {
  std::vector<bool> seen(forest.nodes.size());
  std::vector<std::int64_t> level = forest.roots;
  std::int64_t depth = 0;
  for (;; ++depth) {
    std::vector<std::int64_t> next;
    for (const std::int64_t at : level) {
      node.expect(!seen[static_cast<std::size_t>(at)], "nodes that form trees", [] { return "one with two parents"; });
      seen[static_cast<std::size_t>(at)] = true;
      const Forest::Node& one = forest.nodes[static_cast<std::size_t>(at)];
      if (one.is_leaf(at)) continue;
      // Both branches of a node may lead to one leaf.
      next.push_back(one.if_true);
      if (one.if_false != one.if_true) next.push_back(one.if_false);
    }
    if (next.empty()) return depth;
    level = std::move(next);
  }
}

class Evaluation {
 public:
  Evaluation(const NodeImport& node, const Forest& forest, const Value& x)
      : node_(node), of_(node), forest_(forest), x_(x) {
    const auto count = static_cast<std::int64_t>(forest.nodes.size());
    std::vector<std::int64_t> features, branches;
    std::vector<double> values;
    for (std::size_t i = 0; i < forest.nodes.size(); ++i) {
      const Forest::Node& one = forest.nodes[i];
      features.push_back(one.feature);
      values.push_back(one.value);
      branches.push_back(one.if_false);
      branches.push_back(one.if_true);
      if (!one.is_leaf(static_cast<std::int64_t>(i))) comparisons_.insert(one.comparison);
      has_nan_ = has_nan_ || one.is_nan_true;
    }
    features_ = integers(node, features);
    branches_ = integers(node, branches);
    values_ = floats(node, x.type.dtype, {count}, values);
    modes_ = flags([](const Forest::Node& one) { return static_cast<std::int64_t>(one.comparison); });
    if (has_nan_) nan_ = flags([](const Forest::Node& one) { return std::int64_t{one.is_nan_true}; });
    if (comparisons_.contains(Comparison::member)) add_members();
  }

  // Returns the leaves at which the rows arrive, [N, trees].
  Value leaves(std::int64_t depth) const {
    const Value roots = integers(node_, forest_.roots);
    const Size trees = static_cast<std::int64_t>(forest_.roots.size());
    Value at = of_.broadcast(of_.reshape(roots, {1, trees}), {x_.type.shape[0], trees});
    if (depth == 0 || node_.is_unrolled(depth)) {
      for (std::int64_t step = 0; step < depth; ++step) at = next(at);
      return at;
    }
    return node_.add_loop(depth, {at}, {}, [&](const std::vector<Value>& states, const std::vector<Value>&) {
      return LoopResults{{next(states[0])}, {}};
    })[0];
  }

 private:
  template <class Flag>
  Value flags(const Flag& flag) const {
    std::vector<std::int64_t> all;
    for (const Forest::Node& one : forest_.nodes) all.push_back(flag(one));
    return integers(node_, all);
  }

  // A row of members for each node, filled up with NaN, which equals nothing.
  void add_members() {
    std::size_t most = 1;
    for (const Forest::Node& one : forest_.nodes) most = std::max(most, one.members.size());
    node_.expect(most * forest_.nodes.size() <= std::size_t{kMaxWeights}, "sets of fewer members",
                 [&] { return std::to_string(most); });
    std::vector<double> members;
    for (const Forest::Node& one : forest_.nodes) {
      members.insert(members.end(), one.members.begin(), one.members.end());
      members.resize(members.size() + most - one.members.size(), std::numeric_limits<double>::quiet_NaN());
    }
    members_ = floats(node_, x_.type.dtype,
                      {static_cast<std::int64_t>(forest_.nodes.size()), static_cast<std::int64_t>(most)}, members);
  }

  Value is_true(Comparison comparison, const Value& at, const Value& feature) const {
    if (comparison == Comparison::member) {
      const Shape& shape = feature.type.shape;
      const Value same = of_.equal(of_.reshape(feature, {shape[0], shape[1], 1}), of_.gather(members_, at, 0));
      return of_.less(0, of_.reduce(Operator::reduce_max, node_.cast(same, DType::i32), {2}, false));
    }
    const Value value = of_.gather(values_, at, 0);
    switch (comparison) {
      case Comparison::less_equal: return of_.less_equal(feature, value);
      case Comparison::less: return of_.less(feature, value);
      case Comparison::greater_equal: return of_.less_equal(value, feature);
      case Comparison::greater: return of_.less(value, feature);
      case Comparison::equal: return of_.equal(feature, value);
      case Comparison::not_equal: return of_.logical_not(of_.equal(feature, value));
      case Comparison::member: break;
    }
    return {};
  }

  Value next(const Value& at) const {
    const Value feature = of_.gather_elements(x_, of_.gather(features_, at, 0), 1);
    Value result;
    for (const Comparison comparison : comparisons_) {
      const Value one = is_true(comparison, at, feature);
      if (comparison == *comparisons_.begin()) {
        result = one;
        continue;
      }
      const Value is_its_mode = of_.equal(of_.gather(modes_, at, 0), static_cast<double>(comparison));
      result = of_.where(is_its_mode, one, result);
    }
    if (has_nan_) {
      const Value is_nan = of_.logical_not(of_.equal(feature, feature));
      const Value counts = of_.equal(of_.gather(nan_, at, 0), 1);
      result = of_.logical_or(result, of_.logical_and(is_nan, counts));
    }
    return of_.gather(branches_, of_.add(of_.mul(at, 2), node_.cast(result, DType::i64)), 0);
  }

  const NodeImport& node_;
  const NodeOps of_;
  const Forest& forest_;
  const Value& x_;
  std::set<Comparison> comparisons_;
  bool has_nan_ = false;
  Value features_, branches_, values_, modes_, nan_, members_;
};

}  // namespace

Forest read_forest(NodeImport& node, const char* weights, std::vector<LeafWeight>& leaves) {
  const auto integers = [&](const std::string& name) { return node.integers(name, std::vector<std::int64_t>()); };
  node.ignore({"nodes_hitrates", "nodes_hitrates_as_tensor"});
  const std::vector<std::int64_t> trees = integers("nodes_treeids"), ids = integers("nodes_nodeids"),
                                  features = integers("nodes_featureids"), if_true = integers("nodes_truenodeids"),
                                  if_false = integers("nodes_falsenodeids"),
                                  nan = integers("nodes_missing_value_tracks_true");
  const std::vector<double> values = reals_or_tensor(node, "nodes_values");
  const std::vector<std::string> modes = node.texts("nodes_modes");
  const std::size_t count = trees.size();
  for (const std::size_t size :
       {ids.size(), features.size(), if_true.size(), if_false.size(), values.size(), modes.size()})
    node.expect(size == count && count > 0, "attributes nodes_* of equal lengths",
                [&] { return std::to_string(size) + " and " + std::to_string(count); });
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places;
  for (std::size_t i = 0; i < count; ++i)
    node.expect(places.emplace(std::pair(trees[i], ids[i]), static_cast<std::int64_t>(i)).second,
                "nodes of a tree with different numbers", [&] { return std::to_string(ids[i]) + " twice"; });
  const auto place = [&](std::int64_t tree, std::int64_t id) {
    const auto found = places.find({tree, id});
    node.expect(found != places.end(), "nodes that the tree has", [&] { return std::to_string(id); });
    return found->second;
  };
  Forest forest;
  std::vector<bool> has_parent(count);
  for (std::size_t i = 0; i < count; ++i) {
    Forest::Node& one = forest.nodes.emplace_back();
    one.if_true = one.if_false = static_cast<std::int64_t>(i);
    if (modes[i] == "LEAF") continue;
    one = {features[i],
           values[i],
           comparison_of(node, modes[i]),
           !nan.empty() && nan.at(i % nan.size()) != 0,
           place(trees[i], if_true[i]),
           place(trees[i], if_false[i])};
    has_parent[static_cast<std::size_t>(one.if_true)] = has_parent[static_cast<std::size_t>(one.if_false)] = true;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!has_parent[i]) forest.roots.push_back(static_cast<std::int64_t>(i));
  const std::string prefix = weights;
  const std::vector<std::int64_t> leaf_trees = integers(prefix + "_treeids"),
                                  leaf_nodes = integers(prefix + "_nodeids"), targets = integers(prefix + "_ids");
  const std::vector<double> all = reals_or_tensor(node, prefix + "_weights");
  node.expect(leaf_trees.size() == all.size() && leaf_nodes.size() == all.size() && targets.size() == all.size(),
              "attributes " + prefix + "_* of equal lengths", [&] { return std::to_string(all.size()); });
  for (std::size_t i = 0; i < all.size(); ++i)
    leaves.push_back({place(leaf_trees[i], leaf_nodes[i]), targets[i], all[i]});
  return forest;
}

Value evaluate_forest(const NodeImport& node, const Forest& forest, const std::vector<LeafWeight>& leaves,
                      std::int64_t targets, Aggregate aggregate, const Value& x) {
  const NodeOps of(node);
  node.expect(!forest.roots.empty() && targets > 0, "at least one tree and one target", [] { return "none"; });
  const std::optional<std::int64_t> features = x.type.shape[1].constant();
  for (const Forest::Node& one : forest.nodes)
    node.expect(one.feature >= 0 && (!features || one.feature < *features), "features that the rows have",
                [&] { return std::to_string(one.feature); });
  const std::int64_t depth = depth_of(node, forest);
  // Leaves have rows of weights; what is no leaf has the first one, and is never arrived at.
  std::vector<std::int64_t> row(forest.nodes.size(), 0);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (forest.nodes[i].is_leaf(static_cast<std::int64_t>(i))) row[i] = rows++;
  node.expect(rows * targets <= kMaxWeights, "at most 2^24 weights of leaves",
              [&] { return std::to_string(rows) + " leaves of " + std::to_string(targets) + " targets"; });
  const bool is_extreme = aggregate == Aggregate::minimum || aggregate == Aggregate::maximum;
  const double none = !is_extreme ? 0 : aggregate == Aggregate::minimum ? kInfinity : -kInfinity;
  std::vector<double> weights(static_cast<std::size_t>(rows * targets), none);
  for (const LeafWeight& leaf : leaves) {
    const auto at = static_cast<std::size_t>(leaf.node);
    node.expect(leaf.target >= 0 && leaf.target < targets && forest.nodes[at].is_leaf(leaf.node),
                "weights of leaves for targets below " + std::to_string(targets),
                [&] { return std::to_string(leaf.target); });
    double& weight = weights[static_cast<std::size_t>(row[at] * targets + leaf.target)];
    weight = is_extreme ? leaf.weight : weight + leaf.weight;
  }
  const Value table = floats(node, x.type.dtype, {rows, targets}, weights);
  const Value leaf = of.gather(integers(node, row), Evaluation(node, forest, x).leaves(depth), 0);
  const Value found = of.gather(table, leaf, 0);
  if (!is_extreme) {
    const Value sum = of.reduce(Operator::reduce_sum, found, {1}, false);
    return aggregate == Aggregate::sum ? sum : of.div(sum, static_cast<double>(forest.roots.size()));
  }
  const Value best =
      of.reduce(aggregate == Aggregate::minimum ? Operator::reduce_min : Operator::reduce_max, found, {1}, false);
  return of.where(of.equal(best, none), of.number(best, 0), best);
}

}  // namespace ferry::graph::onnx::ml
