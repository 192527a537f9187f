// Writes what all pages share: the head, the navigation, the footer and the small forms with which people act.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "farm/protocol/queries.h"
#include "host/text/html.h"
#include "host/text/table.h"

namespace ferry::farm::http {

// Who looks at a page.
struct Viewer {
  std::string holder;  // empty: nobody is logged in
  wire::Role role = wire::Role::viewer;
  std::string csrf;   // the value that the viewer's forms repeat
  std::string alert;  // shown on top of the page; empty: nothing
};

// Writes a whole page; `path` says which entry of the navigation is the current one.
std::string write_page(const Viewer& viewer, std::string_view title, std::string_view path,
                       const std::function<void(html::Html&)>& body);

// Names of hidden fields and their values.
using HiddenFields = std::vector<std::pair<std::string, std::string>>;
// A form that consists of one button.
void write_button(html::Html& html, const Viewer& viewer, const std::string& action, const HiddenFields& fields,
                  std::string_view label, const std::string& description);

// A field for a line of text, behind its label.
void write_text_field(html::Html& html, const std::string& name, std::string_view label, const std::string& value);

using html::Table;
// The head of a row: a link unless `href` is empty.
void write_row_head(html::Html& html, std::string_view text, const std::string& href);
void write_cell(html::Html& html, std::string_view text);
// Cells of numbers, which are aligned at their ends.
void write_number(html::Html& html, std::string_view text);
void write_time(html::Html& html, std::uint64_t milliseconds);
void write_link(html::Html& html, std::string_view text, const std::string& href);
// The state of a board. Its shape and text tell states apart, not colour alone.
void write_state(html::Html& html, std::string_view state);
// A link to the next page of a listing.
void write_more(html::Html& html, const std::string& href);
// Instead of a listing that could not be had.
void write_failure(html::Html& html, std::string_view message);

// Links of pages.
std::string board_link(std::string_view name);

}  // namespace ferry::farm::http
