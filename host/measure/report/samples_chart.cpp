#include "host/measure/report/samples_chart.h"

#include <algorithm>
#include <vector>

#include "base/quantity_text.h"
#include "host/text/chart.h"

namespace ferry::bench {

namespace {

using namespace chart;

// In units of the view box.
constexpr double kSamplesHeight = 300, kSamplesBottom = kSamplesHeight - kBottom, kHistogramWidth = 130, kGap = 12;
constexpr std::size_t kBins = 24, kMostMarks = 4000;

struct SamplesChart {
  const Measurement& report;
  const std::vector<double>& seconds;
  Axis times;
  std::size_t step;  // every so many samples one is drawn
};

void write_level(html::Html& html, const SamplesChart& chart, double left, double right) {
  const stats::Interval interval = chart.report.interval();
  if (interval.is_known()) {
    const double top = chart.times.place(interval.high), bottom = chart.times.place(interval.low);
    html.element("rect", "",
                 {{"class", "within"},
                  {"x", coordinate(left)},
                  {"y", coordinate(top)},
                  {"width", coordinate(right - left)},
                  {"height", coordinate(std::max(bottom - top, 1.0))}});
  }
  const double median = chart.times.place(chart.report.timing.median());
  write_line(html, "level", left, median, right, median);
}

void write_histogram(html::Html& html, const SamplesChart& chart, double left) {
  std::vector<std::size_t> counts(kBins);
  const Axis bins{chart.times.low, chart.times.high, 0, kBins};
  for (const double time : chart.seconds) ++counts[std::min(static_cast<std::size_t>(bins.place(time)), kBins - 1)];
  const Axis widths{0, static_cast<double>(std::ranges::max(counts)), 0, kHistogramWidth};
  const double height = (kSamplesBottom - kTop) / kBins;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (counts[bin] == 0) continue;
    html.element("rect", "",
                 {{"class", "course"},
                  {"x", coordinate(left)},
                  {"y", coordinate(kSamplesBottom - static_cast<double>(bin + 1) * height + 0.5)},
                  {"width", coordinate(widths.place(static_cast<double>(counts[bin])))},
                  {"height", coordinate(height - 1)}});
  }
}

void draw_samples(html::Html& html, const SamplesChart& chart) {
  const double right = kWidth - kRight - kHistogramWidth - kGap;
  const double left = write_vertical_axis(html, chart.times, time_labels, kWidth - kRight);
  write_level(html, chart, left, kWidth - kRight);
  write_histogram(html, chart, right + kGap);
  const auto count = static_cast<double>(chart.seconds.size());
  const Axis order{0.5, count + 0.5, left, right};
  std::string marks;
  for (std::size_t i = 0; i < chart.seconds.size(); i += chart.step)
    marks += circle(order.place(static_cast<double>(i + 1)), chart.times.place(chart.seconds[i]));
  const auto group = html.open("g", {{"class", "series-0"}});
  html.element("path", "", {{"class", "dots"}, {"d", marks}});
  write_text(html, "sample 1", left, kSamplesHeight - 8, "start");
  if (count > 1) write_text(html, "sample " + std::to_string(chart.seconds.size()), right, kSamplesHeight - 8, "end");
}

}  // namespace

void write_samples_chart(html::Html& html, const Measurement& report, const std::string& id) {
  const std::vector<double>& seconds = report.timing.seconds;
  if (seconds.empty()) return;
  const SamplesChart chart{report, seconds, axis_around(seconds, kSamplesBottom, kTop),
                           (seconds.size() + kMostMarks - 1) / kMostMarks};
  const auto [least, most] = std::ranges::minmax(seconds);
  const std::string description = count_text(seconds.size()) + " samples from " + seconds_text(least) + " to " +
                                  seconds_text(most) + ", median " + seconds_text(report.timing.median()) + ".";
  const auto beyond = static_cast<std::uint64_t>(
      std::ranges::count_if(seconds, [&](double time) { return time < chart.times.low || time > chart.times.high; }));
  std::string caption = description +
                        " Each mark is a sample, in the order in which they were taken; the bars at the right show how "
                        "often times occur. The line is the median, the band its 95% interval.";
  if (chart.step > 1) caption += " One of " + std::to_string(chart.step) + " samples has a mark.";
  if (beyond > 0) caption += " Marks at the edge: " + count_text(beyond) + " further away.";
  write_figure(html, kSamplesHeight, {id, "Samples of " + bench::name_of(report), description, caption},
               [&] { draw_samples(html, chart); });
}

}  // namespace ferry::bench
