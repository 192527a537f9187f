#include "host/graph/plan/byte_ranges.h"
#include "host/graph/plan/network_function.h"

#include <algorithm>

namespace ferry::graph {
namespace {

class Assignment {
 public:
  explicit Assignment(const Graph& graph) : graph_(graph) {
    result_.of_tensor.assign(graph.tensors.size(), kNoStorage);
  }

  TensorStorages run() {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i)
      if (storage_of(graph_.inputs[i]) == kNoStorage) add(graph_.inputs[i], {Storage::Kind::argument, i});
    for (const Node& node : graph_.nodes)
      for (const TensorId id : node.inputs) use_constant(id);
    for (const TensorId id : graph_.outputs) use_constant(id);
    for (const Node& node : graph_.nodes) add_results(node);
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o) add_output(o);
    // A tensor that is an input of several concats belongs to the last. So features to which each of many concats adds
    // one all lie in the result of the last.
    for (std::size_t n = graph_.nodes.size(); n-- > 0;)
      if (graph_.nodes[n].in_place && graph_.nodes[n].op == Operator::concat) place_inputs(n);
    std::ranges::stable_sort(result_.copies, {}, &PlacedCopy::node);
    return std::move(result_);
  }

 private:
  std::uint32_t storage_of(TensorId id) const { return result_.of_tensor[id]; }
  Storage& at(std::uint32_t index) { return result_.storages[index]; }

  std::uint32_t add(Storage storage) {
    result_.storages.push_back(std::move(storage));
    offsets_.emplace_back();
    return static_cast<std::uint32_t>(result_.storages.size() - 1);
  }
  void add(TensorId id, Storage storage) { result_.of_tensor[id] = add(std::move(storage)); }

  void use_constant(TensorId id) {
    if (id == kNoTensor || graph_.tensor(id).constant == nullptr || storage_of(id) != kNoStorage) return;
    add(id, {Storage::Kind::constant, static_cast<std::uint32_t>(result_.constants.size())});
    result_.constants.push_back(id);
  }

  void add_results(const Node& node) {
    for (const TensorId output : node.outputs) {
      if (node.op == Operator::reshape) {
        result_.of_tensor[output] = storage_of(node.inputs[0]);
      } else if (node.in_place && node.op == Operator::slice) {
        add(output, {});
        make_part(storage_of(output), storage_of(node.inputs[0]), *slice_offset(graph_, node));
      } else {
        add(output, {Storage::Kind::arena, 0, bytes_of(graph_, graph_.tensor(output))});
      }
    }
  }

  void make_part(std::uint32_t part, std::uint32_t whole, const Size& offset) {
    at(part) = {Storage::Kind::part, whole, {}, to_manifest(offset, graph_.symbols)};
    offsets_[part] = offset;
  }

  void add_output(std::size_t o) {
    const TensorId id = graph_.outputs[o];
    const auto parameter = static_cast<std::uint32_t>(graph_.inputs.size() + o);
    Storage& storage = at(storage_of(id));
    if (storage.kind == Storage::Kind::arena) {
      storage = {Storage::Kind::argument, parameter};
      return;
    }
    const std::uint32_t to = add({Storage::Kind::argument, parameter});
    copy(graph_.nodes.size(), to, id);
  }

  void copy(std::size_t node, std::uint32_t to, TensorId from) {
    result_.copies.push_back({node, {to, storage_of(from), bytes_of(graph_, graph_.tensor(from))}});
  }

  // Whether all inputs are parts of one storage that lie there one behind the other.
  bool lie_together(const Node& concat, const std::vector<Size>& offsets) const {
    const std::uint32_t first = storage_of(concat.inputs[0]);
    for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
      const std::uint32_t part = storage_of(concat.inputs[i]);
      if (result_.storages[part].kind != Storage::Kind::part ||
          result_.storages[part].index != result_.storages[first].index ||
          !(offsets_[part] == offsets_[first] + offsets[i]))
        return false;
    }
    return true;
  }

  void place_inputs(std::size_t n) {
    const Node& concat = graph_.nodes[n];
    const std::vector<Size> offsets = *concat_offsets(graph_, concat);
    const std::uint32_t whole = storage_of(concat.outputs[0]);
    const std::uint32_t first = storage_of(concat.inputs[0]);
    if (at(whole).kind == Storage::Kind::arena && lie_together(concat, offsets))
      return make_part(whole, at(first).index, offsets_[first]);
    for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
      const std::uint32_t part = storage_of(concat.inputs[i]);
      if (at(part).kind == Storage::Kind::arena) {
        make_part(part, whole, offsets[i]);
        continue;
      }
      const std::uint32_t place = add({});
      make_part(place, whole, offsets[i]);
      copy(n, place, concat.inputs[i]);
    }
  }

  const Graph& graph_;
  TensorStorages result_;
  std::vector<Size> offsets_;  // of the storages that are parts
};

}  // namespace

TensorStorages assign_storages(const Graph& graph) { return Assignment(graph).run(); }

}  // namespace ferry::graph
