// Pages that report what a command has found: they need and run nothing else.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/text/html.h"

namespace ferry::html {

struct PageTexts {
  std::string title;    // the window's
  std::string command;  // it wrote the page: "ferry gate"
  std::string heading;
  std::string footer;
};

// Returns a page with what `body` writes below the heading.
std::string write_page(const PageTexts& texts, const std::function<void(Html&)>& body);

// An entry of a list of facts, an element dl of the class "facts"; writes nothing where the value is empty.
void write_fact(Html& html, std::string_view name, std::string_view value);

// A paragraph; several lines stand below each other as a compiler wrote them, whose marks stand below what they are
// about. `name` is that of the region that they are then.
void write_lines(Html& html, const std::string& text, const std::string& name);

}  // namespace ferry::html
