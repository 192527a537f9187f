#include "host/cli/tune/ranking_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/tune/trial_text.h"
#include "host/tune/report/tune_sections.h"

namespace ferry::cli {

namespace {

using tune::RankedPoint;

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string cycles_text(std::optional<double> cycles) {
  return padded(cycles ? count_text(static_cast<std::uint64_t>(std::llround(*cycles))) : "-", 15);
}

std::string share_text(std::optional<double> share) { return padded(share ? fixed_text(*share, 2) : "-", 18); }

// Returns the point's part of the default's cycles, by the figure that decides on the order.
std::optional<double> share_of_default(const RankedPoint& one, const RankedPoint& by_default) {
  if (!by_default.code_cycles) return one.cycles / by_default.cycles;
  if (!one.code_cycles) return std::nullopt;
  return *one.code_cycles / *by_default.code_cycles;
}

}  // namespace

std::string ranking_text(const tune::StaticRanking& ranking) {
  const bool has_code = ranking.by_default.code_cycles.has_value();
  std::string text = ranking.function + ": " + count_text(ranking.estimated) + " of " + count_text(ranking.points) +
                     " points in " + seconds_text(ranking.seconds) + " by the cost model" +
                     (has_code ? ", the best of them by their machine code; " : " alone; ") +
                     "cycles are a rough figure, their order is what counts\n";
  text += padded("cycles", 15) + (has_code ? padded("by its code", 15) : "") + "  of the default's  point\n";
  const auto row = [&](const RankedPoint& one, const std::string& name) {
    text += cycles_text(one.cycles) + (has_code ? cycles_text(one.code_cycles) : "") +
            share_text(share_of_default(one, ranking.by_default)) + "  " + name + "\n";
  };
  for (const RankedPoint& one : ranking.best) row(one, tune::point_line(one.point.text));
  row(ranking.by_default, "(the default)");
  return text;
}

text::Json ranking_json(const tune::StaticRanking& ranking) {
  text::Json best = text::Json::array();
  for (const RankedPoint& one : ranking.best) {
    text::Json& point = best.emplace_back(text::Json{{"point", one.point.text},
                                                     {"values", values_in_order(one.point)},
                                                     {"cycles", one.cycles},
                                                     {"share_of_default", one.cycles / ranking.by_default.cycles}});
    if (one.code_cycles) point["code_cycles"] = *one.code_cycles;
  }
  text::Json json = {{"schema", "ferry.ranking/1"},
                     {"function", ranking.function},
                     {"sizes", ranking.sizes},
                     {"target", ranking.target},
                     {"points", ranking.points},
                     {"estimated", ranking.estimated},
                     {"seconds", ranking.seconds},
                     {"default_cycles", ranking.by_default.cycles},
                     {"best", best}};
  if (ranking.by_default.code_cycles) json["default_code_cycles"] = *ranking.by_default.code_cycles;
  return json;
}

}  // namespace ferry::cli
