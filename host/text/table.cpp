#include "host/text/table.h"

namespace ferry::html {

Table::Table(Html& html, std::string_view caption, std::span<const std::string_view> columns)
    // A region that scrolls must be reachable with the keyboard and have a name.
    : wrapper_(html.open(
          "div", {{"class", "table"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", std::string(caption)}})),
      table_(html.open("table")) {
  html.element("caption", caption);
  const auto head = html.open("thead");
  const auto row = html.open("tr");
  for (const std::string_view column : columns) {
    const bool is_number = column.starts_with('#');
    html.element("th", is_number ? column.substr(1) : column,
                 {{"scope", "col"}, {"class", is_number ? "number" : "text"}});
  }
}

}  // namespace ferry::html
