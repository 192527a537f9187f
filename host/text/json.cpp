#include "host/text/json.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ferry::text {

namespace {

std::string plain_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

class Writer {
 public:
  std::string take() { return std::move(text_); }

  // `used` is what stands on the line already.
  void write(const Json& json, std::size_t depth, std::size_t used) {
    if (json.is_object() && !json.empty()) {
      write_object(json, depth);
    } else if (json.is_array() && !json.empty()) {
      write_array(json, depth, used);
    } else {
      text_ += plain_text(json);
    }
  }

 private:
  void new_line(std::size_t depth) { text_ += "\n" + std::string(2 * depth, ' '); }

  void write_object(const Json& object, std::size_t depth) {
    const char* before = "{";
    for (const auto& [name, value] : object.items()) {
      text_ += before;
      before = ",";
      new_line(depth + 1);
      const std::string key = plain_text(name) + ": ";
      text_ += key;
      write(value, depth + 1, 2 * (depth + 1) + key.size());
    }
    new_line(depth);
    text_ += "}";
  }

  void write_array(const Json& array, std::size_t depth, std::size_t used) {
    if (std::ranges::any_of(array, [](const Json& entry) { return entry.is_structured(); })) {
      write_entries(array, depth);
      return;
    }
    std::vector<std::string> entries;
    std::size_t width = used + 2;
    for (const Json& entry : array) {
      entries.push_back(plain_text(entry));
      width += entries.back().size() + 2;
    }
    // The last entry has no ", ", and a comma may follow the list.
    if (width - 1 <= kJsonWidth) {
      write_line(entries);
    } else if (std::ranges::none_of(array, [](const Json& entry) { return entry.is_string(); })) {
      write_filled(entries, depth);
    } else {
      write_entries(array, depth);
    }
  }

  void write_line(const std::vector<std::string>& entries) {
    const char* before = "[";
    for (const std::string& entry : entries) {
      text_ += before + entry;
      before = ", ";
    }
    text_ += "]";
  }

  void write_filled(const std::vector<std::string>& entries, std::size_t depth) {
    text_ += "[";
    std::size_t used = kJsonWidth;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string entry = entries[i] + (i + 1 < entries.size() ? "," : "");
      if (used + 1 + entry.size() > kJsonWidth) {
        new_line(depth + 1);
        used = 2 * (depth + 1);
      } else {
        text_ += ' ';
        ++used;
      }
      text_ += entry;
      used += entry.size();
    }
    new_line(depth);
    text_ += "]";
  }

  void write_entries(const Json& array, std::size_t depth) {
    const char* before = "[";
    for (const Json& entry : array) {
      text_ += before;
      before = ",";
      new_line(depth + 1);
      write(entry, depth + 1, 2 * (depth + 1));
    }
    new_line(depth);
    text_ += "]";
  }

  std::string text_;
};

}  // namespace

std::string json_text(const Json& json) {
  Writer writer;
  writer.write(json, 0, 0);
  return writer.take();
}

void print_json(const Json& json) { printf("%s\n", json_text(json).c_str()); }

}  // namespace ferry::text
