// The end of a SELECT that finds a page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "farm/store/history.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Conditions that hold where the query states them, and their parameters.
class Filter {
 public:
  // `condition` has a ? in place of each parameter.
  template <class... Values>
  void add(const std::string& condition, const Values&... values) {
    text_ += parameters_.empty() ? " WHERE " : " AND ";
    (parameters_.push_back(sql_value(values)), ...);
    append(condition, parameters_.size() - sizeof...(values));
  }
  void end(const std::string& order, std::size_t limit) {
    parameters_.push_back(sql_value(std::min(limit, kMaxPage)));
    append(" ORDER BY " + order + " LIMIT ?", parameters_.size() - 1);
  }

  const std::string& text() const { return text_; }
  const std::vector<SqlValue>& parameters() const { return parameters_; }

 private:
  void append(const std::string& text, std::size_t parameter) {
    for (const char letter : text) {
      if (letter == '?') {
        text_ += '$' + std::to_string(++parameter);
      } else {
        text_ += letter;
      }
    }
  }

  std::string text_;
  std::vector<SqlValue> parameters_;
};

}  // namespace ferry::farm
