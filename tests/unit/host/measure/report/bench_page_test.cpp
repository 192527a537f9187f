#include "host/measure/report/bench_page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/host/measure/report/sample_results.h"

using namespace ferry;
using bench::BenchPage;
using bench::Change;
using bench::Measurement;
using test::result;

namespace {

const std::vector<std::optional<Change>> kNoChanges;

std::string page_of(const std::vector<Measurement>& reports, const std::vector<std::string>& swept = {}) {
  BenchPage page{reports, kNoChanges};
  page.swept = swept;
  page.kernel = "add.tc";
  page.seed = 7;
  page.version = "1.2";
  return bench::bench_page(page);
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

std::size_t count(const std::string& page, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

// A time that is proportional to the size, on each of the devices.
std::vector<Measurement> powers_of_two(const std::vector<std::string>& devices) {
  std::vector<Measurement> all;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (int e = 8; e <= 24; e += 4) {
      const std::int64_t n = std::int64_t{1} << e;
      all.push_back(result(devices[d], {{"N", n}}, static_cast<double>((d + 1) * n) * 1e-9));
      all.back().flops = static_cast<double>(n);
      all.back().peak = {4e9, 8e9};
    }
  }
  return all;
}

// Returns where the points of a curve lie, of the first path with this class after `from`.
std::vector<std::pair<double, double>> points_of(const std::string& page, std::size_t from,
                                                 const std::string& style = "curve") {
  const std::string before = "class=\"" + style + "\" d=\"";
  const std::size_t start = page.find(before, from);
  REQUIRE(start != std::string::npos);
  const std::size_t path = start + before.size();
  const std::string text = page.substr(path, page.find('"', path) - path);
  std::vector<std::pair<double, double>> points;
  const std::regex point("[ML]([0-9.]+) ([0-9.]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), point); at != std::sregex_iterator(); ++at)
    points.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  return points;
}

}  // namespace

TEST_CASE("the page of a sweep over sizes has times and speeds on logarithmic axes, with labels of powers of two") {
  const std::string page = page_of(powers_of_two({"pi"}), {"N"});
  CHECK(has(page, "<title>Times of add</title>"));
  CHECK(has(page, "<h2>Time by N</h2>"));
  CHECK(has(page, "<h2>Speed by N</h2>"));
  CHECK(has(page, "Both axes are logarithmic."));
  for (const std::string label :
       {">2^8<", ">2^12<", ">2^16<", ">2^20<", ">2^24<", ">1 us<", ">10 ms<", "GFLOP/s</text>"}) {
    CAPTURE(label);
    CHECK(has(page, label));
  }
  // One line needs no legend.
  CHECK_FALSE(has(page, "class=\"legend\""));
  // Equal ratios of sizes and of times are equal distances.
  const auto points = points_of(page, page.find("Time by N"));
  REQUIRE(points.size() == 5);
  const double right = points[1].first - points[0].first, up = points[0].second - points[1].second;
  CHECK(right > 100);
  CHECK(up > 30);
  for (std::size_t i = 1; i < points.size(); ++i) {
    CHECK(points[i].first - points[i - 1].first == doctest::Approx(right).epsilon(0.01));
    CHECK(points[i - 1].second - points[i].second == doctest::Approx(up).epsilon(0.01));
  }
  CHECK(has(page, "<title>add, N=4096 on pi: 4.10 us [4."));
}

TEST_CASE("sizes within an order of magnitude have a linear axis and labels as they are") {
  std::vector<Measurement> all;
  for (const int n : {100, 200, 300, 400, 500}) all.push_back(result("pi", {{"N", n}}, n * 1e-9));
  const std::string page = page_of(all, {"N"});
  CHECK_FALSE(has(page, "logarithmic"));
  for (const std::string label : {">100<", ">300<", ">500<", ">300 ns<"}) CHECK(has(page, label));
  const auto points = points_of(page, page.find("Time by N"));
  REQUIRE(points.size() == 5);
  CHECK(points[1].first - points[0].first == doctest::Approx(points[4].first - points[3].first).epsilon(0.01));
}

TEST_CASE("the measured peak of each device is a line, at its rate") {
  const std::string one = page_of(powers_of_two({"pi"}), {"N"});
  CHECK(count(one, "class=\"peak\"") == 1);
  CHECK(has(one, ">peak<"));
  // The kernel performs one operation a nanosecond, a quarter of the peak.
  const std::size_t speed = one.find("Speed by N");
  const auto peak = points_of(one, speed, "peak"), curve = points_of(one, speed);
  REQUIRE(peak.size() == curve.size());
  for (std::size_t i = 0; i < peak.size(); ++i) {
    CHECK(peak[i].first == curve[i].first);
    CHECK(peak[i].second < curve[i].second - 30);
  }
  const std::string two = page_of(powers_of_two({"pi", "pc"}), {"N"});
  CHECK(count(two, "class=\"peak\"") == 2);
  CHECK(has(two, ">peak of pi<"));
  CHECK(has(two, ">peak of pc<"));
  std::vector<Measurement> unknown = powers_of_two({"pi"});
  for (Measurement& report : unknown) report.peak = {};
  CHECK_FALSE(has(page_of(unknown, {"N"}), "class=\"peak\""));
}

TEST_CASE("lines differ in markers as well as in colours, and a legend names them") {
  const std::string page = page_of(powers_of_two({"pi", "pc", "mac"}), {"N"});
  const std::size_t legend = page.find("class=\"legend\"");
  REQUIRE(legend != std::string::npos);
  const std::string text = page.substr(legend, page.find("</ul>", legend) - legend);
  for (const char* part : {"<title>circle</title>", "<title>diamond</title>", "<title>square</title>",
                           "class=\"series-0\"", "class=\"series-1\"", "class=\"series-2\""})
    CHECK(count(text, part) == 1);
  for (const char* device : {"pi</li>", "pc</li>", "mac</li>"}) CHECK(has(text, device));
}

TEST_CASE("no two of the shown lines have the same colour and marker, and those that are left out are counted") {
  std::vector<Measurement> all;
  for (int m = 1; m <= 30; ++m)
    for (const int n : {1, 2}) all.push_back(result("pi", {{"M", m}, {"N", n}}, m * n * 1e-6));
  const std::string page = page_of(all, {"M", "N"});
  CHECK(has(page, "24 of 30 lines are shown; the table has all results."));
  const std::size_t legend = page.find("class=\"legend\"", page.find("Time by N"));
  const std::string text = page.substr(legend, page.find("</ul>", legend) - legend);
  const std::regex entry("class=\"(series-[0-9])\"[^>]*><title>([^<]*)");
  std::vector<std::string> looks;
  for (std::sregex_iterator at(text.begin(), text.end(), entry); at != std::sregex_iterator(); ++at)
    looks.push_back((*at)[1].str() + " " + (*at)[2].str());
  CHECK(looks.size() == 24);
  std::ranges::sort(looks);
  CHECK(std::ranges::adjacent_find(looks) == looks.end());
}

TEST_CASE("a knob with names has a row for each choice") {
  std::vector<Measurement> all;
  for (const char* order : {"rows", "columns", "tiles"}) {
    all.push_back(result("pi", {{"N", 64}}, 1e-6));
    all.back().knobs = {{"order", order}};
  }
  const std::string page = page_of(all, {"order"});
  CHECK(has(page, "<h2>Time by order</h2>"));
  for (const std::string label : {">rows</text>", ">columns</text>", ">tiles</text>"}) CHECK(count(page, label) == 2);
  CHECK_FALSE(has(page, "class=\"curve\""));
  CHECK(has(page, "<td class=\"text\">order=columns</td>"));
}

TEST_CASE("kernels without operations show bytes a second") {
  std::vector<Measurement> all = powers_of_two({"pi"});
  for (Measurement& report : all) report.flops = 0;
  const std::string page = page_of(all, {"N"});
  CHECK(has(page, "<h2>Memory rate by N</h2>"));
  CHECK_FALSE(has(page, "Speed by N"));
  CHECK(has(page, "B/s</text>"));
}

TEST_CASE("one result shows its samples") {
  const std::string page = page_of({result("pi", {{"N", 64}}, 1e-6)});
  CHECK(has(page, "<h2>Samples</h2>"));
  CHECK(has(page, "21 samples from "));
  CHECK(has(page, ">sample 21<"));
  CHECK_FALSE(has(page, " by N"));
  for (const char* fact : {"<dd>add.tc</dd>", "<dd>pi</dd>", "<dd>cortex-a72</dd>", "<dd>7</dd>", "<dd>N=64</dd>",
                           "Compiled for raspberry-pi-4", "Written by ferry 1.2."})
    CHECK(has(page, fact));
  // Several devices are compared with each other, and each shows its own.
  const std::string two = page_of({result("pi", {{"N", 64}}, 1e-6), result("pc", {{"N", 64}}, 2e-6)});
  CHECK(has(two, "<h2>Time by device</h2>"));
  CHECK(count(two, ">sample 21<") == 2);
}

TEST_CASE("all bars of a histogram together stand for all samples") {
  Measurement one = result("pi", {{"N", 64}}, 1e-6);
  one.timing.seconds = {1e-6, 1e-6, 1e-6, 1.01e-6, 1.01e-6, 1.02e-6, 9e-6};
  const std::string page = page_of({one});
  CHECK(has(page, "Marks at the edge: 1 further away."));
  double wide = 0;
  const std::regex bar("class=\"course\"[^>]*width=\"([0-9.]+)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), bar); at != std::sregex_iterator(); ++at)
    wide += std::stod((*at)[1]);
  // Three samples are in the highest bar, which is 130 wide.
  CHECK(wide == doctest::Approx(130 * 7 / 3.0).epsilon(0.01));
}

TEST_CASE("the table has every result with its warnings as notes and its change from the baseline") {
  std::vector<Measurement> all = powers_of_two({"pi"});
  all[1].findings.warnings = {"all elements of the result are the same"};
  std::vector<std::optional<Change>> changes(all.size());
  changes[0] = Change{1e-7, 2.5, 2.4, 2.6};
  changes[2] = Change{1e-7, 0.5, 0.4, 0.6};
  BenchPage page{all, changes};
  page.swept = {"N"};
  page.baseline = "old.json";
  const std::string text = bench::bench_page(page);
  for (const std::string part :
       {"<th scope=\"row\" class=\"text\">N=256</th>", "<th scope=\"row\" class=\"text\">N=16777216</th>",
        ">Baseline</th>", "x 2.50 slower", "x 0.500 faster", "all elements of the result are the same</p>",
        "<dd>old.json</dd>", "<caption>add(in f32[N] A, out f32[N] B)</caption>"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
}

TEST_CASE("failures are named, with what was measured before an interruption") {
  const std::vector<Measurement> one = {result("pi", {{"N", 64}}, 1e-6)};
  BenchPage page{one, kNoChanges};
  page.swept = {"N"};
  page.is_interrupted = true;
  page.failures = {{"pc", "cannot connect"}, {"mac", "expected ')'\n  here\n  ^"}};
  const std::string text = bench::bench_page(page);
  for (const char* part : {"Interrupted: not everything was measured.", "Failures on pc, mac", "<h3>pc</h3>",
                           "<p>cannot connect</p>", "\n  here\n  ^</pre>", "<h2>Samples</h2>"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
  const std::vector<Measurement> none;
  BenchPage nothing{none, kNoChanges};
  nothing.kernel = "add.tc";
  nothing.failures = page.failures;
  CHECK(has(bench::bench_page(nothing), "Nothing was measured."));
  CHECK(has(bench::bench_page(nothing), "<h1>add.tc</h1>"));
}

TEST_CASE("nothing that a kernel, a device or a file says becomes markup") {
  const std::string hostile = "<script>\"'&</script>\x1b[2J";
  std::vector<Measurement> all;
  for (const std::string& value : {"<b>" + hostile, "<i>" + hostile}) {
    for (const std::string& device : {"<u>" + hostile, "<s>" + hostile}) {
      Measurement& one = all.emplace_back(result(device, {{hostile, 64}}, 1e-6));
      one.function.name = one.function.signature = one.processor = one.target = hostile;
      one.facts.operating_system = one.facts.server_version = hostile;
      one.knobs = {{hostile, value}};
      one.findings.warnings = {hostile};
      one.method.inputs = hostile;
      one.peak = {1e9, 1e9};
    }
  }
  BenchPage page{all, kNoChanges};
  page.swept = {hostile};
  page.kernel = page.baseline = page.version = hostile;
  page.failures = {{hostile, hostile}, {hostile, hostile + "\n" + hostile}};
  const std::string text = bench::bench_page(page);
  for (const char* tag : {"<script", "<b>", "<i>", "<u>", "<s>", "\x1b"}) CHECK_FALSE(has(text, tag));
  CHECK(has(text, "&lt;script&gt;"));
}

TEST_CASE("times that say nothing are left out of charts, and remain in the table") {
  std::vector<Measurement> all = powers_of_two({"pi"});
  for (double& seconds : all[0].timing.seconds) seconds = 0;
  all[1].timing.seconds = {3e-6};
  const std::string page = page_of(all, {"N"});
  CHECK(points_of(page, page.find("Time by N")).size() == 4);
  CHECK(has(page, "<th scope=\"row\" class=\"text\">N=256</th>"));
  const std::string figures = page.substr(page.find("<figure>"), page.rfind("</figure>") - page.find("<figure>"));
  for (const char* wrong : {"nan", "inf"}) CHECK_FALSE(has(figures, wrong));
  for (Measurement& report : all)
    for (double& seconds : report.timing.seconds) seconds = 0;
  CHECK_FALSE(has(page_of(all, {"N"}), "<figure>"));
}
