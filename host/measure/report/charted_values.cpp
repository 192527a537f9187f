#include "host/measure/report/charted_values.h"

#include <cmath>
#include <utility>

#include "base/quantity_text.h"

namespace ferry::bench {

namespace {

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

std::string quantity_text(double value, Charted charted) {
  switch (charted) {
    case Charted::seconds: return seconds_text(value);
    case Charted::flops: return rate_text(value, "FLOP/s");
    case Charted::bytes: return rate_text(value, "B/s");
  }
  return "";
}

}  // namespace

const ChartedWords& words_of(Charted charted) {
  static constexpr ChartedWords kSeconds = {"Time", "Median time", "", chart::time_labels};
  static constexpr ChartedWords kFlops = {"Speed", "Operations a second", "measured with multiply-adds",
                                          chart::flop_rate_labels};
  static constexpr ChartedWords kBytes = {"Memory rate", "Bytes read and written a second",
                                          "measured with a copy as large as the tensors", chart::byte_rate_labels};
  switch (charted) {
    case Charted::seconds: break;
    case Charted::flops: return kFlops;
    case Charted::bytes: return kBytes;
  }
  return kSeconds;
}

std::optional<ChartedValue> value_of(const Measurement& report, Charted charted) {
  const double work = charted == Charted::flops ? report.flops : report.bytes, median = report.timing.median();
  const auto of_time = [&](double seconds) { return charted == Charted::seconds ? seconds : work / seconds; };
  const double value = of_time(median);
  if (!is_positive(median) || !is_positive(value)) return std::nullopt;
  const stats::Interval interval = report.interval();
  ChartedValue found{value, of_time(interval.low), of_time(interval.high)};
  if (charted != Charted::seconds) std::swap(found.low, found.high);
  if (!is_positive(found.low) || !is_positive(found.high)) found.low = found.high = value;
  return found;
}

double peak_of(const Measurement& report, Charted charted) {
  switch (charted) {
    case Charted::seconds: break;
    case Charted::flops: return report.peak.flops;
    case Charted::bytes: return report.peak.bytes;
  }
  return 0;
}

std::string text_of(const ChartedValue& value, Charted charted) {
  const std::string text = quantity_text(value.value, charted);
  if (value.low == value.high) return text;
  return text + " [" + quantity_text(value.low, charted) + ", " + quantity_text(value.high, charted) + "]";
}

}  // namespace ferry::bench
