// Tests 'ferry gate' from a folder of kernels to red and green builds, on this machine.
#include <doctest/doctest.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/e2e/cli/gate_project.h"
#include "tests/e2e/cli/terminal.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::test;

TEST_CASE("a suite for a folder of kernels runs at once, passes first and is not measured again") {
  const Project project;
  const Outcome init = project.gate({"init", "kernels"});
  INFO(init.err);
  REQUIRE(init.code == 0);
  CHECK(contains(init.err, "wrote 2 cases to suite.toml"));
  CHECK(project.gate({"init", "kernels"}).code == 2);  // the suite exists

  int code = -1;
  std::map<std::string, Json> first = project.results({}, code);
  CHECK(code == 0);
  CHECK(first.at("spin").at("verdict") == "first");
  CHECK(first.at("twice").at("verdict") == "first");
  for (const auto& [name, result] : project.results({}, code)) {
    CAPTURE(name);
    CHECK(result.at("verdict") == "unchanged");
    CHECK(result.at("pairs").at("layout").empty());
  }
  CHECK(code == 0);
}

TEST_CASE("a kernel that became slower makes the build red, one that did not leaves it green") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({"--label", "good"}, code);
  REQUIRE(code == 0);

  project.write("kernels/spin.c", spin(kRounds, "0.751f"));
  std::map<std::string, Json> same = project.results({"--label", "same"}, code);
  CAPTURE(same.at("spin").dump(1));
  CHECK(same.at("spin").at("verdict") != "slower");
  CHECK(same.at("spin").at("verdict") != "faster");
  CHECK(same.at("twice").at("verdict") == "unchanged");

  project.write("kernels/spin.c", spin(kRounds * 3 / 2));
  std::map<std::string, Json> slower =
      project.results({"--label", "bad", "--junit", "out.xml", "--markdown", "out.md", "--html", "out.html"}, code);
  const Json& spun = slower.at("spin");
  CAPTURE(spun.dump(1));
  CHECK(code == 1);
  CHECK(spun.at("verdict") == "slower");
  CHECK(contains(content_of(project.folder.path("out.xml")), "<failure"));
  CHECK(contains(content_of(project.folder.path("out.md")), "slower"));
  CHECK(contains(content_of(project.folder.path("out.html")), "<svg"));

  // A slowdown that is wanted becomes the baseline.
  project.results({"--accept", "spin"}, code);
  CHECK(code == 0);
  CHECK(project.results({}, code).at("spin").at("verdict") == "unchanged");

  const Outcome history = project.gate({"history", "spin", "--html", "history.html"});
  CHECK(contains(content_of(project.folder.path("history.html")), "<svg"));
  CHECK(history.out.find('\n') < 100);
  CHECK(history.code == 0);
  for (const char* part : {"good", "same", "bad", "slower"}) CHECK(contains(history.out, part));
  // Beside other tests the machine may be too noisy for a comparison.
  Outcome bisect;
  for (int tries = 0; tries < 3 && (tries == 0 || bisect.code == 5); ++tries)
    bisect = project.gate({"bisect", "spin", "good", "bad", "--json"});
  INFO(bisect.err);
  REQUIRE(bisect.code == 0);
  CHECK(Json::parse(bisect.out).at("first_bad") == "bad");
  CHECK(Json::parse(bisect.out).at("last_good") == "same");
}

TEST_CASE("a baseline that another user has stored runs on this machine only if the user says so") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a file to another user");
    return;
  }
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({"--label", "good"}, code);
  REQUIRE(code == 0);
  for (const auto& object : std::filesystem::directory_iterator(project.folder.path(".ferry-gate/objects")))
    REQUIRE(lchown(object.path().c_str(), 54321, 54321) == 0);
  // What did not change does not run.
  CHECK(project.results({}, code).at("spin").at("verdict") == "unchanged");
  CHECK(code == 0);
  project.write("kernels/spin.c", spin(kRounds, "0.751f"));
  const Json refused = project.results({"--label", "changed"}, code).at("spin");
  CHECK(code == 2);
  CHECK(refused.at("verdict") == "failed");
  CHECK(refused.at("reason") ==
        "the baseline's module of spin was stored by uid 54321 and does not run on this machine, because it is native "
        "code: expected --trust-baseline if you trust uid 54321");
  CHECK(refused.at("baseline").at("holder") == "uid 54321");
  const auto on_terminal = [&](const std::string& typed) {
    return run_on_terminal({"gate", project.folder.path("suite.toml"), "--store", project.folder.path(".ferry-gate")},
                           200, {}, typed);
  };
  const Outcome denied = on_terminal("n\n");
  CHECK(denied.code == 2);
  CHECK_MESSAGE(contains(denied.out,
                         "the baseline's module of spin was stored by uid 54321, and is native code. Run it "
                         "on this machine, and others of uid 54321? [y/N]"),
                denied.out);
  const Outcome allowed = on_terminal("y\n");
  CHECK_MESSAGE(allowed.code != 2, allowed.out);
  CHECK(contains(allowed.out, "the baseline's module of spin was stored by uid 54321\n"));
  const Json trusted = project.results({"--trust-baseline"}, code).at("spin");
  CHECK(trusted.at("verdict") != "failed");
  CHECK(!trusted.at("pairs").at("layout").empty());
  const Outcome bisect = project.gate({"bisect", "spin", "good", "changed"});
  CHECK(bisect.code == 2);
  CHECK(contains(bisect.err, "the module of good was stored by uid 54321 and does not run on this machine"));
}

TEST_CASE("a case that is gone from the suite is listed, and fails the run if that is asked for") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  REQUIRE(code == 0);
  const std::string suite = content_of(project.folder.path("suite.toml"));
  const std::size_t place = suite.find("[cases.twice]");
  REQUIRE(place != std::string::npos);
  std::string renamed = suite;
  project.write("suite.toml", renamed.replace(place, 13, "[cases.double]"));
  const std::string said = "1 case of the baseline is no longer in the suite: twice";
  const Outcome allowed = project.gate({"suite.toml"});
  CHECK(allowed.code == 0);
  CHECK(contains(allowed.out, said));
  const Outcome failed = project.gate({"suite.toml", "--missing", "fail", "--junit", "out.xml"});
  CHECK(failed.code == 2);
  CHECK(contains(failed.out, said + "; with --missing allow that passes"));
  CHECK(contains(content_of(project.folder.path("out.xml")), "name=\"twice\""));
  const Outcome update = project.gate({"suite.toml", "--update"});
  CHECK(update.code == 0);
  CHECK(contains(update.out, said + "; --update has deleted it"));
  CHECK(project.gate({"suite.toml", "--missing", "fail"}).code == 0);
  CHECK(project.gate({"suite.toml", "--missing", "never"}).code == 2);
}

TEST_CASE("wrong results are found before anything is measured, unless the case allows them") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  project.write("kernels/spin.c", spin(kRounds, "2.0f"));
  project.write("kernels/twice.tc", "def twice(float(N) A) -> (B) { B(i) = 3 * A(i) }");
  std::map<std::string, Json> wrong = project.results({}, code);
  CHECK(code == 1);
  for (const char* name : {"spin", "twice"}) {
    CAPTURE(wrong.at(name).dump(1));
    CHECK(wrong.at(name).at("verdict") == "wrong");
    CHECK(wrong.at(name).at("pairs").at("layout").empty());
  }
  CHECK(contains(wrong.at("spin").at("reason"), "y["));

  project.write("suite.toml", std::string(kSuite) + "allow-difference = true\n");
  CHECK(project.results({"--case", "twice"}, code).at("twice").at("verdict") != "wrong");
}

TEST_CASE("cases of a board that cannot be reached go on with the other board") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server");
  const Words remotes{"--remote", "plaintext://127.0.0.1:1", "--remote", server.address()};
  for (const char* verdict : {"first", "unchanged"}) {
    std::map<std::string, Json> found = project.results(remotes, code);
    CHECK(code == 0);
    for (const char* name : {"spin", "twice"}) {
      CAPTURE(found.at(name).dump(1));
      CHECK(found.at(name).at("verdict") == verdict);
      CHECK(found.at(name).at("board") == server.address());
    }
  }
}

TEST_CASE("an emulated board is judged by the instructions that it executes") {
  const Project project;
  std::string suite = kSuite;
  suite.replace(suite.find("20%"), 3, "2%");
  project.write("suite.toml", suite);
  std::vector<std::string> emulator = emulator_of("aarch64");
  for (const char* word : {"-plugin", FERRY_BINARY_DIR "/lib/libferry_instructions.so"}) emulator.emplace_back(word);
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/aarch64/static/rpc_server", emulator);
  int code = -1;
  project.results({"--remote", server.address()}, code);
  REQUIRE(code == 0);

  project.write("kernels/spin.c", spin(kRounds * 103 / 100));
  const Json slower = project.results({"--remote", server.address()}, code).at("spin");
  CAPTURE(slower.dump(1));
  CHECK(code == 1);
  CHECK(slower.at("verdict") == "slower");
  CHECK(slower.at("by_instructions") == true);
  const Json& counts = slower.at("instructions");
  CHECK(counts.at("current").get<double>() / counts.at("baseline").get<double>() ==
        doctest::Approx(1.03).epsilon(0.001));

  project.write("kernels/spin.c", spin(kRounds, "0.751f"));
  CHECK(project.results({"--remote", server.address()}, code).at("spin").at("verdict") == "no_change");
  CHECK(code == 0);
}

TEST_CASE("the baseline changes only with an update that finds nothing wrong, or where the user accepts it") {
  const Project project;
  // The test is about which verdict changes the baseline. A busy machine tells 50% apart as soon as any.
  std::string suite = kSuite;
  suite.replace(suite.find("20%"), 3, "50%");
  project.write("suite.toml", suite);
  const auto baseline = [&] {
    return content_of(project.folder.path(".ferry-gate/baselines/" + project.suite() + "/main.json"));
  };
  int code = -1;
  project.results({}, code);
  const std::string first = baseline();

  project.write("kernels/spin.c", spin(kRounds, "0.751f"));
  CHECK(project.results({}, code).at("spin").at("verdict") != "slower");
  CHECK(baseline() == first);
  const Outcome update = project.gate({"suite.toml", "--update"});
  CHECK(update.code == 0);
  CHECK(contains(update.out, "--update: the module of spin is the baseline main from now on\n"));
  const std::string updated = baseline();
  CHECK(updated != first);

  // A wrong result, a slowdown and a crash do not become the baseline, also if cases may be untold.
  project.write("suite.toml", "cannot-tell = \"pass\"\n" + suite);
  project.write("kernels/spin.c", spin(kRounds, "2.0f"));
  project.results({"--update"}, code);
  CHECK(code == 1);
  project.write("kernels/spin.c", spin(kRounds * 2, "0.751f"));
  const Outcome slower = project.gate({"suite.toml", "--update"});
  CHECK(slower.code == 1);
  CHECK(contains(slower.out, "--update leaves the baseline main as it was: the run is not green\n"));
  CHECK(baseline() == updated);
  project.write("kernels/spin.c",
                "// ferry: spin(in f32[256] x, out f32[256] y)\n"
                "void spin(const float* x, float* y) { *(volatile int*)0 = (int)x[0]; y[0] = 0; }\n");
  const Json crashed = project.results({"--update", "--accept", "spin"}, code).at("spin");
  CAPTURE(crashed.dump(1));
  CHECK(code == 1);
  CHECK(crashed.at("verdict") == "wrong");
  CHECK(crashed.at("accepted") == false);
  CHECK(baseline() == updated);

  project.write("kernels/spin.c", spin(kRounds, "2.0f"));
  const Json accepted = project.results({"--accept", "spin", "--junit", "out.xml"}, code).at("spin");
  CHECK(code == 0);
  CHECK(accepted.at("accepted") == true);
  CHECK(!contains(content_of(project.folder.path("out.xml")), "<failure"));
  CHECK(baseline() != updated);
}

TEST_CASE("a module that the store has lost is stored again by a kernel that did not change") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  for (const auto& entry : std::filesystem::directory_iterator(project.folder.path(".ferry-gate/objects")))
    std::filesystem::remove(entry.path());
  CHECK(project.results({}, code).at("spin").at("verdict") == "unchanged");
  CHECK(code == 0);
  project.write("kernels/spin.c", spin(kRounds * 2));
  CHECK(project.results({"--case", "spin"}, code).at("spin").at("verdict") == "slower");
}

TEST_CASE("a module that the store has damaged cannot be compared with") {
  const Project project;
  project.write("suite.toml", kSuite);
  int code = -1;
  project.results({}, code);
  for (const auto& entry : std::filesystem::directory_iterator(project.folder.path(".ferry-gate/objects")))
    std::filesystem::resize_file(entry.path(), entry.file_size() - 1);
  project.write("kernels/spin.c", spin(kRounds * 2));
  std::map<std::string, Json> found = project.results({"--case", "spin"}, code);
  CHECK(code == 5);
  CHECK(found.at("spin").at("verdict") == "cannot_tell");
  CHECK(contains(found.at("spin").at("reason"), "damaged"));
}

TEST_CASE("a kernel that runs too long is wrong, and a session that does is a lost board unless the baseline ends") {
  const Project project;
  const std::string signature = "// ferry: spin(in f32[256] x, out f32[256] y)\n";
  const std::string hangs =
      signature + "void spin(const float* x, float* y) { for (volatile long i = 0;; ++i) y[0] = x[0]; }\n";
  project.write("suite.toml", "[cases.spin]\nkernel = \"kernels/spin.c\"\n");
  project.write("kernels/spin.c", hangs);
  int code = -1;
  const Json call = project.results({"--call-deadline", "0.3"}, code).at("spin");
  CAPTURE(call.dump(1));
  CHECK(code == 1);
  CHECK(call.at("verdict") == "wrong");
  CHECK(contains(call.at("reason"), "the limit of a call is 0.3 s"));
  // Clang has to end within it too.
  const Json session = project.results({"--session-deadline", "1.2"}, code).at("spin");
  CAPTURE(session.dump(1));
  CHECK(code == 3);
  CHECK(session.at("verdict") == "infrastructure");
  CHECK(session.at("tries") == 3);

  project.write("kernels/spin.c", signature + "void spin(const float* x, float* y) { y[0] = x[0]; }\n");
  CHECK(project.results({}, code).at("spin").at("verdict") == "first");
  project.write("kernels/spin.c", hangs);
  const Json alone = project.results({"--session-deadline", "1.5"}, code).at("spin");
  CAPTURE(alone.dump(1));
  CHECK(code == 1);
  CHECK(alone.at("verdict") == "wrong");
  CHECK(contains(alone.at("reason"), "the limit of a session is 1.5 s"));
  CHECK(contains(alone.at("reason"), "a call of the baseline ends well within it"));
}

TEST_CASE("a calibration that is cut off prints what it has measured") {
  const Folder folder;
  // Each session on this machine starts a server. The first verdict takes at least 4 of them.
  const auto server = [&](const std::string& name, const std::string& at_the_20th) {
    const std::string path =
        folder.file(name, "#!/bin/sh\necho one >> '" + folder.path(name + ".runs") + "'\n[ $(wc -l < '" +
                              folder.path(name + ".runs") + "') -eq 20 ] && " + at_the_20th + "\nexec '" +
                              FERRY_SOURCE_DIR + "/build/device/x86_64/dynamic/rpc_server' \"$@\"\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  };
  const Words words{"gate", "calibrate", "--tolerance", "30", "--error-level", "40", "--runs", "9"};
  const Outcome interrupted = run_ferry(words, "", {{"FERRY_RPC_SERVER", server("interrupt", "kill -INT $PPID")}});
  CAPTURE(interrupted.out);
  CAPTURE(interrupted.err);
  CHECK(interrupted.code == 128 + SIGINT);
  CHECK(contains(interrupted.out, "SLOWDOWN"));
  CHECK(contains(interrupted.out, "The last line is of "));

  const Outcome lost = run_ferry(words, "", {{"FERRY_RPC_SERVER", server("lose", "{ echo gone >&2; exit 1; }")}});
  CAPTURE(lost.out);
  CAPTURE(lost.err);
  CHECK(lost.code == 3);
  CHECK(contains(lost.out, "The last line is of "));
  CHECK(contains(lost.err, "gone"));
}
