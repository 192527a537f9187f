// Elements that the gate's HTML pages have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/gate/report/words.h"
#include "host/text/html.h"
#include "host/text/report_page.h"

namespace ferry::gate {

// Returns a page that needs and runs nothing else, with what `body` writes below the heading.
std::string write_page(const std::string& title, const std::string& heading, const std::string& footer,
                       const std::function<void(html::Html&)>& body);

// The class of the style sheet.
const char* style_of(Severity severity);
// The verdict as a word, with a mark that is visible without colours.
void write_verdict(html::Html& html, Verdict verdict);

// A table whose rows have a head and cells. Columns in which no row says anything are left out, as are their heads.
class FactTable {
 public:
  // The first column is that of the heads.
  explicit FactTable(std::vector<std::string_view> columns) : columns_(std::move(columns)) {}

  struct Cell {
    Cell(std::string shown) : text(std::move(shown)) {}
    Cell(const char* shown) : text(shown) {}
    // Writes something else than the text, which only says whether there is anything.
    Cell(std::string shown, std::function<void(html::Html&)> writer)
        : text(std::move(shown)), write(std::move(writer)) {}
    std::string text;
    std::function<void(html::Html&)> write = {};
  };
  // One for each column.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  void write(html::Html& html, std::string_view caption) const;

 private:
  std::vector<std::string_view> columns_;
  std::vector<std::vector<Cell>> rows_;
};

using html::write_fact;

}  // namespace ferry::gate
