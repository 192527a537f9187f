// Loops that a trip count, a condition or both bound. Those of more than a few iterations, and those whose condition or
// trip count the call computes, become loops of the network; otherwise the nodes of the body become nodes of the
// network, once for each iteration.
#include "host/graph/loops.h"

#include <algorithm>
#include <limits>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/iterations.h"

namespace ferry::graph::onnx {
namespace {

// A Loop with its inputs.
class LoopImport {
 public:
  explicit LoopImport(NodeImport& node) : node_(node), of_(node), body_(node.body("body")) {
    for (std::size_t i = 2; i < node.input_count(); ++i) states_.push_back(node.input(i));
    node.expect(body_.outputs.size() >= states_.size() + 1,
                "a body that gives the condition and each value of the state",
                [&] { return std::to_string(body_.outputs.size()) + " outputs"; });
    scanned_ = body_.outputs.size() - states_.size() - 1;
  }

  void run() {
    if (node_.has_input(0)) read_trip_count();
    const std::optional<std::int64_t> first = node_.has_input(1) ? known_number(node_.input(1)) : 1;
    if (first == 0) {
      given_ = 0;
      computed_.reset();
    }
    if (first && !computed_) {
      node_.expect(given_.has_value() || node_.has_input(1), "a trip count or a condition", [] { return "neither"; });
      if (given_ && !node_.is_unrolled(*given_) && repeat(*given_)) return;
      const bool may_unroll = !given_ || given_->constant();
      if (may_unroll && unroll(given_ ? *given_->constant() : std::numeric_limits<std::int64_t>::max())) return;
    }
    repeat_while();
  }

 private:
  static constexpr std::int64_t kEndless = std::int64_t{1} << 48;

  void read_trip_count() {
    const Value& count = node_.input(0);
    const std::optional<Size> known = known_size(count);
    if (!known || node_.depends_on_data(*known))
      computed_ = scalar(count, DType::i64, "the trip count");
    else
      // A loop without iterations gives its state, and tensors without entries.
      given_ = proves_less(-1, *known) ? *known : max(*known, 0);
    // Exporters write the greatest integer where only a condition ends a loop. No call runs so many iterations.
    if (given_ && given_->constant().value_or(0) > kEndless) given_ = kEndless;
  }

  Value scalar(const Value& value, DType type, const std::string& what) const {
    node_.expect(value.type.dtype == type && element_count(value.type.shape).constant() == 1,
                 what + " as one " + dtype_name(type), [&] { return to_text(value.type); });
    return of_.reshape(value, {});
  }

  std::vector<Value> iterate(const Value& iteration, const std::vector<Value>& states) const {
    std::vector<Value> inputs = {iteration, node_.constant(DType::boolean, 1)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    return node_.import_body(body_, inputs);
  }

  // Returns whether the loop goes on behind an iteration with these outputs; nothing if the call computes that. A loop
  // that is given no condition ignores those of its body.
  std::optional<bool> continues(const std::vector<Value>& outputs) const {
    if (!node_.has_input(1)) return true;
    const std::optional<std::int64_t> condition = known_number(outputs[0]);
    return condition ? std::optional(*condition != 0) : std::nullopt;
  }

  // Appends what an iteration gives besides the condition and the states.
  void add_entries(const std::vector<Value>& outputs, LoopResults& results) const {
    for (std::size_t i = 0; i < scanned_; ++i)
      if (has_output(i)) results.entries.push_back({outputs[1 + states_.size() + i]});
  }

  // Returns false, and adds nothing, unless the condition holds in all iterations.
  bool repeat(const Size& count) {
    bool is_conditional = false;
    const GraphBuilder::Mark mark = node_.mark();
    std::optional<std::vector<Value>> results;
    try {
      results = node_.try_loop(count, states_, {{of_.iota(count)}},
                               [&](const std::vector<Value>& states, const std::vector<Value>& entries) {
                                 const std::vector<Value> outputs = iterate(entries[0], states);
                                 is_conditional = continues(outputs) != true;
                                 if (is_conditional) node_.refuse("a condition that holds in all iterations");
                                 const auto first = outputs.begin() + 1;
                                 LoopResults all{{first, first + static_cast<std::ptrdiff_t>(states.size())}, {}};
                                 add_entries(outputs, all);
                                 return all;
                               });
    } catch (const NodeRefusal&) {
      if (!is_conditional) throw;
    }
    if (!results) {
      node_.roll_back(mark);
      return false;
    }
    for (std::size_t s = 0; s < states_.size(); ++s) node_.output(s, (*results)[s]);
    std::size_t next = states_.size();
    for (std::size_t i = 0; i < scanned_; ++i)
      if (has_output(i)) node_.output(states_.size() + i, (*results)[next++]);
    return true;
  }

  // Returns false, and adds nothing, if the call computes a condition.
  bool unroll(std::int64_t count) {
    const GraphBuilder::Mark mark = node_.mark();
    std::vector<Value> states = states_;
    std::vector<std::vector<Value>> scanned(scanned_);
    bool runs = true;
    for (std::int64_t i = 0; i < count && runs; ++i) {
      const std::vector<Value> outputs = iterate(of_.size(i), states);
      // The condition of the last iteration is not needed.
      const std::optional<bool> continued = i + 1 < count ? continues(outputs) : false;
      if (!continued) {
        node_.roll_back(mark);
        return false;
      }
      runs = *continued;
      std::copy_n(outputs.begin() + 1, states.size(), states.begin());
      collect(node_, states.size(), scanned, outputs);
    }
    for (std::size_t s = 0; s < states.size(); ++s) node_.output(s, states[s]);
    for (std::size_t i = 0; i < scanned_; ++i) {
      if (!has_output(i)) continue;
      for (Value& value : scanned[i]) value = with_dimension(of_, value, 0);
      node_.output(states.size() + i, of_.concat(scanned[i], 0));
    }
    return true;
  }

  // Returns the most iterations there may be, of each of which the results need room.
  Size bound() const {
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    bool needs_room = false;
    for (std::size_t i = 0; i < scanned_; ++i) needs_room |= has_output(i);
    if (needs_room)
      node_.expect(given_ && given_->constant().value_or(0) <= kMost,
                   "a trip count, of at most " + std::to_string(kMost) +
                       ", that is known when the network is imported: it bounds what a loop that a condition ends "
                       "gives of all of its iterations",
                   [&] {
                     if (given_) return to_text(*known_size(node_.input(0)));
                     return computed_ ? "the computed tensor '" + node_.input(0).name + "'" : std::string("none");
                   });
    return given_.value_or(kUnbounded);
  }

  // Adds a loop whose first states are the condition and the number of iterations that ran.
  void repeat_while() {
    const Size most = bound();
    const auto first_condition = [&] {
      const Value condition = node_.has_input(1) ? scalar(node_.input(1), DType::boolean, "the condition")
                                                 : node_.constant(DType::boolean, 1);
      return computed_ ? of_.logical_and(condition, of_.less(0, *computed_)) : condition;
    };
    std::vector<Value> first = {first_condition(), of_.size(0)};
    first.insert(first.end(), states_.begin(), states_.end());
    const std::vector<Value> results =
        node_.add_loop({most, true}, first, {}, [&](const std::vector<Value>& states, const std::vector<Value>&) {
          const std::vector<Value> outputs = iterate(states[1], {states.begin() + 2, states.end()});
          const Value count = of_.add(states[1], 1);
          Value condition = node_.has_input(1) ? scalar(outputs[0], DType::boolean, "the condition")
                                               : node_.constant(DType::boolean, 1);
          if (computed_) condition = of_.logical_and(condition, of_.less(count, *computed_));
          LoopResults all{{condition, count}, {}};
          all.states.insert(all.states.end(), outputs.begin() + 1,
                            outputs.begin() + 1 + static_cast<std::ptrdiff_t>(states_.size()));
          add_entries(outputs, all);
          return all;
        });
    for (std::size_t s = 0; s < states_.size(); ++s) node_.output(s, results[2 + s]);
    std::size_t next = first.size();
    for (std::size_t i = 0; i < scanned_; ++i) {
      if (!has_output(i)) continue;
      const Size count = node_.data_size(results[1], most);
      node_.output(states_.size() + i, node_.with_data_size(results[next++], 0, count));
    }
  }

  bool has_output(std::size_t scanned) const { return node_.has_output(states_.size() + scanned); }

  NodeImport& node_;
  const NodeOps of_;
  const ModelGraph& body_;
  std::vector<Value> states_;
  std::size_t scanned_ = 0;  // number of values that each iteration appends to an output
  // The trip count, at least 0: known, or a scalar that the call computes. Without either, conditions end the loop.
  std::optional<Size> given_;
  std::optional<Value> computed_;
};

}  // namespace

void import_loop(NodeImport& node) { LoopImport(node).run(); }

}  // namespace ferry::graph::onnx
