#include "host/graph/onnx/input_values.h"

#include <cctype>
#include <set>

#include "base/printable.h"
#include "base/suggest.h"
#include "ferry/error.h"
#include "host/graph/onnx/labels.h"

namespace ferry::graph::onnx {
namespace {

// A network's dimensions are far smaller; products of eight of them still fit 64 bits with room.
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 40;

std::string quoted_input(const ValueInfo& input) { return "input '" + printable(input.name) + "'"; }

class Inputs {
 public:
  Inputs(const Model& model, const ImportOptions& options)
      : model_(model), options_(options), labels_(labels_of_inputs(model)) {
    name_symbols();
  }

  void run(GraphBuilder& builder, Scope& scope) {
    from_zero_.insert(builder.graph.from_zero.begin(), builder.graph.from_zero.end());
    expect_known_names();
    for (const ValueInfo& input : model_.inputs) bind(input);
    for (const auto& [symbol, value] : options_.sizes) fix(symbol, value, "the options");
    for (const ValueInfo& input : model_.inputs) {
      const auto bound = options_.bindings.find(input.name);
      if (bound != options_.bindings.end()) {
        scope.set(input.name, constant_value(input.name, bound->second));
        continue;
      }
      // An initializer that is listed among the inputs is what a caller that gives no other gets.
      if (model_.initializers.contains(input.name)) continue;
      const TensorType type = type_of_input(input);
      Value value = {type, add_input(builder.graph, input.name, type), {}, {}, input.name};
      if (const auto labels = labels_.find(input.name); labels != labels_.end()) {
        value.labels = labels->second;
        builder.graph.input_labels[builder.graph.inputs.size() - 1] = labels->second;
      }
      scope.set(input.name, std::move(value));
    }
  }

 private:
  void expect_known_names() const {
    std::set<std::string> inputs;
    for (const ValueInfo& input : model_.inputs) inputs.insert(input.name);
    for (const auto& [name, constant] : options_.bindings) {
      if (inputs.contains(name)) continue;
      throw UsageError(unknown_name("input", name, {inputs.begin(), inputs.end()}));
    }
    std::set<std::string> symbols;
    for (const auto& [open, symbol] : symbols_) symbols.insert(symbol);
    for (const auto& [name, size] : options_.sizes) {
      if (!symbols.contains(name)) throw UsageError(unknown_name("size", name, {symbols.begin(), symbols.end()}));
    }
  }

  // Names an open size as the model does, or else by where it stands.
  static std::string open_size(const ValueInfo& input, std::size_t d) {
    const std::string& name = (*input.shape)[d].name;
    return name.empty() ? input.name + "\n\n" + std::to_string(d) : name;
  }

  // Chooses a different identifier for each open size.
  void name_symbols() {
    std::set<std::string> used;
    for (const ValueInfo& input : model_.inputs) {
      for (std::size_t d = 0; input.shape && d < input.shape->size(); ++d) {
        const Dimension& dimension = (*input.shape)[d];
        if (dimension.value || symbols_.contains(open_size(input, d))) continue;
        const std::string wanted = dimension.name.empty() ? input.name + "_" + std::to_string(d) : dimension.name;
        const std::string name = identifier(wanted);
        std::string symbol = name;
        for (int i = 2; !used.insert(symbol).second; ++i) symbol = name + "_" + std::to_string(i);
        symbols_[open_size(input, d)] = symbol;
      }
    }
  }

  static std::string identifier(std::string text) {
    for (char& letter : text) {
      if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
    }
    return std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? "_" + text : text;
  }

  std::string symbol_of(const ValueInfo& input, std::size_t d) const { return symbols_.at(open_size(input, d)); }

  void fix(const std::string& symbol, std::int64_t size, const std::string& by) {
    const auto [known, is_new] = sizes_.emplace(symbol, size);
    if (!is_new && known->second != size) {
      throw UsageError("expected one value of the size '" + printable(symbol) + "', got " +
                       std::to_string(known->second) + ", and " + std::to_string(size) + " from " + by);
    }
  }

  // Learns the sizes of an input that is bound to a constant.
  void bind(const ValueInfo& input) {
    const auto bound = options_.bindings.find(input.name);
    if (bound == options_.bindings.end()) return;
    const Constant& constant = bound->second;
    if (input.dtype && constant.dtype != *input.dtype) {
      throw UsageError(quoted_input(input) + ": expected a tensor of " + dtype_name(*input.dtype) + ", got " +
                       dtype_name(constant.dtype));
    }
    if (!input.shape) return;
    const std::string got = to_text(Shape(constant.shape.begin(), constant.shape.end()));
    if (input.shape->size() != constant.shape.size()) {
      throw UsageError(quoted_input(input) + ": expected a tensor of rank " + std::to_string(input.shape->size()) +
                       ", got " + got);
    }
    for (std::size_t d = 0; d < constant.shape.size(); ++d) {
      const Dimension& dimension = (*input.shape)[d];
      if (dimension.value && *dimension.value != constant.shape[d]) {
        throw UsageError(quoted_input(input) + ": expected " + std::to_string(*dimension.value) + " as size " +
                         std::to_string(d) + ", got " + got);
      }
      if (!dimension.value) fix(symbol_of(input, d), constant.shape[d], quoted_input(input));
    }
  }

  TensorType type_of_input(const ValueInfo& input) const {
    const bool has_texts = labels_.contains(input.name);
    if (!input.dtype && !has_texts) {
      throw UsageError(quoted_input(input) + ": expected a tensor of a type that ferry has, got " + input.type_name);
    }
    if (!input.shape) {
      throw UsageError(quoted_input(input) + ": expected a shape, of which single sizes may be open, got none");
    }
    TensorType type = {has_texts ? DType::i64 : *input.dtype, {}};
    for (std::size_t d = 0; d < input.shape->size(); ++d) type.shape.push_back(size_of(input, d));
    return type;
  }

  Size size_of(const ValueInfo& input, std::size_t d) const {
    std::optional<std::int64_t> value = (*input.shape)[d].value;
    const std::string symbol = value ? "" : symbol_of(input, d);
    const auto known = sizes_.find(symbol);
    if (!value && known != sizes_.end()) value = known->second;
    if (value && (*value < 0 || *value > kMaxDimension)) {
      throw UsageError(quoted_input(input) + ": expected sizes from 0 to 2^40, got " + std::to_string(*value));
    }
    return value ? Size(*value) : Size::symbol(symbol, from_zero_.contains(symbol));
  }

  const Model& model_;
  const ImportOptions& options_;
  std::map<std::string, std::shared_ptr<const Labels>> labels_;  // for inputs that are texts
  std::map<std::string, std::string> symbols_;                   // the symbols of open sizes, by name
  std::map<std::string, std::int64_t> sizes_;                    // the values of symbols
  std::set<std::string> from_zero_;                              // the symbols that may be 0
};

}  // namespace

void input_values(const Model& model, const ImportOptions& options, GraphBuilder& builder, Scope& scope) {
  Inputs(model, options).run(builder, scope);
}

}  // namespace ferry::graph::onnx
