// A table that scrolls in a region of its own where it is wider than the page.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "host/text/html.h"

namespace ferry::html {

// An open table with its head, in a region that the keyboard reaches. Names of columns of numbers begin with '#', which
// is not shown; their heads have the class "number", others "text". The region has the class "table".
class Table {
 public:
  Table(Html& html, std::string_view caption, std::span<const std::string_view> columns);
  Table(Html& html, std::string_view caption, std::initializer_list<std::string_view> columns)
      : Table(html, caption, std::span(columns.begin(), columns.size())) {}

 private:
  Html::Scope wrapper_, table_;
};

}  // namespace ferry::html
