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
