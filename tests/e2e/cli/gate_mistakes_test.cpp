// Tests what 'ferry gate' says to mistakes in its command line, suite and inputs.
#include <doctest/doctest.h>

#include "tests/e2e/cli/gate_project.h"

using namespace ferry;
using namespace ferry::test;

TEST_CASE("each mistake of a user has its message and its exit code") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);

  project.write("typo.toml", "[cases.spin]\nkernl = \"kernels/spin.c\"\n");
  const Outcome missing = project.gate({});
  CHECK(missing.code == 2);
  CHECK(missing.err.starts_with("ferry: expected SUITE, as in 'ferry gate suite.toml', or a command: init, "));
  const Outcome unknown_case = project.gate({"history", "spn"});
  CHECK(unknown_case.code == 2);
  CHECK(contains(unknown_case.err, "unknown case 'spn'; the nearest known are spin"));
  const Outcome quota = project.gate({"suite.toml", "--quota", "x"});
  CHECK(quota.code == 2);
  CHECK(contains(quota.err, "--quota: expected a whole number"));
  const Outcome misspelt = project.gate({"suite.toml", "--updat"});
  CHECK(misspelt.code == 2);
  CHECK(contains(misspelt.err, "did you mean '--update'?"));

  const Outcome typo = project.gate({"typo.toml"});
  CHECK(typo.code == 2);
  CHECK(contains(typo.err, "typo.toml:2"));
  CHECK(contains(typo.err, "kernel"));

  const Outcome unknown = project.gate({"suite.toml", "--case", "spn"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "spin"));

  project.write("kernels/spin.c",
                "// ferry: spin(in f32[256] x, out f32[256] y)\nvoid spin(const float* x, float* y) { y }\n");
  std::map<std::string, Json> failed = project.results({}, code);
  CHECK(code == 2);
  CHECK(failed.at("spin").at("verdict") == "failed");
  CHECK(failed.at("twice").at("verdict") == "unchanged");

  project.write("kernels/spin.c", spin(kRounds));
  const Outcome baseline = project.gate({"suite.toml", "--baseline", "mian"});
  CHECK(baseline.code == 2);
  CHECK(contains(baseline.err, "the suite has no baseline 'mian'; did you mean 'main'?"));
  CHECK(project.gate({"suite.toml", "--baseline", "mian", "--update"}).code == 0);

  // A port that nobody listens to.
  const Outcome alone =
      run_ferry({"gate", "suite.toml", "--remote", "plaintext://127.0.0.1:1"}, "", {}, project.folder.path(""));
  CHECK(alone.code == 3);

  // The environment is easily forgotten.
  project.write("suite.toml", std::string(kSuite) + "[boards.pi]\nremote = \"farm://lab/rpi4\"\n");
  const Outcome replaced =
      run_ferry({"gate", "suite.toml"}, "", {{"FERRY_REMOTE", "plaintext://127.0.0.1:1"}}, project.folder.path(""));
  CHECK(replaced.code == 3);
  CHECK(contains(replaced.err,
                 "using plaintext://127.0.0.1:1 because of FERRY_REMOTE, instead of the suite's own boards: pi\n"));
}

TEST_CASE("inputs that a kernel does not have are found although it did not change") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  CHECK(project.results({}, code).at("twice").at("baseline").at("module").is_string());
  project.write("suite.toml", std::string(kSuite) + "inputs = [\"z=:ones\"]\n");
  const std::map<std::string, Json> found = project.results({}, code);
  CHECK(code == 2);
  CHECK(found.at("twice").at("verdict") == "failed");
  CHECK(contains(found.at("twice").at("reason"), "has no input 'z'"));
  CHECK(found.at("spin").at("verdict") == "unchanged");
}

TEST_CASE("a folder and a mistyped command in place of a suite are told apart from a file that is missing") {
  const Project project;
  const Outcome folder = project.gate({"kernels"}), command = project.gate({"histroy"}),
                file = project.gate({"no.toml"});
  CHECK(folder.code == 2);
  CHECK(contains(folder.err, "ferry gate init kernels writes suite.toml"));
  CHECK(command.code == 2);
  CHECK(contains(command.err, "ferry gate history"));
  CHECK(file.code == 2);
  CHECK(contains(file.err, "no.toml"));
  CHECK(!contains(file.err, "for the command"));
}

TEST_CASE("a store that cannot be written is a mistake of the user") {
  const Project project;
  project.write("suite.toml", kSuite);
  CHECK(project.gate({"suite.toml", "--store", "/dev/null"}).code == 2);
}

TEST_CASE("a kernel that was moved fails its case, and the others are judged") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  REQUIRE(code == 0);
  std::filesystem::rename(project.folder.path("kernels/spin.c"), project.folder.path("kernels/moved.c"));
  const std::map<std::string, Json> found = project.results({"--junit", "out.xml", "--html", "page.html"}, code);
  CHECK(code == 2);
  CHECK(found.at("spin").at("verdict") == "failed");
  CHECK(found.at("spin").at("reason") == "suite.toml:4: cases.spin: kernels/spin.c: No such file or directory");
  CHECK(found.at("twice").at("verdict") == "unchanged");
  CHECK(contains(project.read("out.xml"), "kernels/spin.c: No such file or directory"));
  CHECK(contains(project.read("page.html"), "kernels/spin.c: No such file or directory"));
  CHECK(project.gate({"history", "spin"}).code == 0);
}

TEST_CASE("a run that ends before its verdicts leaves no report of an earlier one") {
  const Project project;
  project.write("suite.toml", kSuite);
  const Words reports = {"suite.toml", "--junit", "out.xml", "--html", "page.html", "--markdown", "note.md"};
  const auto gate = [&](const Words& more) {
    for (const char* file : {"out.xml", "page.html", "note.md"}) project.write(file, "yesterday");
    Words words = reports;
    words.insert(words.end(), more.begin(), more.end());
    return project.gate(words).code;
  };
  const auto check_failed = [&](const std::string& why) {
    CHECK(contains(project.read("out.xml"), "<error"));
    for (const char* file : {"out.xml", "page.html", "note.md"}) {
      CAPTURE(file);
      CHECK(!contains(project.read(file), "yesterday"));
      CHECK(contains(project.read(file), why));
    }
  };
  CHECK(gate({}) == 0);
  CHECK(!contains(project.read("out.xml"), "<error"));
  CHECK(gate({"--case", "none"}) == 2);
  check_failed("case");
  CHECK(gate({"--store", "/dev/null"}) == 2);
  check_failed("null");
  project.write("suite.toml", "tolerance =");
  CHECK(gate({}) == 2);
  check_failed("toml");
}

TEST_CASE("a report that is a pipe is written once") {
  const Project project;
  project.write("suite.toml", kSuite);
  const Outcome piped = project.gate({"suite.toml", "--junit", "-", "--json"});
  CHECK(piped.code == 0);
  CHECK(!contains(piped.out, "still running"));
  CHECK(contains(piped.out, "<testsuites"));
}

TEST_CASE("a case keeps its baseline and its history under a new name that says what it was") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({"--label", "aaa"}, code);
  std::string renamed = kSuite;
  renamed.replace(renamed.find("cases.twice"), 11, "cases.double");
  project.write("suite.toml", renamed);
  project.write("kernels/twice.tc", "def twice(float(N) A) -> (B) { B(i) = 3 * A(i) }\n");
  CHECK(project.results({"--label", "bbb"}, code).at("double").at("verdict") == "first");

  project.gate({"forget", "main"});
  project.write("kernels/twice.tc", kTwice);
  project.write("suite.toml", kSuite);
  project.results({"--label", "aaa"}, code);
  project.write("suite.toml", renamed + "was = \"twice\"\n");
  CHECK(project.results({"--label", "ccc"}, code).at("double").at("verdict") == "unchanged");
  const Outcome history = project.gate({"history", "double"});
  CHECK(contains(history.out, "aaa"));
  CHECK(contains(history.out, "ccc"));
  CHECK(project.results({"--update", "--label", "ddd"}, code).at("double").at("new_baseline") == true);
  // The new name is known from now on.
  project.write("suite.toml", renamed);
  CHECK(project.results({}, code).at("double").at("verdict") == "unchanged");
}

TEST_CASE("an address that names no device is said once, with the exit code of a missing board") {
  const Project project;
  project.write("suite.toml", kSuite);
  const Outcome outcome = project.gate({"suite.toml", "--remote", "nobody"});
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.out, "No board could measure all cases: 2 infrastructure"));
  const std::string sentence = "there is no key for nobody:9090";
  const std::size_t once = outcome.err.find(sentence);
  CHECK(once != std::string::npos);
  CHECK(outcome.err.find(sentence, once + 1) == std::string::npos);
}
