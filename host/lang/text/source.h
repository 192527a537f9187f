// A source text and errors that refer to it.
#pragma once

#include "crosscompile/ir/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace ferry::lang {

// Borrows the text.
class Source {
 public:
  Source(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::string_view text() const { return text_; }
  const std::string& file() const { return file_; }

  // Formats file:line:column, the message, the line and a caret under the location.
  CompileError error(std::size_t offset, const std::string& message) const;
  // "3:24"
  std::string place(std::size_t offset) const;

  // Runs `action`; a CompileError without a location gets this one.
  template <class Action>
  auto at(std::size_t offset, const Action& action) const {
    try {
      return action();
    } catch (const CompileError& mistake) {
      if (mistake.location().is_known()) throw;
      throw error(offset, mistake.what());
    }
  }

 private:
  std::string_view text_;
  std::string file_;
};

}  // namespace ferry::lang
