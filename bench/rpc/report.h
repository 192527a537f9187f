// The table that the benchmark prints, also available as JSON.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace ferry::bench {

class Report {
 public:
  void row(const std::string& what, const std::string& result, const std::string& goal, bool met,
           const nlohmann::json& figures) {
    std::cout << "| " << what << " | " << result << " | " << goal << " | " << (met ? "yes" : "**no**") << " |\n"
              << std::flush;
    json_.push_back({{"what", what}, {"goal", goal}, {"met", met}, {"figures", figures}});
  }
  const nlohmann::json& json() const { return json_; }

 private:
  nlohmann::json json_ = nlohmann::json::array();
};

}  // namespace ferry::bench
