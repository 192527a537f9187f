// Operators of ai.onnx.ml that map labels to others.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/ml.h"

namespace ferry::graph::onnx {
namespace {

// Keys or values of a map: one of the kinds.
struct Entries {
  std::vector<std::string> texts = {};
  std::vector<std::int64_t> integers = {};
  std::vector<double> reals = {};
  DType dtype = DType::f32;  // the type of the reals

  std::size_t count() const { return std::max({texts.size(), integers.size(), reals.size()}); }
};

// Reads NAME_strings, NAME_int64s, NAME_floats or NAME_tensor.
Entries read_entries(NodeImport& node, const std::string& name) {
  Entries entries{node.texts(name + "_strings"), node.integers(name + "_int64s", std::vector<std::int64_t>()),
                  node.reals(name + "_floats")};
  const auto* tensor = std::get_if<Constant>(node.attribute(name + "_tensor"));
  if (tensor != nullptr && tensor->texts != nullptr) entries.texts = *tensor->texts;
  if (tensor == nullptr || tensor->texts != nullptr) return entries;
  if (tensor->data != nullptr && is_float(tensor->dtype)) {
    entries.reals = ml::reals_of(node, name + "_tensor", *tensor);
    entries.dtype = tensor->dtype;
    return entries;
  }
  const KnownRef known = tensor->data == nullptr ? nullptr : known_of(tensor->dtype, *tensor->data);
  node.expect(known != nullptr, "the attribute '" + name + "_tensor' with at most 1024 numbers or texts",
              [] { return "others"; });
  for (const Size& size : known->integers) entries.integers.push_back(size.constant().value_or(0));
  return entries;
}

// Returns the entries with the one for what is no key behind them.
Entries with_default(NodeImport& node, Entries values) {
  const auto* tensor = std::get_if<Constant>(node.attribute("default_tensor"));
  node.ignore({"default_string", "default_int64", "default_float"});
  if (!values.texts.empty()) {
    const bool has_text = tensor != nullptr && tensor->texts != nullptr && !tensor->texts->empty();
    values.texts.push_back(has_text ? tensor->texts->front() : node.text("default_string", "_Unused"));
  } else if (!values.integers.empty()) {
    const KnownRef known =
        tensor == nullptr || tensor->data == nullptr ? nullptr : known_of(tensor->dtype, *tensor->data);
    const bool has_number = known != nullptr && known->integers.size() == 1;
    values.integers.push_back(has_number ? known->integers[0].constant().value_or(-1)
                                         : node.integer("default_int64", -1));
  } else {
    const bool has_number = tensor != nullptr && tensor->data != nullptr && is_float(tensor->dtype);
    const std::vector<double> reals =
        has_number ? ml::reals_of(node, "default_tensor", *tensor) : std::vector{node.real("default_float", -0.0)};
    values.reals.push_back(reals.empty() ? -0.0 : reals[0]);
  }
  return values;
}

// Returns the values at indices: numbers, or the indices with the texts that they stand for.
Value values_at(const NodeImport& node, const Entries& values, const Value& indices) {
  const NodeOps of(node);
  if (!values.texts.empty()) {
    Value labelled = indices;
    labelled.labels = std::make_shared<const Labels>(Labels{values.texts});
    return labelled;
  }
  const auto count = static_cast<std::int64_t>(values.count());
  return of.gather(values.integers.empty() ? ml::floats(node, values.dtype, {count}, values.reals)
                                           : ml::integers(node, values.integers),
                   indices, 0);
}

// Returns the index of the key that each number equals, and the number of keys where it equals none. From opset 4 on a
// NaN equals NaN.
Value find_numbers(const NodeImport& node, const Entries& keys, const Value& x) {
  const NodeOps of(node);
  const auto count = static_cast<std::int64_t>(keys.count());
  const bool are_integers = !keys.integers.empty();
  const DType dtype = are_integers ? DType::i64 : x.type.dtype == DType::f64 ? DType::f64 : DType::f32;
  Shape shape = x.type.shape;
  const std::size_t last = shape.size();
  shape.emplace_back(1);
  const Value wanted = of.reshape(node.cast(x, dtype), shape);
  const Value all = are_integers ? ml::integers(node, keys.integers) : ml::floats(node, dtype, {count}, keys.reals);
  Value is_key = of.equal(wanted, all);
  constexpr std::int64_t kWithNan = 4;
  if (node.opset() >= kWithNan && std::ranges::any_of(keys.reals, [](double key) { return std::isnan(key); }))
    is_key = of.logical_or(
        is_key, of.logical_and(of.logical_not(of.equal(wanted, wanted)), of.logical_not(of.equal(all, all))));
  const Value found = node.cast(is_key, DType::i32);
  const Value first = of.reduce(Operator::arg_max, found, {last}, false);
  const Value is_found = of.less(0, of.reduce(Operator::reduce_max, found, {last}, false));
  return of.where(is_found, first, of.size(count));
}

void output_mapped(NodeImport& node, const Entries& keys, Entries values) {
  const Value& x = node.input(0);
  node.expect(keys.count() > 0 && keys.count() == values.count(), "as many keys as values",
              [&] { return std::to_string(keys.count()) + " and " + std::to_string(values.count()); });
  const bool has_texts = x.labels != nullptr && !x.labels->are_columns;
  node.expect(has_texts == !keys.texts.empty(), has_texts ? "keys that are texts" : "keys that are numbers",
              [&] { return has_texts ? "numbers" : "texts; give the network the indices instead"; });
  const Value found = has_texts ? ml::places_of_texts(node, keys.texts, x) : find_numbers(node, keys, x);
  node.output(0, values_at(node, with_default(node, std::move(values)), found));
}

}  // namespace

// Before opset 2 it maps between texts and their indices.
void import_label_encoder(NodeImport& node) {
  if (node.opset() >= 2) {
    const Entries keys = read_entries(node, "keys");
    return output_mapped(node, keys, read_entries(node, "values"));
  }
  Entries texts{node.texts("classes_strings")}, indices;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) indices.integers.push_back(static_cast<std::int64_t>(i));
  if (node.input(0).labels != nullptr) return output_mapped(node, texts, std::move(indices));
  output_mapped(node, indices, std::move(texts));
}

void import_category_mapper(NodeImport& node) {
  Entries texts{node.texts("cats_strings")}, numbers;
  numbers.integers = node.integers("cats_int64s");
  if (node.input(0).labels != nullptr) return output_mapped(node, texts, std::move(numbers));
  output_mapped(node, numbers, std::move(texts));
}

// A list of maps from classes to scores: ferry has the scores as a tensor with a column for each class.
void import_zip_map(NodeImport& node) {
  Value scores = node.input(0);
  Labels labels{node.texts("classlabels_strings"), true};
  for (const std::int64_t label : node.integers("classlabels_int64s", std::vector<std::int64_t>()))
    labels.texts.push_back(std::to_string(label));
  scores.labels = std::make_shared<const Labels>(std::move(labels));
  node.output(0, scores);
}

}  // namespace ferry::graph::onnx
