// The inputs and results of importing one node. Importers of operators (operators/) work on values: tensors of the
// graph, constants, and small tensors whose contents are known, with which add() computes at once.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ferry/error.h"
#include "host/graph/onnx/scope.h"

namespace ferry::graph::onnx {

// A refusal of a node, whose message names it.
class NodeRefusal : public CompileError {
 public:
  using CompileError::CompileError;
};
// The refusal of a node because a node inside of it was refused, which says why.
class InnerRefusal {};

// Imports the graphs that are attributes of nodes.
class BodyImporter {
 public:
  virtual ~BodyImporter() = default;
  // Returns the outputs of a body that is given these inputs, by adding its nodes. Throws InnerRefusal, and UsageError
  // where all bodies together have too many nodes.
  virtual std::vector<Value> import_body(const ModelGraph& body, const std::vector<Value>& inputs,
                                         const Scope& around) = 0;
  // Calls action(), and returns what it returns; false if it refuses a node or throws CompileError, which is forgotten.
  virtual bool attempt(const std::function<bool()>& action) = 0;
};

// A tensor of which each iteration of a loop has one entry of the first dimension, or that entry.
struct Scanned {
  Value value;
  bool is_backwards = false;  // the first iteration has the last entry
};
// How often a loop runs: `count` times, or fewer with a condition, its first state (attributes.h).
struct LoopLength {
  LoopLength(Size most, bool conditional = false) : count(std::move(most)), has_condition(conditional) {}
  LoopLength(std::int64_t number) : LoopLength(Size(number)) {}
  Size count;
  bool has_condition;
};
// What an iteration of a loop computes.
struct LoopResults {
  std::vector<Value> states;
  std::vector<Scanned> entries;
};

// A size that part of the network computes from data, such as the number of elements that a condition selects. Shapes
// name it as a symbol while the network is imported. In the finished graph, tensors have room for the bound.
struct DataSize {
  std::string symbol;
  Size bound;
  TensorId count = kNoTensor;  // int64, a scalar
  bool has_ended = false;      // the loop around what computes it has ended, so nothing reads the count any more
};

// Adds tensors to the graph when a node first needs them.
class GraphBuilder {
 public:
  Graph graph;
  // Loops of at most so many iterations are unrolled.
  std::int64_t most_unrolled = 8;
  // Branches that the call may leave out, inside of which nodes are added.
  int open_branches = 0;

  // Returns the value's tensor in the graph, a constant or, where contents depend on sizes, that of a node which is
  // added to compute them.
  TensorId tensor_of(const Value& value);
  // Appends a node to the graph, or computes with the inputs if all are known. Sizes that must be equal, but are not in
  // all calls, become a requirement of the graph. Throws as infer_types() does, and UsageError where the graph has too
  // many nodes.
  Value add(const std::string& name, Operator op, const std::vector<Value>& inputs, const Attributes& attributes);
  // The same without regard to sizes that depend on data: only for operators that compute each element of the result
  // from elements of the inputs which are there (data_masks.h).
  Value append(const std::string& name, Operator op, const std::vector<Value>& inputs, const Attributes& attributes);

  // Sizes that depend on data (data_sizes.cpp). The first is that of a count, an int64 scalar of at most `bound`. What
  // an iteration of a loop counts is a size inside of the loop alone.
  Size add_data_size(const std::string& name, const Value& count, const Size& bound);
  bool depends_on_data(const Size& size) const;
  bool depends_on_data(const Shape& shape) const;
  // Whether the size depends on data that are counted since the mark was made.
  struct Mark;
  bool depends_on_data_since(const Mark& mark, const Size& size) const;
  // Returns a size without such symbols that is at least as large in all calls. Throws CompileError where it is not
  // known.
  Size bound_of(const Size& size) const;
  // Returns a computed tensor, which nothing has read, as one of which this dimension has the size. The size's bound is
  // the dimension.
  Value with_data_size(const Value& tensor, std::size_t dimension, const Size& size);
  // Gives all tensors their final shapes, and adds outputs with the shapes of outputs that depend on data.
  void bound_data_sizes();

  // Requires that sizes are equal which are so in some calls. `node` and the tensors are named in the message.
  void require(const std::string& node, const std::vector<Value>& tensors, const EqualSizes& sizes);
  // Begin and end a loop of nodes. The first returns the states and the entries as an iteration begins; the second the
  // last states and the whole tensors of all entries. Throw as above.
  std::vector<Value> begin_loop(const std::string& name, const LoopLength& length, const std::vector<Value>& states,
                                const std::vector<Scanned>& tensors);
  std::vector<Value> end_loop(const std::string& name, const LoopLength& length, const LoopResults& results);
  // Returns the number of loops that have begun and not ended.
  std::size_t open_loops() const { return open_loops_.size(); }
  // Removes the tensors and nodes that were added since the mark was made.
  struct Mark {
    std::size_t tensors = 0, nodes = 0, kept = 0, open_loops = 0, requirements = 0, data_sizes = 0;
  };
  Mark mark() const {
    return {graph.tensors.size(), graph.nodes.size(),        kept_.size(),
            open_loops_.size(),   graph.requirements.size(), data_sizes_.size()};
  }
  void roll_back(const Mark& mark);
  // Counts elements of tensors that importers make. Returns false where all together are too many.
  bool has_room_for(std::size_t elements);
  // Gives the value's tensor the name by which the network calls it, unless it has one already.
  void rename(const Value& value, const std::string& name);

 private:
  void expect_room() const;
  bool are_same(TensorId a, TensorId b, int& left) const;
  TensorId add_sizes(const Value& value);
  // Returns a size that depends on data as an int64 scalar.
  Value computed_size(const std::string& name, const ir::Expr& size);
  bool is_required(Size left, Size right) const;
  void end_data_sizes(const LoopResults& results);
  // Requires that sizes of a node's inputs and attributes are equal, and replaces them by the simpler ones.
  void settle(Node& node, std::vector<Value>& inputs, const std::vector<EqualSizes>& undecided);
  void settle_reshape(Node& node, const std::vector<Value>& inputs, const EqualSizes& elements);
  // Returns the tensor with the dimensions of size `from` having the size `to`, which is the same in calls.
  Value with_size(const Value& value, const Size& from, const Size& to);
  std::vector<Value> add_bracket(const std::string& name, Operator op, const LoopLength& length,
                                 const std::vector<Value>& states, const std::vector<Scanned>& tensors);

  struct Materialized {
    std::string type;
    TensorId id;
  };
  std::multimap<const ConstantData*, Materialized> constants_;
  std::vector<std::shared_ptr<const ConstantData>> kept_;  // so that no address is used twice
  std::set<TensorId> unnamed_;
  std::vector<DataSize> data_sizes_;
  std::size_t made_ = 0;
  std::vector<Mark> open_loops_;  // where each began
};

// The attributes of a node, or of the call of a function, that the model holds.
using AttributeRefs = std::map<std::string, const AttributeValue*>;

// The ranks of tensors by name, as far as a model declares them.
using Ranks = std::map<std::string, std::size_t>;

class NodeImport {
 public:
  NodeImport(const ModelNode& node, const AttributeRefs& attributes, const Ranks& ranks, std::int64_t opset,
             GraphBuilder& builder, Scope& scope, BodyImporter& bodies)
      : node_(node),
        attributes_(attributes),
        ranks_(ranks),
        opset_(opset),
        builder_(builder),
        scope_(scope),
        bodies_(bodies) {}

  const std::string& op() const { return node_.op; }
  std::int64_t opset() const { return opset_; }
  // Throws NodeRefusal: "node 'a' (Conv, opset 13): expected X, got Y".
  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const;
  [[noreturn]] void refuse(const std::string& message) const;
  void expect(bool holds, const std::string& expected, const auto& got) const {
    if (!holds) refuse(expected, got());
  }

  // Attributes. Without `otherwise` an attribute is required. Those that no call names are refused at the end.
  bool has(const std::string& name) const { return attributes_.contains(name); }
  std::int64_t integer(const std::string& name, std::optional<std::int64_t> otherwise = {});
  bool flag(const std::string& name, bool otherwise) { return integer(name, otherwise ? 1 : 0) != 0; }
  double real(const std::string& name, std::optional<double> otherwise = {});
  std::string text(const std::string& name, const std::string& otherwise);
  std::vector<std::int64_t> integers(const std::string& name, std::optional<std::vector<std::int64_t>> otherwise = {});
  std::vector<double> reals(const std::string& name);       // none: empty
  std::vector<std::string> texts(const std::string& name);  // none: empty
  const AttributeValue* attribute(const std::string& name);
  const ModelGraph& body(const std::string& name);
  // Returns the type that an attribute names by ONNX's number of it.
  DType element_type(const std::string& name);
  // Names attributes that change nothing here.
  void ignore(std::initializer_list<const char*> names);
  void expect_no_other_attributes() const;

  // Inputs and outputs.
  std::size_t input_count() const { return node_.inputs.size(); }
  std::size_t output_count() const { return node_.outputs.size(); }
  bool has_input(std::size_t i) const {
    return i < node_.inputs.size() && !node_.inputs[i].empty() && !scope_.is_absent(node_.inputs[i]);
  }
  bool has_output(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  const Value& input(std::size_t i) const;
  // Returns an initializer of a type that ferry has none for, which input() refuses; null for any other input.
  const Constant* stored_input(std::size_t i) const {
    return has_input(i) ? scope_.unsupported(node_.inputs[i]) : nullptr;
  }
  // Returns the texts of an input that is an initializer of texts; null for any other input.
  const std::vector<std::string>* texts_in(std::size_t i) const {
    const Constant* stored = stored_input(i);
    return stored != nullptr ? stored->texts.get() : nullptr;
  }
  // Returns the rank that the model declares of an output; nothing if it does not.
  std::optional<std::size_t> declared_rank(std::size_t output) const;
  std::vector<Value> inputs() const;
  const Shape& shape(std::size_t i) const { return input(i).type.shape; }
  // Returns the contents of an input of integers that must be known now, as a shape or axes.
  std::vector<Size> sizes(std::size_t i, const std::string& what) const;
  std::vector<std::int64_t> numbers(std::size_t i, const std::string& what) const;
  // Returns the single element of an input that is an integer or a whole number, and may depend on sizes.
  Size size(std::size_t i, const std::string& what) const;
  // Returns the single element of an input that must be known now.
  double scalar(std::size_t i, const std::string& what) const;
  // The same of an integer, which a float type may hold.
  std::int64_t number(std::size_t i, const std::string& what) const;
  void output(std::size_t i, const Value& value);

  // Return the simpler of two sizes, and the shape to which two broadcast. An equality that holds only
  // in some calls is required of them; one that never holds is refused.
  Size equal(const std::string& what, const Size& size, const std::string& other_what, const Size& other) const;
  Shape broadcast_shape(const Shape& a, const Shape& b) const;

  // Sizes that depend on data, as those of the graph's builder.
  Size data_size(const Value& count, const Size& bound) const;
  Value with_data_size(const Value& tensor, std::size_t dimension, const Size& size) const {
    return builder_.with_data_size(tensor, dimension, size);
  }
  Size bound_of(const Size& size) const { return builder_.bound_of(size); }
  bool depends_on_data(const Size& size) const { return builder_.depends_on_data(size); }
  bool depends_on_data_since(const GraphBuilder::Mark& mark, const Size& size) const {
    return builder_.depends_on_data_since(mark, size);
  }

  // Returns the dimension that a possibly negative axis names.
  std::size_t dimension(std::int64_t axis, std::size_t rank) const;

  // Building.
  Value add(Operator op, const std::vector<Value>& inputs, const Attributes& attributes = {}) const;
  std::vector<Value> import_body(const ModelGraph& body, const std::vector<Value>& inputs) const;
  // The same of a branch that the call may leave out.
  std::vector<Value> import_branch(const ModelGraph& body) const;
  bool is_in_branch() const { return builder_.open_branches > 0; }
  // Returns the size if the value tells whether one is 1.
  std::optional<Size> size_compared_with_1(const Value& condition) const;
  // Whether the iterations become nodes each. Without iterations there is nothing to join.
  bool is_unrolled(const Size& count) const {
    const std::optional<std::int64_t> number = count.constant();
    return number && *number > 0 && *number <= builder_.most_unrolled;
  }
  // Adds a loop whose iterations are the nodes that `iteration` adds: from the states and the entries of the tensors as
  // it begins, it returns what it computes. Returns the last states and the whole tensors of the entries.
  using Iteration = std::function<LoopResults(const std::vector<Value>& states, const std::vector<Value>& entries)>;
  std::vector<Value> add_loop(const LoopLength& length, const std::vector<Value>& states,
                              const std::vector<Scanned>& tensors, const Iteration& iteration) const;
  // The same for a loop that can be unrolled if its count is a number. Then it returns nothing, and adds nothing, where
  // the other would refuse the node.
  std::optional<std::vector<Value>> try_loop(const Size& count, const std::vector<Value>& states,
                                             const std::vector<Scanned>& tensors, const Iteration& iteration) const;

  // Removes what was added since the mark was made.
  GraphBuilder::Mark mark() const { return builder_.mark(); }
  void roll_back(const GraphBuilder::Mark& mark) const { builder_.roll_back(mark); }

  Value reshape(const Value& value, Shape shape) const;
  Value cast(const Value& value, DType to) const;
  Value constant(DType dtype, double value) const;          // a scalar; refused where an integer type has no such value
  Value known(DType dtype, std::vector<Size> sizes) const;  // a vector
  Value known(TensorType type, Known contents) const;

 private:
  const ModelNode& node_;
  const AttributeRefs& attributes_;
  const Ranks& ranks_;
  std::int64_t opset_;
  GraphBuilder& builder_;
  Scope& scope_;
  BodyImporter& bodies_;
  std::set<std::string> named_;  // attributes
};

}  // namespace ferry::graph::onnx
