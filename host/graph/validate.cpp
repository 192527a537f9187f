#include <string>
#include <unordered_set>

#include "crosscompile/ir/error.h"
#include "host/graph/graph.h"
#include "host/graph/loops.h"

namespace ferry::graph {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw InternalError("graph: " + what);
}

class Validator {
 public:
  explicit Validator(const Graph& graph)
      : graph_(graph), loops_(graph), written_(graph.tensors.size()), loop_of_(graph.tensors.size(), kNoLoop) {}

  void run() {
    check_symbols();
    for (const TensorId id : graph_.inputs) {
      write(id, "input");
      expect(graph_.tensors[id].channel_block == 1, "an input has its channels in blocks");
    }
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      check_tensor(graph_.tensors[id]);
      if (graph_.tensors[id].constant) write(id, "constant");
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) check_node(n);
    for (const Loop& loop : loops_.all()) check_loop(graph_.nodes[loop.begin], graph_.nodes[loop.end]);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      expect(written_[id], "tensor '" + graph_.tensors[id].name + "' is neither input nor constant nor computed");
    }
    for (const TensorId id : graph_.outputs) {
      expect(id < graph_.tensors.size(), "an output is no tensor");
      expect(loop_of_[id] == kNoLoop, "output '" + graph_.tensors[id].name + "' is computed in a loop");
    }
    expect(graph_.output_names.size() == graph_.outputs.size(), "an output has no name");
  }

 private:
  void check_symbols() {
    for (const std::string& symbol : graph_.symbols) {
      expect(!symbol.empty() && symbols_.insert(symbol).second, "the symbol '" + symbol + "' is empty or not unique");
    }
  }

  void check_tensor(const Tensor& tensor) {
    expect(is_valid_dtype(static_cast<std::uint8_t>(tensor.dtype)), "tensor '" + tensor.name + "' has no dtype");
    for (const Size& size : tensor.shape) {
      for (const std::string& symbol : size.symbols()) {
        expect(symbols_.contains(symbol), "the size '" + symbol + "' of tensor '" + tensor.name + "' is of no input");
      }
    }
    const bool is_image = tensor.shape.size() == 4 && tensor.shape[1].constant();
    expect(tensor.channel_block == 1 || (tensor.channel_block > 1 && is_image && !tensor.constant),
           "tensor '" + tensor.name + "' is no image that may have its channels in blocks");
    if (!tensor.constant) return;
    const Size bytes = element_count(tensor.shape) * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
    expect(bytes.constant() == static_cast<std::int64_t>(tensor.constant->bytes.size()),
           "constant '" + tensor.name + "' has a wrong number of bytes");
  }

  void write(TensorId id, const char* what) {
    expect(id < graph_.tensors.size(), std::string(what) + " is no tensor");
    expect(!written_[id], "tensor '" + graph_.tensors[id].name + "' is written twice");
    written_[id] = true;
  }

  void check_node(std::size_t n) {
    const Node& node = graph_.nodes[n];
    expect(!node.name.empty(), "a node has no name");
    expect(!node.in_place || node.op == Operator::concat || node.op == Operator::slice,
           "node '" + node.name + "' cannot be in place");
    std::vector<TensorType> inputs;
    for (const TensorId id : node.inputs) {
      expect(id < graph_.tensors.size() && written_[id], "node '" + node.name + "' reads what is not written before");
      // The results of a loop's last node are the only ones that are read behind it.
      expect(loops_.contains(loop_of_[id], n) || (loop_of_[id] != kNoLoop && loops_.all()[loop_of_[id]].end == n),
             "node '" + node.name + "' reads what a loop computes inside");
      inputs.push_back(type_of(graph_.tensors[id]));
    }
    const std::vector<TensorType> types = infer_types(node, inputs);
    expect(types.size() == node.outputs.size(), "node '" + node.name + "' has a wrong number of outputs");
    for (std::size_t i = 0; i < types.size(); ++i) {
      write(node.outputs[i], "an output of a node");
      loop_of_[node.outputs[i]] = loops_.of_results(n);
      const TensorType type = type_of(graph_.tensors[node.outputs[i]]);
      expect(type == types[i], "node '" + node.name + "' computes " + to_text(types[i]) + ", not " + to_text(type));
    }
  }

  // Checks what the two nodes of a loop have in common.
  void check_loop(const Node& begin, const Node& end) {
    const std::string loop = "loop '" + begin.name + "'";
    expect(loop_of(begin).count == loop_of(end).count, loop + " ends with another count");
    expect(states_of(begin) == states_of(end), loop + " ends with another number of states");
    expect(loop_of(begin).has_condition == loop_of(end).has_condition, loop + " has a condition at one end only");
    for (const Node* node : {&begin, &end})
      for (const std::vector<TensorId>* ids : {&node->inputs, &node->outputs})
        for (const TensorId id : *ids)
          expect(graph_.tensors[id].channel_block == 1, loop + " has a tensor with its channels in blocks");
    for (std::size_t s = 0; s < states_of(begin); ++s)
      expect(type_of(graph_.tensors[begin.outputs[s]]) == type_of(graph_.tensors[end.inputs[s]]),
             loop + " changes the type of a state");
  }

  const Graph& graph_;
  const Loops loops_;
  std::vector<bool> written_;
  std::vector<std::size_t> loop_of_;  // for each tensor, the loop in which it is computed
  std::unordered_set<std::string> symbols_;
};

}  // namespace

void validate(const Graph& graph) {
  try {
    Validator(graph).run();
  } catch (const CompileError& error) {
    throw InternalError(std::string("graph: ") + error.what());
  }
}

}  // namespace ferry::graph
