#include <string>
#include <unordered_set>

#include "crosscompile/ir/error.h"
#include "host/graph/graph.h"

namespace ferry::graph {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw InternalError("graph: " + what);
}

class Validator {
 public:
  explicit Validator(const Graph& graph) : graph_(graph), written_(graph.tensors.size()) {}

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
    for (const Node& node : graph_.nodes) check_node(node);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      expect(written_[id], "tensor '" + graph_.tensors[id].name + "' is neither input nor constant nor computed");
    }
    for (const TensorId id : graph_.outputs) expect(id < graph_.tensors.size(), "an output is no tensor");
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

  void check_node(const Node& node) {
    expect(!node.name.empty(), "a node has no name");
    expect(!node.in_place || node.op == Operator::concat || node.op == Operator::slice,
           "node '" + node.name + "' cannot be in place");
    std::vector<TensorType> inputs;
    for (const TensorId id : node.inputs) {
      expect(id < graph_.tensors.size() && written_[id], "node '" + node.name + "' reads what is not written before");
      inputs.push_back(type_of(graph_.tensors[id]));
    }
    const std::vector<TensorType> types = infer_types(node, inputs);
    expect(types.size() == node.outputs.size(), "node '" + node.name + "' has a wrong number of outputs");
    for (std::size_t i = 0; i < types.size(); ++i) {
      write(node.outputs[i], "an output of a node");
      const TensorType type = type_of(graph_.tensors[node.outputs[i]]);
      expect(type == types[i], "node '" + node.name + "' computes " + to_text(types[i]) + ", not " + to_text(type));
    }
  }

  const Graph& graph_;
  std::vector<bool> written_;
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
