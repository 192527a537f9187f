// What 'ferry farm' lists: as a table with the columns that a command names, or as JSON with all fields of the records.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "farm/cli/farm_options.h"
#include "farm/json/pages.h"
#include "host/text/columns.h"

namespace ferry::cli {

struct ListedColumn {
  const char* title;
  const char* field;
};

// A listing comes in pages, of which no farm has more.
inline constexpr int kMostPages = 1000;

// Asks for page after page and prints them, `limit` records at most. `change(record, fields)` may change the fields
// that are shown, and leaves a record out by returning false. `none` is what people read where there is no record.
// Throws Error.
template <class Query, class Change>
int print_listing(const FarmOptions& options, const Query& query, const std::vector<ListedColumn>& columns,
                  const std::string& none, std::size_t limit, const Change& change) {
  farm::FarmClient client = connect_farm(options);
  text::Json entries = text::Json::array();
  text::Rows rows(1);
  for (const ListedColumn& column : columns) rows.front().emplace_back(column.title);
  std::optional<Query> next = query;
  for (int i = 0; next && entries.size() < limit && i < kMostPages; ++i) {
    const auto page = value_or_throw(client.ask(*next));
    for (const auto& record : farm::elements_of(page)) {
      std::vector<farm::ShownField> fields = farm::shown_fields(record);
      if (entries.size() == limit || !change(record, fields)) continue;
      entries.push_back(farm::to_json(fields));
      rows.emplace_back();
      for (const ListedColumn& column : columns) rows.back().push_back(farm::field_of(fields, column.field).cell);
    }
    next = farm::next_page(*next, page);
  }
  if (options.json) {
    text::print_json({{"schema", farm::schema_of<Query>()}, {farm::list_name<Query>(), entries}});
  } else if (entries.empty()) {
    printf("%s\n", none.c_str());
  } else {
    text::print_columns(rows);
  }
  return kExitFine;
}

template <class Query>
int print_listing(const FarmOptions& options, const Query& query, const std::vector<ListedColumn>& columns,
                  const std::string& none, std::size_t limit = SIZE_MAX) {
  return print_listing(options, query, columns, none, limit, [](const auto&, const auto&) { return true; });
}

}  // namespace ferry::cli
