// Shows the farm's records by their lists of fields (base/fields.h): as JSON, the same on the command line and over
// HTTP (docs/json.md), and as cells of tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "farm/protocol/queries.h"
#include "host/text/json.h"

namespace ferry::farm {

struct ShownField {
  std::string name;
  text::Json json;
  std::string cell;
};

// The visitor of a record's fields.
class FieldWriter {
 public:
  explicit FieldWriter(std::vector<ShownField>& into) : into_(into) {}

  template <std::integral T>
  void operator()(std::string_view name, const T& value) const {
    if constexpr (std::same_as<T, bool>) {
      add_flag(name, value);
    } else {
      add(name, value, std::to_string(value));
    }
  }
  void operator()(std::string_view name, const std::string& text, fields::Text) const { add_text(name, text); }
  void operator()(std::string_view name, const std::vector<std::string>& texts, fields::Texts) const;
  void operator()(std::string_view name, std::uint64_t id, fields::Id) const;
  void operator()(std::string_view name, const secure::KeyBytes& key, fields::Bytes) const;
  void operator()(std::string_view name, const std::vector<wire::Label>& labels, fields::Labels) const;
  template <std::integral T>
  void operator()(std::string_view name, const T& value, fields::Quantity kind) const {
    add_quantity(name, static_cast<double>(value), kind);
  }
  template <std::integral T>
  void operator()(std::string_view name, const std::optional<T>& value, fields::Quantity kind) const {
    add_quantity(name, value ? std::optional(static_cast<double>(*value)) : std::nullopt, kind);
  }
  template <class E, const auto& kWords>
  void operator()(std::string_view name, const E& value, fields::Worded<kWords>) const {
    add_text(name, std::string(word_of(kWords, value)));
  }
  template <class T, class Kind>
  void operator()(std::string_view name, const T& value, fields::Added<Kind> added) const {
    (*this)(name, value, added.kind);
  }
  // The fields of a struct stand beside the others.
  template <HasFields T>
  void operator()(std::string_view, const T& record, fields::Nested) const {
    T::visit_fields(record, *this);
  }
  template <HasFields T>
  void operator()(std::string_view name, const std::vector<T>& records, fields::NestedList) const;

 private:
  void add(std::string_view name, text::Json json, std::string cell) const;
  void add_text(std::string_view name, const std::string& text) const;
  void add_flag(std::string_view name, bool flag) const;
  void add_quantity(std::string_view name, std::optional<double> value, fields::Quantity kind) const;

  std::vector<ShownField>& into_;
};

// Changes what follows from several fields, or adds it.
inline void complete_fields(const auto&, std::vector<ShownField>&) {}
void complete_fields(const wire::HistoryListing& lease, std::vector<ShownField>& fields);
void complete_fields(const wire::CredentialListing& credential, std::vector<ShownField>& fields);

template <HasFields T>
std::vector<ShownField> shown_fields(const T& record) {
  std::vector<ShownField> fields;
  T::visit_fields(record, FieldWriter(fields));
  complete_fields(record, fields);
  return fields;
}

// Returns the field with this name, which there is.
ShownField& field_of(std::vector<ShownField>& fields, std::string_view name);

text::Json to_json(const std::vector<ShownField>& fields);
template <HasFields T>
text::Json to_json(const T& record) {
  return to_json(shown_fields(record));
}

template <HasFields T>
void FieldWriter::operator()(std::string_view name, const std::vector<T>& records, fields::NestedList) const {
  text::Json list = text::Json::array();
  for (const T& record : records) list.push_back(to_json(record));
  add(name, std::move(list), "");
}

}  // namespace ferry::farm
