// Tests what `ferry tune --static` prints.
#include "host/cli/tune/ranking_text.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace ferry;

namespace {

tune::RankedPoint ranked(const std::string& value, double cycles, std::optional<double> code_cycles) {
  SpacePoint point{.text = "C: tile=" + value,
                   .knobs = {{.stage = "C", .name = "tile", .candidates = {value}}},
                   .points = 1,
                   .schedule = {}};
  return {cycles, code_cycles, point};
}

tune::StaticRanking ranking_of(std::optional<double> first, std::optional<double> by_default) {
  tune::StaticRanking ranking;
  ranking.function = "mm";
  ranking.target = "board";
  ranking.points = 3;
  ranking.estimated = 3;
  ranking.by_default = ranked("1x1", 2000, by_default);
  ranking.best = {ranked("4x2", 1500, first), ranked("2x2", 1000, {})};
  return ranking;
}

}  // namespace

TEST_CASE("a ranking by machine code has a column for it, and shares of the default by that column") {
  const std::string text = cli::ranking_text(ranking_of(1600, 4000));
  CHECK(text.find("by the cost model, the best of them by their machine code") != std::string::npos);
  CHECK(text.find("         cycles    by its code  of the default's  point\n") != std::string::npos);
  CHECK(text.find("          1,500          1,600              0.40  C: tile=4x2\n") != std::string::npos);
  CHECK(text.find("          1,000              -                 -  C: tile=2x2\n") != std::string::npos);
  CHECK(text.find("          2,000          4,000              1.00  (the default)\n") != std::string::npos);
}

TEST_CASE("a ranking without machine code says that the cost model alone decides") {
  const std::string text = cli::ranking_text(ranking_of({}, {}));
  CHECK(text.find("by the cost model alone") != std::string::npos);
  CHECK(text.find("by its code") == std::string::npos);
  CHECK(text.find("          1,500              0.75  C: tile=4x2\n") != std::string::npos);
  CHECK(text.find("          2,000              1.00  (the default)\n") != std::string::npos);
}

TEST_CASE("JSON of a ranking has the cycles of machine code where it was compiled") {
  const text::Json json = cli::ranking_json(ranking_of(1600, 4000));
  CHECK(json.at("default_cycles") == 2000);
  CHECK(json.at("default_code_cycles") == 4000);
  CHECK(json.at("best").at(0).at("cycles") == 1500);
  CHECK(json.at("best").at(0).at("share_of_default") == 0.75);
  CHECK(json.at("best").at(0).at("code_cycles") == 1600);
  CHECK(json.at("best").at(0).at("values") == text::Json::array({"4x2"}));
  CHECK_FALSE(json.at("best").at(1).contains("code_cycles"));
  CHECK_FALSE(cli::ranking_json(ranking_of({}, {})).contains("default_code_cycles"));
}
