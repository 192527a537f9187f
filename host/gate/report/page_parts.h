// Elements that all parts of the HTML page use.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "host/gate/report/words.h"
#include "host/html/html.h"

namespace ferry::gate {

// The class of the style sheet.
const char* style_of(Severity severity);
// The verdict as a word, with a mark that is visible without colours.
void write_verdict(html::Html& html, Verdict verdict);

// An entry of a list of facts; writes nothing where the value is empty.
void write_fact(html::Html& html, std::string_view name, std::string_view value);

// An open table with its head, in a region that scrolls, which the keyboard reaches.
class Table {
 public:
  Table(html::Html& html, std::string_view caption, std::initializer_list<std::string_view> columns);

 private:
  html::Html::Scope wrapper_, table_;
};

}  // namespace ferry::gate
