// Reads requests to the farm by their lists of fields (base/fields.h): the first one from the path, if that names a
// board or a lease, the others from the parameters of a GET or the JSON of a POST. They have the names and units of
// docs/json.md. Fails with invalid_argument, which names the field.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "farm/protocol/queries.h"
#include "farm/web/pages/url.h"

namespace ferry::farm::http {

// The visitor of a record's fields. After a failure it does nothing more.
class FieldReader {
 public:
  // Parameters that no field has are ignored; fields of a body that no record has are refused.
  explicit FieldReader(const Parameters& parameters);
  explicit FieldReader(std::string_view body);

  // The next field that is read is this one.
  void put_first(const std::string& argument) { argument_ = &argument; }

  void operator()(std::string_view name, bool& flag);
  template <std::unsigned_integral T>
  void operator()(std::string_view name, T& number) {
    number = static_cast<T>(read_number(name, std::numeric_limits<T>::max()));
  }
  void operator()(std::string_view name, std::string& text, fields::Text kind);
  void operator()(std::string_view name, std::uint64_t& id, fields::Id);
  void operator()(std::string_view name, std::uint64_t& number, fields::Quantity kind);
  void operator()(std::string_view name, std::vector<wire::Label>& labels, fields::Labels kind);
  template <class E, const auto& kWords>
  void operator()(std::string_view name, E& value, fields::Worded<kWords>) {
    std::string word;
    (*this)(name, word, wire::kName);
    if (!status_.is_ok()) return;
    std::string expected;
    for (const auto& [text, one] : kWords) {
      if (text == word) {
        value = one;
        return;
      }
      expected += (expected.empty() ? "" : ", ") + std::string(text);
    }
    refuse_word(name, expected, word);
  }

  // The first failure. Requires that all fields were read.
  Status end() const;

 private:
  // Takes the field out of the object; a discarded value if it is not there.
  nlohmann::json take(std::string_view name);
  std::uint64_t read_number(std::string_view name, std::uint64_t most);
  void expect_object();
  void fail(const std::string& message);
  void refuse(std::string_view name, const std::string& what);
  void refuse_word(std::string_view name, const std::string& expected, const std::string& got);
  void refuse_type(std::string_view name, const char* expected, const nlohmann::json& value);
  void check_text(std::string_view name, const std::string& text, std::size_t most);

  nlohmann::json object_;
  bool is_body_;
  const std::string* argument_ = nullptr;
  Status status_;
};

template <HasFields T, class Source>
Result<T> read_record(const Source& source, const std::vector<std::string>& arguments) {
  FieldReader reader(source);
  if (!arguments.empty()) reader.put_first(arguments.front());
  T record{};
  T::visit_fields(record, reader);
  FERRY_TRY(reader.end());
  return record;
}

// An enumerator from a field of a form.
template <class E, const auto& kWords>
Result<E> read_word(std::string_view name, const std::string& word, fields::Worded<kWords> kind) {
  FieldReader reader(Parameters{{std::string(name), word}});
  E value{};
  reader(name, value, kind);
  FERRY_TRY(reader.end());
  return value;
}

}  // namespace ferry::farm::http
