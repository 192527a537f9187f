#include "host/tune/report/roofline_chart.h"

#include "base/quantity_text.h"
#include "host/text/plane.h"

#include <algorithm>
#include <string>

namespace ferry::tune {

namespace {

using namespace chart;
using bench::Roofline;

constexpr double kRoofHeight = 340;
// How far the plane reaches beyond what it shows, as a ratio: marks and the parts of the roof have names beside them.
constexpr double kAround = 4, kAbove = 1.6, kBelow = 4;

struct Reached {
  double by_default = 0, best = 0;  // operations a second
};

Plane write_roof_plane(html::Html& html, const Roofline& roofline, const Reached& reached) {
  const double ridge = roofline.peak.flops / roofline.peak.bytes, intensity = roofline.intensity();
  const auto [slowest, fastest] = std::minmax({reached.by_default, reached.best, roofline.attainable()});
  const Axis x{std::min(ridge, intensity) / kAround, std::max(ridge, intensity) * kAround, 0, 1, Scale::logarithmic};
  const Axis y{slowest / kBelow, std::max(fastest, roofline.peak.flops) * kAbove, 0, 1, Scale::logarithmic};
  return write_plane(html, kRoofHeight, x,
                     {"Arithmetic intensity: operations for each byte of the tensors", count_labels}, y,
                     {"Operations a second", flop_rate_labels});
}

void write_roof(html::Html& html, const Plane& plane, const Roofline& roofline) {
  const double ridge = roofline.peak.flops / roofline.peak.bytes;
  const double begin = std::max(plane.x.low, plane.y.low / roofline.peak.bytes);
  const auto x = [&](double intensity) { return plane.x.place(intensity); };
  const auto y = [&](double flops) { return plane.y.place(flops); };
  const double top = y(roofline.peak.flops);
  write_line(html, "level", x(begin), y(begin * roofline.peak.bytes), x(ridge), top);
  write_line(html, "level", x(ridge), top, x(plane.x.high), top);
  write_line(html, "tolerance", x(roofline.intensity()), y(plane.y.low), x(roofline.intensity()),
             y(roofline.attainable()));
  write_text(html, rate_text(roofline.peak.flops, "FLOP/s"), x(plane.x.high), top - 8, "end");
  // Above the slope no mark can be, but there may be no room for a text.
  constexpr double kRoom = 120;
  const double middle = (x(begin) + x(ridge)) / 2;
  const bool is_above = middle - plane.x.from > kRoom;
  write_text(html, rate_text(roofline.peak.bytes, "B/s"), is_above ? middle - 10 : middle + 10,
             (y(begin * roofline.peak.bytes) + top) / 2 + (is_above ? 0 : 14), is_above ? "end" : "start");
}

void mark_share(html::Html& html, double x, double y, double share, bool is_best) {
  const auto group = html.open("g", {{"class", is_best ? "current" : "baseline"}});
  html.element("path", "", {{"class", "dots"}, {"d", is_best ? diamond(x, y) : circle(x, y)}});
  // One below the other, so that close ones can be read; to the left the roof may be in the way.
  const std::string text = (is_best ? "best " : "default ") + percent_text(share);
  write_text(html, text, x + 9, is_best ? y : y + 14, "start", "name over");
}

}  // namespace

void write_roofline(html::Html& html, const Tuned& tuned) {
  const TuneRecord& best = tuned.best;
  if (!best.time || !best.default_time) return;
  html.element("h2", "The roofline");
  if (!tuned.progress.roofline) {
    html.element("p",
                 "The device's peaks are not known: they are measured on CPUs, for kernels of floats whose operations "
                 "can be counted.");
    return;
  }
  const Roofline& roofline = *tuned.progress.roofline;
  const double share = roofline.share(best.time->seconds), by_default = roofline.share(best.default_time->seconds);
  const Reached reached{roofline.flops / best.default_time->seconds, roofline.flops / best.time->seconds};
  std::string summary = "The best schedule reaches " + rate_text(reached.best, "FLOP/s") + ", " + percent_text(share) +
                        " of what is possible under the roof, and the default " + percent_text(by_default) + "; " +
                        (roofline.is_limited_by_memory() ? "memory" : "arithmetic") + " is the limit.";
  if (std::max(share, by_default) > bench::kMostOfPeak)
    summary +=
        " More than all of it means that a peak was measured too low, or that only parts of the tensors are used.";
  const std::string details = " The roof is what multiply-adds of " + std::string(dtype_name(roofline.peak_dtype)) +
                              " and a copy as large as the tensors reach on this device, measured before the search. "
                              "Each tensor counts once.";
  write_figure(html, kRoofHeight,
               {"roofline", "Operations a second by arithmetic intensity", summary, summary + details}, [&] {
                 const Plane plane = write_roof_plane(html, roofline, reached);
                 write_roof(html, plane, roofline);
                 const double x = plane.x.place(roofline.intensity());
                 mark_share(html, x, plane.y.place(reached.by_default), by_default, false);
                 mark_share(html, x, plane.y.place(reached.best), share, true);
               });
}

}  // namespace ferry::tune
