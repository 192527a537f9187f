#include "host/graph/loops.h"
#include "host/graph/plan/byte_ranges.h"
#include "host/graph/plan/network_function.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ferry::graph {
namespace {

class Assignment {
 public:
  explicit Assignment(const Graph& graph) : graph_(graph), loops_(graph) {
    result_.of_tensor.assign(graph.tensors.size(), kNoStorage);
  }

  TensorStorages run() {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i)
      if (storage_of(graph_.inputs[i]) == kNoStorage) add(graph_.inputs[i], {Storage::Kind::argument, i});
    for (const Node& node : graph_.nodes)
      for (const TensorId id : node.inputs) use_constant(id);
    for (const TensorId id : graph_.outputs) use_constant(id);
    count_reads();
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) add_results(n);
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

  std::uint32_t add(Storage storage, std::optional<std::size_t> loop = {}) {
    result_.storages.push_back(std::move(storage));
    offsets_.emplace_back();
    loop_of_.push_back(loop);
    return static_cast<std::uint32_t>(result_.storages.size() - 1);
  }
  void add(TensorId id, Storage storage) { result_.of_tensor[id] = add(std::move(storage)); }
  std::uint32_t add_arena(TensorId id, std::optional<std::size_t> loop) {
    return add({Storage::Kind::arena, 0, bytes_of(graph_, graph_.tensor(id))}, loop);
  }

  void use_constant(TensorId id) {
    if (id == kNoTensor || graph_.tensor(id).constant == nullptr || storage_of(id) != kNoStorage) return;
    add(id, {Storage::Kind::constant, static_cast<std::uint32_t>(result_.constants.size())});
    result_.constants.push_back(id);
  }

  void add_results(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (node.op == Operator::loop) return begin_loop(n);
    if (node.op == Operator::end_loop) return end_loop(n);
    for (const TensorId output : node.outputs) {
      if (node.op == Operator::reshape) {
        result_.of_tensor[output] = storage_of(node.inputs[0]);
      } else if (node.in_place && node.op == Operator::slice) {
        add(output, {});
        make_part(storage_of(output), storage_of(node.inputs[0]), *slice_offset(graph_, node));
      } else {
        result_.of_tensor[output] = add_arena(output, loops_.of_node(n));
      }
    }
  }

  void count_reads() {
    reads_.assign(graph_.tensors.size(), 0);
    maker_.assign(graph_.tensors.size(), kNoNode);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const TensorId id : graph_.nodes[n].inputs)
        if (id != kNoTensor) ++reads_[id];
      for (const TensorId id : graph_.nodes[n].outputs) maker_[id] = n;
    }
    for (const TensorId id : graph_.outputs) ++reads_[id];
  }

  // Whether a branch may have its state where the first value is: nothing else reads that, or what lies there too.
  bool takes_over(std::size_t n, TensorId from) const {
    if (!runs_at_most_once(loop_of(graph_.nodes[n])) || reads_[from] != 1 || maker_[from] == kNoNode) return false;
    const Node& maker = graph_.nodes[maker_[from]];
    return result_.storages[storage_of(from)].kind == Storage::Kind::arena && !maker.in_place &&
           maker.op != Operator::reshape && maker.op != Operator::loop &&
           loops_.of_results(maker_[from]) == loops_.of_node(n);
  }

  // Copies the first values of the states to memory of their own, and finds or copies entries of the other tensors.
  void begin_loop(std::size_t n) {
    const Node& node = graph_.nodes[n];
    const std::size_t states = states_of(node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId from = node.inputs[i], to = node.outputs[i];
      if (i < states && takes_over(n, from)) {
        result_.of_tensor[to] = storage_of(from);
        loop_of_[storage_of(to)].reset();
        states_.insert(storage_of(to));
        continue;
      }
      if (i < states) {
        result_.of_tensor[to] = add_arena(to, {});
        states_.insert(storage_of(to));
        copy(n, storage_of(to), from);
        continue;
      }
      const std::uint32_t entry = add_entry(n, i - states, storage_of(from), to);
      if (loop_of(node).tensors[i - states].in_place) {
        result_.of_tensor[to] = entry;
        continue;
      }
      result_.of_tensor[to] = add_arena(to, loops_.bracketed_by(n));
      copy(n + 1, storage_of(to), entry, to);
    }
  }

  // Lets the nodes inside write entries where they lie in the whole tensors, or copies them there. Then copies the next
  // values of the states, but for those that the nodes of a branch write in their place.
  void end_loop(std::size_t n) {
    const Node& node = graph_.nodes[n];
    const std::size_t states = states_of(node), loop = loops_.bracketed_by(n);
    const std::vector<TensorId>& begins = graph_.nodes[loops_.all()[loop].begin].outputs;
    for (std::size_t s = 0; s < states; ++s) result_.of_tensor[node.outputs[s]] = storage_of(begins[s]);
    for (std::size_t i = states; i < node.inputs.size(); ++i) {
      const TensorId from = node.inputs[i], to = node.outputs[i];
      // In a loop, a whole tensor stays where it is: of what lies beside it other entries are copied.
      const bool is_outside = loops_.of_node(n) == kNoLoop;
      result_.of_tensor[to] = add_arena(to, is_outside ? std::optional(kNoLoop) : std::nullopt);
      if (loop_of(node).has_condition) copy(loops_.all()[loop].begin, storage_of(to), kNoStorage, to);
      const std::uint32_t place = add_entry(n, i - states, storage_of(to), from);
      Storage& storage = at(storage_of(from));
      const bool is_there = storage.kind == Storage::Kind::arena && loop_of_[storage_of(from)] == loop;
      if (is_there && loop_of(node).tensors[i - states].in_place)
        storage = at(place);
      else
        copy(n, place, from);
    }
    std::vector<std::uint32_t> next;
    for (std::size_t s = 0; s < states; ++s) next.push_back(keep_next_state(n, s, begins));
    for (std::size_t s = 0; s < states; ++s)
      if (next[s] != storage_of(begins[s])) copy(n, storage_of(begins[s]), next[s], begins[s]);
  }

  // Puts the next value of a state where it lasts until it is copied, and returns where that is: in place of the state
  // itself in a loop that runs once, and behind a copy if it is in memory of another state, which would be replaced.
  std::uint32_t keep_next_state(std::size_t n, std::size_t state, const std::vector<TensorId>& begins) {
    const TensorId id = graph_.nodes[n].inputs[state];
    const std::uint32_t next = storage_of(id);
    if (runs_at_most_once(loop_of(graph_.nodes[n])) && reads_[begins[state]] == 0 &&
        at(next).kind == Storage::Kind::arena && loop_of_[next] == loops_.bracketed_by(n)) {
      make_part(next, storage_of(begins[state]), 0);
      return storage_of(begins[state]);
    }
    const std::uint32_t whole = whole_of(result_.storages, next);
    if (!states_.contains(whole) || next == storage_of(begins[state])) return next;
    const std::uint32_t kept = add_arena(id, loops_.bracketed_by(n));
    copy(n, kept, id);
    return kept;
  }

  // Adds the entry of a tensor that an iteration reads or writes.
  std::uint32_t add_entry(std::size_t n, std::size_t tensor, std::uint32_t whole, TensorId entry) {
    const LoopAttributes& loop = loop_of(graph_.nodes[n]);
    const Size bytes = byte_count(graph_.tensor(entry));
    const bool is_backwards = loop.tensors[tensor].is_backwards;
    const std::uint32_t part = add({});
    make_part(part, whole, is_backwards ? (max(loop.count, 1) - 1) * bytes : Size(0));
    at(part).loop = static_cast<std::uint32_t>(loops_.bracketed_by(n));
    at(part).stride = to_manifest(is_backwards ? Size(0) - bytes : bytes, graph_.symbols);
    return part;
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

  void copy(std::size_t node, std::uint32_t to, TensorId from) { copy(node, to, storage_of(from), from); }
  void copy(std::size_t node, std::uint32_t to, std::uint32_t from, TensorId of) {
    result_.copies.push_back({node, {to, from, bytes_of(graph_, graph_.tensor(of))}});
  }

  // Whether all inputs are parts of one storage that lie there one behind the other. A state is no such storage: the
  // next value of a state may not lie in the memory of any.
  bool lie_together(const Node& concat, const std::vector<Size>& offsets) const {
    const std::uint32_t first = storage_of(concat.inputs[0]);
    if (states_.contains(whole_of(result_.storages, first))) return false;
    for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
      const std::uint32_t part = storage_of(concat.inputs[i]);
      if (result_.storages[part].kind != Storage::Kind::part || result_.storages[part].loop != Storage::kNoMove ||
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
      // The memory of what other iterations or no iteration writes may not move with the result.
      if (at(part).kind == Storage::Kind::arena && loop_of_[part] == loops_.of_node(n)) {
        make_part(part, whole, offsets[i]);
        continue;
      }
      const std::uint32_t place = add({});
      make_part(place, whole, offsets[i]);
      copy(n, place, concat.inputs[i]);
      result_.copies.back().is_of_concat = true;
    }
  }

  const Graph& graph_;
  const Loops loops_;
  TensorStorages result_;
  std::vector<Size> offsets_;  // where the storages that are parts begin
  // For each storage that may become a part of another one, the loop whose nodes write it.
  std::vector<std::optional<std::size_t>> loop_of_;
  std::set<std::uint32_t> states_;  // storages of the states of loops
  static constexpr std::size_t kNoNode = SIZE_MAX;
  std::vector<std::size_t> reads_;  // for each tensor, how often nodes and outputs read it
  std::vector<std::size_t> maker_;  // for each tensor, the node that computes it, or kNoNode
};

}  // namespace

TensorStorages assign_storages(const Graph& graph) { return Assignment(graph).run(); }

}  // namespace ferry::graph
