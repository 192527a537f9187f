#include "host/toml/toml_reader.h"

#include <algorithm>

#include "base/format.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "host/toml/toml_file.h"

namespace ferry {
namespace {

// What stands there, in the words of TOML.
std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::none: return "nothing";
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return std::to_string(*node.value_exact<std::int64_t>());
    case toml::node_type::floating_point: return format("%g", *node.value_exact<double>());
    case toml::node_type::boolean: return *node.value_exact<bool>() ? "true" : "false";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time";
    case toml::node_type::date_time: return "a date and time";
  }
  return "something else";
}

constexpr std::size_t kMaxShown = 64;

std::string shown(std::string_view text) { return printable(text.substr(0, kMaxShown)); }

}  // namespace

std::string TomlReader::full_name(std::string_view key) const {
  return name_.empty() ? shown(key) : name_ + "." + shown(key);
}

const toml::node* TomlReader::find(const char* key) {
  known_.emplace_back(key);
  return table_.get(key);
}

void TomlReader::refuse_value(const toml::node& node, const std::string& key, const std::string& why) {
  if (failure_.is_ok()) failure_ = toml_failure(path_, node.source(), full_name(key) + ": " + why);
}

void TomlReader::refuse(const char* key, const std::string& why) {
  if (const toml::node* node = table_.get(key)) refuse_value(*node, key, why);
}

void TomlReader::refuse(const Status& failure) {
  if (failure_.is_ok()) failure_ = failure;
}

std::optional<std::string> TomlReader::text_of(const toml::node& node, const std::string& key, std::size_t most_bytes,
                                               bool may_be_empty) {
  const auto text = node.value_exact<std::string>();
  if (!text) {
    refuse_value(node, key, "expected a string, got " + kind_of(node));
  } else if (text->size() > most_bytes || (text->empty() && !may_be_empty)) {
    refuse_value(
        node, key,
        format("expected %s%zu bytes, got %zu", may_be_empty ? "at most " : "1 to ", most_bytes, text->size()));
  } else if (text->find('\0') != std::string::npos) {
    refuse_value(node, key, "expected a string without NUL");
  } else {
    return text;
  }
  return std::nullopt;
}

void TomlReader::read(const char* key, bool& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (const auto flag = node->value_exact<bool>()) {
    value = *flag;
  } else {
    refuse_value(*node, key, "expected true or false, got " + kind_of(*node));
  }
}

void TomlReader::read(const char* key, std::int64_t least, std::int64_t most, std::int64_t& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto number = node->value_exact<std::int64_t>();
  if (number && *number >= least && *number <= most) {
    value = *number;
  } else {
    refuse_value(*node, key,
                 format("expected a whole number from %lld to %lld, got %s", static_cast<long long>(least),
                        static_cast<long long>(most), kind_of(*node).c_str()));
  }
}

void TomlReader::read(const char* key, double least, double most, double& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto number = node->is_number() ? node->value<double>() : std::nullopt;
  if (number && *number >= least && *number <= most) {
    value = *number;
  } else {
    refuse_value(*node, key, format("expected a number from %g to %g, got %s", least, most, kind_of(*node).c_str()));
  }
}

void TomlReader::read(const char* key, const std::string& expected,
                      const std::function<bool(const std::string&)>& parse) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  std::string got = kind_of(*node);
  const auto text = node->value_exact<std::string>();
  if (text) got = "'" + shown(*text) + "'";
  if ((!text && !node->is_integer()) || !parse(text ? *text : got))
    refuse_value(*node, key, "expected " + expected + ", got " + got);
}

void TomlReader::read(const char* key, std::size_t most_bytes, std::string& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (auto text = text_of(*node, key, most_bytes, false)) value = std::move(*text);
}

void TomlReader::read(const char* key, std::size_t most_texts, std::size_t most_bytes,
                      std::vector<std::string>& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr)
    return refuse_value(*node, key, "expected an array of strings, as in [\"a\", \"b\"], got " + kind_of(*node));
  if (array->empty() || array->size() > most_texts)
    return refuse_value(*node, key, format("expected 1 to %zu strings, got %zu", most_texts, array->size()));
  std::vector<std::string> texts;
  for (const toml::node& one : *array) {
    auto text = text_of(one, key, most_bytes, !texts.empty());
    if (!text) return;
    texts.push_back(std::move(*text));
  }
  value = std::move(texts);
}

void TomlReader::read_one_or_more(const char* key, std::size_t most_texts, std::size_t most_bytes,
                                  std::vector<std::string>& value) {
  const toml::node* node = table_.get(key);
  if (node == nullptr || !node->is_string()) return read(key, most_texts, most_bytes, value);
  std::string text;
  read(key, most_bytes, text);
  if (!text.empty()) value = {std::move(text)};
}

void TomlReader::read(const char* key, std::size_t most_texts, std::size_t most_bytes,
                      std::map<std::string, std::string>& value) {
  const toml::table* texts = table(key);
  if (texts == nullptr) return;
  if (texts->size() > most_texts)
    return refuse(key, format("expected at most %zu of them, got %zu", most_texts, texts->size()));
  for (const auto& [name, node] : *texts) {
    const std::string where = std::string(key) + "." + std::string(name.str());
    const auto text = text_of(node, where, most_bytes, true);
    if (!text) return;
    value[std::string(name.str())] = *text;
  }
}

const toml::table* TomlReader::table(const char* key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (const toml::table* table = node->as_table()) return table;
  refuse_value(*node, key, "expected a table, got " + kind_of(*node));
  return nullptr;
}

Status TomlReader::finish() {
  if (!failure_.is_ok()) return failure_;
  for (const auto& [key, value] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    const auto nearest = nearest_names(key.str(), known_, 1);
    return toml_failure(path_, key.source(),
                        "unknown key '" + full_name(key.str()) + "'; the nearest that is known is '" +
                            full_name(nearest.front()) + "'");
  }
  return {};
}

}  // namespace ferry
