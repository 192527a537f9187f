#include "host/cli/tune/live_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ferry;
using cli::live_lines;

namespace {

using Lines = std::vector<std::string>;

tune::Progress begun() {
  tune::Progress progress;
  progress.seconds = 4;
  progress.points = 4608;
  progress.trials = {{tune::Outcome::measured, 30}, {tune::Outcome::wrong, 2}, {tune::Outcome::too_slow, 8}};
  return progress;
}

}  // namespace

TEST_CASE("the live table says how many points were tried, how fast, and what failed") {
  CHECK(live_lines(begun(), 60, 100) == Lines{"4.00 s of 60.0 s, 40 of 4,608 points, 10.0/s, 2 wrong, 8 too slow"});
  CHECK(live_lines(begun(), 0, 100)[0].starts_with("4.00 s, 40 of"));
}

TEST_CASE("the live table shows the best against the default, and what runs now") {
  tune::Progress progress = begun();
  progress.default_seconds = 2e-3;
  progress.best_seconds = 1.6e-3;
  progress.best_point = "C: tile=4x2\nC: order=rows\n";
  progress.trying = "C: tile=7x2\n";
  const Lines lines = live_lines(progress, 60, 100);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "default  2.00 ms");
  CHECK(lines[2] == "best     1.60 ms, 1.25 times as fast  C: tile=4x2; C: order=rows");
  CHECK(lines[3] == "trying   C: tile=7x2");
}

TEST_CASE("the live table shows which share of the device's peak the best reaches, if that is known") {
  tune::Progress progress = begun();
  progress.best_seconds = 2e-3;
  // 50 GFLOP/s of 200.
  progress.roofline = bench::Roofline{1e8, 1e6, {200e9, 10e9}};
  CHECK(live_lines(progress, 60, 100)[1] == "best     2.00 ms, 25% of peak  ");
  // A copy would take 1.6 ms.
  progress.roofline = bench::Roofline{1e6, 16e6, {200e9, 10e9}};
  progress.default_seconds = 4e-3;
  CHECK(live_lines(progress, 60, 100)[2] == "best     2.00 ms, 2.00 times as fast, 80% of a copy's rate  ");
  progress.best_seconds = 0;
  CHECK(live_lines(progress, 60, 100).size() == 2);
}

TEST_CASE("each line of the live table fits into a row of the terminal") {
  tune::Progress progress = begun();
  progress.trying = std::string(300, 'x') + "\033[2J";
  for (const std::size_t columns : {1U, 4U, 5U, 40U, 80U}) {
    for (const std::string& line : live_lines(progress, 60, columns)) {
      CHECK(line.size() <= std::max<std::size_t>(columns, 3));
      CHECK(line.find('\033') == std::string::npos);
    }
  }
}
