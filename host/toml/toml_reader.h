// Reads the values of a TOML table, each at most once, and remembers the first thing that is wrong with it.
#pragma once

#include <toml++/toml.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ferry {

class TomlReader {
 public:
  // `name` is that of the table in messages: "boards.pi-3"; empty: the whole file.
  TomlReader(const std::string& path, std::string name, const toml::table& table)
      : path_(path), name_(std::move(name)), table_(table) {}

  // Each leaves `value` alone if the key is missing or its value is refused.
  void read(const char* key, bool& value);
  void read(const char* key, std::int64_t least, std::int64_t most, std::int64_t& value);
  void read(const char* key, std::size_t most_bytes, std::string& value);
  void read(const char* key, double least, double most, double& value);
  // A list of 1 to most_texts texts, of which the first is not empty.
  void read(const char* key, std::size_t most_texts, std::size_t most_bytes, std::vector<std::string>& value);
  // Texts by name.
  void read(const char* key, std::size_t most_texts, std::size_t most_bytes, std::map<std::string, std::string>& value);
  // The same list, or one text.
  void read_one_or_more(const char* key, std::size_t most_texts, std::size_t most_bytes,
                        std::vector<std::string>& value);
  // A text or a whole number, which `parse` accepts by returning true; `expected` is for messages: "a time such as
  // 3ms".
  void read(const char* key, const std::string& expected, const std::function<bool(const std::string&)>& parse);
  // Null if the key is missing or is no table.
  const toml::table* table(const char* key);

  // Refuses a value that was read; nothing happens if the key is missing.
  void refuse(const char* key, const std::string& why);
  void refuse_value(const toml::node& node, const std::string& key, const std::string& why);

  // Takes over a failure of a table in this one.
  void refuse(const Status& failure);

  const std::string& path() const { return path_; }

  // The first failure; a key that was not read is one as well.
  Status finish();

 private:
  const toml::node* find(const char* key);
  std::string full_name(std::string_view key) const;
  std::optional<std::string> text_of(const toml::node& node, const std::string& key, std::size_t most_bytes,
                                     bool may_be_empty);

  const std::string& path_;
  const std::string name_;
  const toml::table& table_;
  std::vector<std::string> known_;
  Status failure_;
};

}  // namespace ferry
