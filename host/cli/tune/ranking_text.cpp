#include "host/cli/tune/ranking_text.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/tune/trial_text.h"
#include "host/tune/report/tune_sections.h"

namespace ferry::cli {

namespace {

std::string cycles_text(double cycles) { return count_text(static_cast<std::uint64_t>(std::llround(cycles))); }

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

}  // namespace

std::string ranking_text(const tune::StaticRanking& ranking) {
  std::string text = ranking.function + ": " + count_text(ranking.estimated) + " of " + count_text(ranking.points) +
                     " points in " + seconds_text(ranking.seconds) +
                     " by the cost model alone; cycles are a rough figure, their order is what counts\n";
  text += padded("cycles", 15) + "  of the default's  point\n";
  for (const auto& [cycles, point] : ranking.best)
    text += padded(cycles_text(cycles), 15) + padded(fixed_text(cycles / ranking.default_cycles, 2), 18) + "  " +
            tune::point_line(point.text) + "\n";
  return text + padded(cycles_text(ranking.default_cycles), 15) + padded("1.00", 18) + "  (the default)\n";
}

text::Json ranking_json(const tune::StaticRanking& ranking) {
  text::Json best = text::Json::array();
  for (const auto& [cycles, point] : ranking.best)
    best.push_back({{"point", point.text},
                    {"values", values_in_order(point)},
                    {"cycles", cycles},
                    {"share_of_default", cycles / ranking.default_cycles}});
  return {{"schema", "ferry.ranking/1"},
          {"function", ranking.function},
          {"sizes", ranking.sizes},
          {"target", ranking.target},
          {"points", ranking.points},
          {"estimated", ranking.estimated},
          {"seconds", ranking.seconds},
          {"default_cycles", ranking.default_cycles},
          {"best", best}};
}

}  // namespace ferry::cli
