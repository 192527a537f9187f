// Branches. Where the condition is known when the network is imported, only the nodes that run become nodes of the
// network. Otherwise each branch becomes a loop of at most one iteration, which its condition decides:
//
//     loop(c, 0); y = then(x); end_loop(c, y)  ->  r     loop(!c, r); z = else(x); end_loop(!c, z)  ->  result
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/iterations.h"

namespace ferry::graph::onnx {
namespace {

void expect_outputs(const NodeImport& node, const std::vector<Value>& outputs) {
  node.expect(outputs.size() >= node.output_count(), "as many outputs as the branch has",
              [&] { return std::to_string(node.output_count()); });
}

// A result of either branch that loops compute.
struct BranchResult {
  std::size_t output = 0;
  TensorType type;                   // with room for what either branch gives
  std::vector<std::size_t> counted;  // dimensions whose size the call decides
};

// An output of a branch.
struct BranchValue {
  Value value;
  bool is_outside = false;     // it is known, or computed in front of the branch
  std::vector<bool> is_fixed;  // whether a size is known without what the branch computes
  Shape room;
};

bool are_same_values(const Value& a, const Value& b) {
  if (a.id != kNoTensor || b.id != kNoTensor) return a.id == b.id;
  return a.type == b.type && a.known != nullptr && b.known != nullptr && a.known->integers == b.known->integers &&
         a.known->reals == b.known->reals;
}

class BranchImport {
 public:
  BranchImport(NodeImport& node, const ModelGraph& yes, const ModelGraph& no)
      : node_(node), of_(node), yes_(yes), no_(no) {}

  void run() {
    const Value& given = node_.input(0);
    node_.expect(given.type.dtype == DType::boolean && element_count(given.type.shape).constant() == 1,
                 "the condition as one bool", [&] { return to_text(given.type); });
    condition_ = of_.reshape(given, {});
    const std::vector<BranchValue> first = look_into(yes_), second = look_into(no_);
    if (is_squeeze(first, second)) return squeeze();
    for (std::size_t i = 0; i < node_.output_count(); ++i)
      if (node_.has_output(i)) add_result(i, first[i], second[i]);
    if (!results_.empty()) choose();
  }

 private:
  using States = std::vector<Value>;

  // Imports a branch to see what it gives, and removes its nodes again.
  std::vector<BranchValue> look_into(const ModelGraph& branch) {
    const GraphBuilder::Mark mark = node_.mark();
    std::vector<BranchValue> all;
    node_.add_loop({1, true}, {condition_}, {}, [&](const States& states, const States&) {
      const std::vector<Value> outputs = node_.import_branch(branch);
      expect_outputs(node_, outputs);
      for (const Value& value : outputs) {
        BranchValue given = {value, is_outside(value, mark), {}, {}};
        for (const Size& size : value.type.shape) {
          given.is_fixed.push_back(!node_.depends_on_data_since(mark, size));
          given.room.push_back(given.is_fixed.back() ? size : node_.bound_of(size));
        }
        all.push_back(std::move(given));
      }
      return LoopResults{states, {}};
    });
    node_.roll_back(mark);
    return all;
  }

  // Whether a value is computed in front of a branch, or is known there.
  bool is_outside(const Value& value, const GraphBuilder::Mark& mark) const {
    if (value.id != kNoTensor) return value.id < mark.tensors;
    return value.known == nullptr || std::ranges::none_of(value.known->integers, [&](const Size& size) {
             return node_.depends_on_data_since(mark, size);
           });
  }

  // Whether the branches are those of torch's x.squeeze(d): one removes a dimension if its size is 1, the other one
  // gives x. The rank decides what the nodes behind compute, so only the first can be meant.
  bool is_squeeze(const std::vector<BranchValue>& yes, const std::vector<BranchValue>& no) const {
    const auto moves = [](const ModelNode& one) {
      return one.op == "Squeeze" || one.op == "Constant" || one.op == "Identity";
    };
    if (node_.output_count() != 1 || !std::ranges::all_of(yes_.nodes, moves)) return false;
    const std::optional<Size> size = node_.size_compared_with_1(condition_);
    const Shape& removed = yes[0].value.type.shape;
    Shape x = no[0].value.type.shape;
    if (!size || x.size() != removed.size() + 1) return false;
    for (std::size_t d = 0; d < x.size(); ++d) {
      Shape rest = x;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(d));
      if (x[d] == *size && rest == removed) return true;
    }
    return false;
  }

  // The removed dimension must be 1, which its node requires.
  void squeeze() { node_.output(0, node_.import_body(yes_, {})[0]); }

  void add_result(std::size_t output, const BranchValue& yes, const BranchValue& no) {
    const TensorType &type = yes.value.type, &other = no.value.type;
    const auto both = [&] { return to_text(type) + " and " + to_text(other); };
    node_.expect(type.dtype == other.dtype && type.shape.size() == other.shape.size(),
                 "branches whose results have the same type and rank, as the condition depends on data", both);
    const bool has_labels = yes.value.labels != nullptr || no.value.labels != nullptr;
    node_.expect(!has_labels, "branches that give no texts, as the condition depends on data", both);
    BranchResult result = {output, {type.dtype, {}}, {}};
    for (std::size_t d = 0; d < yes.room.size(); ++d) {
      const bool is_same = yes.is_fixed[d] && no.is_fixed[d] && yes.room[d] == no.room[d];
      if (!is_same) result.counted.push_back(d);
      result.type.shape.push_back(is_same ? yes.room[d] : max(node_.bound_of(yes.room[d]), node_.bound_of(no.room[d])));
    }
    if (yes.is_outside && no.is_outside && result.counted.empty())
      return node_.output(
          output, are_same_values(yes.value, no.value) ? yes.value : of_.where(condition_, yes.value, no.value));
    results_.push_back(std::move(result));
  }

  void choose() {
    States first = {condition_};
    for (const BranchResult& result : results_) {
      first.push_back(of_.filled(result.type, 0));
      first.insert(first.end(), result.counted.size(), of_.size(0));
    }
    States chosen = run_branch(yes_, first);
    chosen[0] = of_.logical_not(condition_);
    chosen = run_branch(no_, chosen);
    std::size_t next = 1;
    for (const BranchResult& result : results_) {
      Value value = chosen[next++];
      for (const std::size_t d : result.counted)
        value = node_.with_data_size(value, d, node_.data_size(chosen[next++], result.type.shape[d]));
      node_.output(result.output, value);
    }
  }

  States run_branch(const ModelGraph& branch, const States& first) {
    return node_.add_loop({1, true}, first, {}, [&](const States& states, const States&) {
      const std::vector<Value> outputs = node_.import_branch(branch);
      LoopResults all = {{states[0]}, {}};
      for (const BranchResult& result : results_) {
        Value value = outputs[result.output];
        const Shape shape = value.type.shape;
        for (const std::size_t d : result.counted) value = of_.pad(value, d, 0, result.type.shape[d] - shape[d]);
        all.states.push_back(value);
        for (const std::size_t d : result.counted) all.states.push_back(of_.size(shape[d]));
      }
      return all;
    });
  }

  NodeImport& node_;
  const NodeOps of_;
  const ModelGraph &yes_, &no_;
  Value condition_;
  std::vector<BranchResult> results_;
};

}  // namespace

void import_if(NodeImport& node) {
  const ModelGraph &yes = node.body("then_branch"), &no = node.body("else_branch");
  const std::optional<std::int64_t> known = known_number(node.input(0));
  if (!known) return BranchImport(node, yes, no).run();
  const std::vector<Value> outputs = node.import_body(*known != 0 ? yes : no, {});
  expect_outputs(node, outputs);
  for (std::size_t i = 0; i < node.output_count(); ++i) node.output(i, outputs[i]);
}

}  // namespace ferry::graph::onnx
