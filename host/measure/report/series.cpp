#include "host/measure/report/series.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/quantity_text.h"

namespace ferry::bench {

namespace {

struct Key {
  std::string name;
  bool is_device = false;
};

std::string choice_of(const Measurement& report, const Key& key) {
  if (key.is_device) return report.device;
  if (const auto knob = report.knobs.find(key.name); knob != report.knobs.end()) return knob->second;
  for (const auto& [name, size] : report.function.sizes)
    if (name == key.name) return std::to_string(size);
  return "";
}

std::vector<std::string> distinct_values(const std::vector<Measurement>& reports, const Key& key) {
  std::vector<std::string> values;
  for (const Measurement& report : reports) {
    std::string value = choice_of(report, key);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Returns the numbers; nothing if one of the values is none.
std::optional<std::vector<double>> numbers_of(const std::vector<std::string>& values) {
  std::vector<double> numbers;
  for (const std::string& value : values) {
    const std::optional<double> number = number_of(value);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::string series_name(const Measurement& report, const std::vector<Key>& others) {
  std::vector<std::string> parts;
  for (const Key& key : others)
    parts.push_back(key.is_device ? choice_of(report, key) : key.name + "=" + choice_of(report, key));
  return join(", ", parts);
}

Variable variable_of(const std::vector<Measurement>& reports, const Key& key, const std::vector<Key>& others) {
  Variable variable{key.name, false, key.is_device, distinct_values(reports, key)};
  // A device may have a number as its name.
  const std::optional<std::vector<double>> numbers = key.is_device ? std::nullopt : numbers_of(variable.values);
  variable.is_number = numbers.has_value();
  if (numbers)
    std::ranges::stable_sort(variable.values, {}, [](const std::string& value) { return *number_of(value); });
  for (std::size_t i = 0; i < variable.values.size(); ++i)
    variable.places.push_back(numbers ? *number_of(variable.values[i]) : static_cast<double>(i));
  for (const Measurement& report : reports) {
    const std::string name = series_name(report, others);
    auto series = std::ranges::find(variable.series, name, &Series::name);
    if (series == variable.series.end()) series = variable.series.insert(series, Series{name});
    const auto value = std::ranges::find(variable.values, choice_of(report, key)) - variable.values.begin();
    series->points.push_back({variable.places[static_cast<std::size_t>(value)], &report});
  }
  for (Series& series : variable.series) std::ranges::stable_sort(series.points, {}, &SeriesPoint::place);
  return variable;
}

}  // namespace

std::vector<Variable> variables_of(const std::vector<Measurement>& reports, const std::vector<std::string>& swept) {
  std::vector<Key> keys;
  for (const std::string& name : swept) keys.push_back({name});
  keys.push_back({"device", true});
  std::erase_if(keys, [&](const Key& key) { return distinct_values(reports, key).size() < 2; });
  std::vector<Variable> variables;
  for (const Key& key : keys) {
    if (key.is_device && !variables.empty()) continue;
    std::vector<Key> others;
    for (const Key& other : keys)
      if (&other != &key) others.push_back(other);
    variables.push_back(variable_of(reports, key, others));
  }
  return variables;
}

}  // namespace ferry::bench
