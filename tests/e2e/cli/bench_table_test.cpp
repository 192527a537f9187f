// Tests what bench prints of several measurements: tables, footnotes, comma-separated values, a baseline, and reports
// for continuous integration.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/e2e/cli/terminal.h"

using namespace ferry;
using nlohmann::json;
using test::contains;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;

namespace {

std::vector<std::string> quick_bench(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"bench", "--repeat",  "6", "--min-repeat-ms", "0.1", "--warmup-ms",
                                    "0.1",   "--threads", "1", "--no-peak"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Returns a report with each time multiplied.
std::string scaled(const std::string& report, double factor) {
  json all = json::parse(report);
  for (json& one : all.at("results")) {
    one["median_seconds"] = one.at("median_seconds").get<double>() * factor;
    for (json& end : one.at("interval_95_seconds")) end = end.get<double>() * factor;
  }
  return all.dump();
}

}  // namespace

TEST_CASE("a sweep's table has its warnings below it, and fits the terminal") {
  const std::vector<std::string> words = quick_bench({"-e", kTwice, "--sweep", "N=1000,2000"});
  const Outcome table = run_ferry(words);
  CAPTURE(table.err);
  CHECK(table.code == 0);
  const std::vector<std::string> lines = lines_of(table.out);
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0] == "twice(in f32[N] A, out f32[N] B) on this machine");
  CHECK(lines[1].starts_with("sizes   median"));
  CHECK(lines[2].starts_with("N=1000  "));
  CHECK(lines[3].starts_with("N=2000  "));
  if (contains(lines[1], "notes")) CHECK(contains(table.out, "\n1  "));
  for (const std::string& line : lines_of(test::run_on_terminal(words, 70).out)) {
    const std::size_t start = line.rfind('\r') == std::string::npos ? 0 : line.rfind('\r') + 1;
    CHECK_MESSAGE(line.size() - start <= 75, line);  // with the codes that erase a progress line
  }
}

TEST_CASE("a table of times that were taken in different ways says so, and each value which") {
  // One element cannot be drawn anew from others.
  const std::vector<std::string> sweep = {"-e", kTwice, "--sweep", "N=1,2000"};
  std::vector<std::string> words = quick_bench(sweep);
  const Outcome table = run_ferry(words);
  words.emplace_back("--csv");
  const Outcome csv = run_ferry(words);
  CAPTURE(csv.err);
  CHECK(contains(csv.out, ",baseline_ratio,inputs,cache,isolation,check,"));
  const bool is_isolated = !contains(csv.out, ",none,");
  CHECK(contains(csv.out, ",fresh,warm,") == is_isolated);
  CHECK(contains(table.out, "times of different ones are not comparable") == is_isolated);
  CHECK(contains(table.out, "method") == is_isolated);
  CHECK(contains(table.out, "fresh, warm, ") == is_isolated);
  const Outcome alike = run_ferry(quick_bench({"-e", kTwice, "--sweep", "N=1000,2000"}));
  CHECK_FALSE(contains(alike.out, "method"));
}

TEST_CASE("a sweep over knobs measures every choice, alone and with sizes") {
  const Folder folder;
  const std::string schedule = folder.file("twice.schedule", "split i $width in {4,8,16}\nvectorize i.inner\n");
  const Outcome listed = run_ferry(quick_bench(
      {"-e", kTwice, "--schedule", schedule, "--sweep", "width=4,16", "--sweep", "N=100..200+100", "--json"}));
  CAPTURE(listed.err);
  REQUIRE(listed.code == 0);
  std::vector<std::string> measured;
  const json results = json::parse(listed.out).at("results");
  for (const json& one : results) measured.push_back(one.at("knobs").dump() + one.at("sizes").dump());
  CHECK(measured == std::vector<std::string>{R"({"width":"4"}{"N":100})", R"({"width":"4"}{"N":200})",
                                             R"({"width":"16"}{"N":100})", R"({"width":"16"}{"N":200})"});
  const Outcome all =
      run_ferry(quick_bench({"-e", kTwice, "--schedule", schedule, "--sweep", "width", "--size", "N=64"}));
  CHECK(contains(all.out, "\nN=64   width=4 "));
  CHECK(contains(all.out, "\nN=64   width=16 "));
  const auto refused = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all_words = quick_bench({"-e", kTwice, "--schedule", schedule, "--size", "N=64"});
    all_words.insert(all_words.end(), words.begin(), words.end());
    const Outcome outcome = run_ferry(all_words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(refused({"--sweep", "width=5"}), "knob '$width': expected one of {4,8,16}, got '5'"));
  CHECK(
      refused({"--sweep", "rows"}) ==
      "ferry: --sweep rows: expected values, as in rows=1,7,64, or the name of a knob that the schedule lists choices "
      "for\n");
  CHECK(contains(refused({"--sweep", "width", "--sweep", "width=4"}),
                 "--sweep width: expected one range for it, got another"));
}

TEST_CASE("--csv prints a line for each measurement, with every digit") {
  const Outcome csv = run_ferry(quick_bench({"-e", kTwice, "--sweep", "N=1000,2000", "--csv"}));
  CAPTURE(csv.err);
  CHECK(csv.code == 0);
  const std::vector<std::string> lines = lines_of(csv.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("device,function,N,median_seconds,interval_95_low_seconds,"));
  CHECK(lines[1].starts_with("this machine,twice,1000,"));
  CHECK(lines[2].starts_with("this machine,twice,2000,"));
  const Outcome one = run_ferry(quick_bench({"-e", kTwice, "--size", "N=100", "--csv"}));
  CHECK(lines_of(one.out).size() == 2);
  CHECK(run_ferry(quick_bench({"-e", kTwice, "--size", "N=100", "--csv", "--json"})).code == 2);
}

TEST_CASE("--baseline holds the times against those of an earlier run") {
  const Folder folder;
  const std::vector<std::string> words = quick_bench({"-e", kTwice, "--sweep", "N=100000,200000"});
  std::vector<std::string> first = words;
  first.emplace_back("--json");
  const std::string report = run_ferry(first).out;
  const std::string fast = folder.file("fast.json", scaled(report, 0.01)),
                    slow = folder.file("slow.json", scaled(report, 100));
  const auto against = [&](const std::string& baseline, const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--baseline", baseline});
    all.insert(all.end(), more.begin(), more.end());
    return run_ferry(all);
  };
  const Outcome slower = against(fast, {"--fail-if-slower", "10", "--junit", folder.path("report.xml")});
  CHECK(slower.code == 1);
  CHECK(contains(slower.out, " slower"));
  CHECK(contains(slower.err, "ferry: twice, N=100000 on this machine: "));
  CHECK(contains(test::content_of(folder.path("report.xml")), "tests=\"2\" failures=\"2\" errors=\"0\""));
  const Outcome faster = against(slow, {"--fail-if-slower", "10"});
  CHECK(faster.code == 0);
  CHECK(contains(faster.out, " faster"));
  CHECK(against(fast, {}).code == 0);
  const json compared = json::parse(against(slow, {"--json"}).out);
  CHECK(compared.at("results").at(0).at("baseline").at("ratio").get<double>() < 0.1);

  const Outcome other = run_ferry(quick_bench({"-e", kTwice, "--size", "N=3", "--baseline", fast}));
  CHECK(other.code == 0);
  CHECK(contains(other.err, "has no result of twice, N=3"));
  CHECK(run_ferry(quick_bench({"-e", kTwice, "--size", "N=3", "--baseline", fast, "--fail-if-slower", "1"})).code == 5);
  const Outcome wrong = against(folder.file("bad.json", "{}"), {});
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "expected what 'ferry bench --json' printed"));
  CHECK(run_ferry(quick_bench({"-e", kTwice, "--size", "N=3", "--fail-if-slower", "1"})).code == 2);
}

TEST_CASE("--junit has a case for each measurement and each device that failed") {
  const Folder folder;
  const std::string file = folder.path("report.xml");
  const Outcome outcome =
      run_ferry(quick_bench({"-e", kTwice, "--size", "N=100", "-r", "plaintext://127.0.0.1:1", "--junit", file}));
  CHECK(outcome.code == 3);
  CHECK(contains(test::content_of(file), "<error message=\"cannot connect to 127.0.0.1:1: connection refused"));
  CHECK(run_ferry(quick_bench({"-e", kTwice, "--sweep", "N=100,200", "--junit", file})).code == 0);
  CHECK(contains(test::content_of(file), "name=\"twice, N=200 on this machine\""));
  CHECK(run_ferry({"compare", folder.file("a.tc", kTwice), folder.file("b.tc", kTwice), "--size", "N=100",
                   "--processes", "3", "--repeat", "5", "--junit", file})
            .code == 0);
  CHECK(contains(test::content_of(file), "name=\"A and B compute the same\""));
}

TEST_CASE("compare gives each kernel's schedule its own knobs") {
  const Folder folder;
  const std::string kernel = folder.file("twice.tc", kTwice);
  const std::string schedule = folder.file("twice.schedule", "split i $width in {4,8,16}\n");
  const auto compare = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"compare",     kernel, kernel,     "--size", "N=100",
                                      "--processes", "3",    "--repeat", "5"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ferry(words);
  };
  const Outcome fine =
      compare({"--schedule-a", schedule, "--knob-a", "width=4", "--schedule-b", schedule, "--knob-b", "width=16"});
  CHECK_MESSAGE(fine.code == 0, fine.err);
  const Outcome unknown =
      compare({"--schedule-a", schedule, "--knob-a", "width=5", "--schedule-b", schedule, "--knob-b", "width=4"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "knob '$width': expected one of {4,8,16}, got '5'"));
  const Outcome none = compare({"--knob-b", "width=4"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "--knob-b width=4: expected a schedule of your own with this knob"));
}
