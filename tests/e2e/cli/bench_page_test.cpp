// Tests the page of 'ferry bench --html': that it shows what was measured, also of a run that ends early.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using nlohmann::json;
using test::contains;
using test::content_of;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;

namespace {

Outcome bench(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"bench", "--repeat",  "6", "--min-repeat-ms", "0.1", "--warmup-ms",
                                    "0.1",   "--threads", "1", "--no-peak"};
  words.insert(words.end(), more.begin(), more.end());
  return run_ferry(words);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("--html writes a page of a sweep over sizes and knobs, and prints the same as without it") {
  const Folder folder;
  const std::string page = folder.path("page.html");
  const std::string schedule = folder.file("twice.schedule", "split i $width in {4,8,16}\nvectorize i.inner\n");
  const Outcome outcome = bench({"-e", kTwice, "--schedule", schedule, "--sweep", "width", "--sweep", "N=2^8..2^11",
                                 "--seed", "12345", "--json", "--html", page});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(json::parse(outcome.out).at("results").size() == 12);
  const std::string text = content_of(page);
  CHECK(text.starts_with("<!doctype html>"));
  for (const std::string part : {"<title>Times of twice</title>", "<h2>Time by width</h2>", "<h2>Time by N</h2>",
                                 "<h2>Speed by N</h2>", "width=16</li>", "N=2048</li>", ">2^8<", "<dd>12345</dd>",
                                 "<dd>this machine</dd>", "<caption>twice(in f32[N] A, out f32[N] B)</caption>"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  CHECK(count(text, "<tr>") == 1 + 12);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path("")), {}) == 2);
}

TEST_CASE("--html without a sweep writes a page of the samples") {
  const Folder folder;
  const std::string page = folder.path("page.html");
  const Outcome outcome = bench({"-e", kTwice, "--size", "N=100", "--html", page});
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "median"));
  CHECK(contains(content_of(page), "<h2>Samples</h2>"));
  CHECK(contains(content_of(page), ">sample 6<"));
}

TEST_CASE("a page that cannot be written is refused before anything is measured") {
  const Folder folder;
  for (const std::string& file : {folder.path("missing/page.html"), folder.path("")}) {
    CAPTURE(file);
    const Outcome outcome = bench({"-e", kTwice, "--sweep", "N=1000,2000", "--html", file});
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "ferry: cannot write '" + file + "': "));
  }
}

TEST_CASE("the page names devices that failed, and has the changes from a baseline") {
  const Folder folder;
  const std::string page = folder.path("page.html");
  const Outcome first = bench({"-e", kTwice, "--sweep", "N=1000,2000", "--json"});
  json report = json::parse(first.out);
  for (json& one : report.at("results")) {
    one["median_seconds"] = one.at("median_seconds").get<double>() / 100;
    for (json& end : one.at("interval_95_seconds")) end = end.get<double>() / 100;
  }
  const std::string baseline = folder.file("old.json", report.dump());
  const Outcome compared = bench({"-e", kTwice, "--sweep", "N=1000,2000", "--baseline", baseline, "--html", page});
  CHECK_MESSAGE(compared.code == 0, compared.err);
  CHECK(count(content_of(page), " slower</td>") == 2);
  const Outcome failed = bench({"-e", kTwice, "--size", "N=100", "-r", "plaintext://127.0.0.1:1", "-r",
                                "plaintext://127.0.0.1:2", "--html", page});
  CHECK(failed.code == 3);
  const std::string text = content_of(page);
  CHECK(contains(text, "Failures on plaintext://127.0.0.1:1, plaintext://127.0.0.1:2"));
  CHECK(contains(text, "<p>cannot connect to 127.0.0.1:1: connection refused"));
  CHECK(contains(text, "Nothing was measured."));
}
