// suite.toml: what is wrong with one.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "ferry/error.h"
#include "host/gate/suite/read_suite.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/unit/host/gate/suite/schemes.h"

namespace ferry::test {
namespace {

using namespace gate;

// A suite with these lines in its only case, from line 3 on.
std::string with_case(const std::string& lines) { return "[cases.mm]\nkernel = 'mm.tc'\n" + lines; }

std::string mistake_of(const std::string& text) {
  try {
    parse_suite(text, "suite.toml", kSchemes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no mistake";
}

TEST_CASE("a mistake is named with the file, the line and the key, and what was expected") {
  const std::string long_name(201, 'x');
  const std::string percent = "expected a share of the time from 0.001% to 100%, such as 2%, got ";
  const std::string time = "expected a time from 1ns to 24 hours, such as 800us, 3ms or 10s, got ";
  const std::string board = "[boards.pi]\nremote = 'pi'\n";
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "suite.toml: expected a case, as in [cases.mm] with kernel = \"kernels/mm.tc\""},
      {"[cases]", "suite.toml: expected a case, as in "},
      {"tolerence = '2%'\n" + with_case(""),
       "suite.toml:1: unknown key 'tolerence'; the nearest that is known is 'tolerance'"},
      {with_case("tolerence = '2%'"),
       "suite.toml:3: unknown key 'cases.mm.tolerence'; the nearest that is known is 'cases.mm.tolerance'"},
      {with_case("size = 'n=1'"),
       "suite.toml:3: unknown key 'cases.mm.size'; the nearest that is known is 'cases.mm.sizes'"},
      {with_case("limits.tyme = '1s'"),
       "suite.toml:3: unknown key 'cases.mm.limits.tyme'; the nearest that is known is 'cases.mm.limits.time'"},
      {"[case.mm]", "suite.toml:1: unknown key 'case'; the nearest that is known is 'cases'"},
      {"cases = 1", "suite.toml:1: cases: expected a table, got 1"},
      {"[cases]\nmm = 'mm.tc'", "suite.toml:2: expected a table, as in [cases.mm], got a value"},
      {"[[cases]]", "suite.toml:1: cases: expected a table, got an array"},
      {"[cases.mm]\n[cases.mm]", "suite.toml:2:"},
      {"[cases.mm]", "suite.toml:1: cases.mm: expected a kernel, as in kernel = \"kernels/mm.tc\""},
      {"[cases.mm]\nkernel = ''", "suite.toml:2: cases.mm.kernel: expected 1 to 4096 bytes, got 0"},
      {"[cases.mm]\nkernel = '-'", "suite.toml:2: cases.mm.kernel: expected a file, got stdin"},
      {"[cases.mm]\nkernel = ['mm.tc']", "suite.toml:2: cases.mm.kernel: expected a string, got an array"},
      {"[cases.mm]\nkernel = \"a\\u0000\"", "suite.toml:2: cases.mm.kernel: expected a string without NUL"},
      {"[cases.'']", "suite.toml:1: expected a name of 1 to 200 printable bytes, without spaces around it, got ''"},
      {"[cases.' mm']", "suite.toml:1: expected a name of 1 to 200 printable bytes"},
      {"[cases.\"a\\u001b[2J\"]", "without spaces around it, got 'a\\x1b[2J'"},
      {"[cases." + long_name + "]", "suite.toml:1: expected a name of 1 to 200 printable bytes"},
      {"name = \"a\\nb\"\n" + with_case(""), "suite.toml:1: expected a name of 1 to 200 printable bytes"},
      {"name = 1", "suite.toml:1: name: expected a string, got 1"},
      {"error-level = '0%'",
       "suite.toml:1: error-level: expected a probability above 0% and up to 50%, such as 1%, got '0%'"},
      {"error-level = '51%'", "suite.toml:1: error-level: expected a probability above 0% and up to 50%, "},
      {"error-level = 0.01",
       "suite.toml:1: error-level: expected a probability above 0% and up to 50%, such as 1%, got 0.01"},
      {"pairs = 0", "suite.toml:1: pairs: expected a whole number from 1 to 1000, got 0"},
      {"pairs = 1001", "suite.toml:1: pairs: expected a whole number from 1 to 1000, got 1001"},
      {"pairs = '64'", "suite.toml:1: pairs: expected a whole number from 1 to 1000, got a string"},
      {"pairs = 11\n" + with_case(""),
       "suite.toml:1: pairs: expected at least 12, without which no verdict is possible for 1 case on 1 board at an "
       "error level of 1.0%, got 11"},
      {"pairs = 12\n" + board + "[boards.x86]\nremote = 'x86'\n" + with_case("") + "[cases.two]\nkernel = 'a.tc'\n",
       "suite.toml:1: pairs: expected at least 14, without which no verdict is possible for 2 cases on 2 boards"},
      {"cannot-tell = 'maybe'", "suite.toml:1: cannot-tell: expected fail or pass, got 'maybe'"},
      {"cannot-tell = true", "suite.toml:1: cannot-tell: expected fail or pass, got true"},
      {"tolerance = 2", "suite.toml:1: tolerance: " + percent + "2"},
      {"tolerance = '2'", "suite.toml:1: tolerance: " + percent + "'2'"},
      {with_case("tolerance = '-1%'"), "suite.toml:3: cases.mm.tolerance: " + percent + "'-1%'"},
      {with_case("tolerance = '0%'"), "suite.toml:3: cases.mm.tolerance: " + percent + "'0%'"},
      {with_case("tolerance = '101%'"), "suite.toml:3: cases.mm.tolerance: " + percent + "'101%'"},
      {with_case("tolerance = 'nan%'"), "suite.toml:3: cases.mm.tolerance: " + percent + "'nan%'"},
      {with_case("tolerance = '1e9999%'"), "suite.toml:3: cases.mm.tolerance: " + percent},
      {with_case("tolerance = '%'"), "suite.toml:3: cases.mm.tolerance: " + percent},
      {with_case("tolerance = '2%%'"), "suite.toml:3: cases.mm.tolerance: " + percent},
      {with_case("function = 3"), "suite.toml:3: cases.mm.function: expected a string, got 3"},
      {with_case("sizes = 'M=four'"),
       "suite.toml:3: cases.mm.sizes: M=four: expected NAME=SIZE such as M=512, several with commas between"},
      {with_case("sizes = ['M=4', 'M=5']"), "suite.toml:3: cases.mm.sizes: M: expected one value, got 4 and 5"},
      {with_case("sizes = { M = 4 }"),
       "suite.toml:3: cases.mm.sizes: expected an array of strings, as in [\"a\", \"b\"], got a table"},
      {with_case("sizes = []"), "suite.toml:3: cases.mm.sizes: expected 1 to 1024 strings, got 0"},
      {with_case("inputs = ['A=:nromal']"),
       "suite.toml:3: cases.mm.inputs: A=:nromal: expected contents such as zeros"},
      {with_case("inputs = 'A=@'"), "suite.toml:3: cases.mm.inputs: A=@: expected NAME=DTYPE[SIZES]"},
      {with_case("schedule = '-'"), "suite.toml:3: cases.mm.schedule: expected a file, got stdin"},
      {with_case("knobs = ['rows']\nschedule = 's'"), "suite.toml:3: cases.mm.knobs: "},
      {with_case("knobs = ['rows=8']"), "suite.toml:3: cases.mm.knobs: expected a file of a schedule that has them"},
      {with_case("knobs = ['rows=8']\nschedule = 'default'"),
       "suite.toml:3: cases.mm.knobs: expected a file of a schedule that has them"},
      {with_case("signature = []"), "suite.toml:3: cases.mm.signature: expected a string, got an array"},
      {with_case("fixed = 'K'"), "suite.toml:3: cases.mm.fixed: K: expected NAME=SIZE such as M=512"},
      {with_case("bindings = 'shape=shape.npy'"),
       "suite.toml:3: cases.mm.bindings: shape=shape.npy: expected NAME=@FILE.npy"},
      {with_case("bindings = '=@shape.npy'"), "suite.toml:3: cases.mm.bindings: =@shape.npy: expected NAME=@FILE.npy"},
      {with_case("winograd = 'on'"), "suite.toml:3: cases.mm.winograd: expected true or false, got a string"},
      {with_case("int8 = 0"), "suite.toml:3: cases.mm.int8: expected true or false, got 0"},
      {with_case("allow-difference = 1"), "suite.toml:3: cases.mm.allow-difference: expected true or false, got 1"},
      {with_case("limits = '3ms'"), "suite.toml:3: cases.mm.limits: expected a table, got a string"},
      {with_case("limits.time = '3'"), "suite.toml:3: cases.mm.limits.time: " + time + "'3'"},
      {with_case("limits.time = 3"), "suite.toml:3: cases.mm.limits.time: " + time + "3"},
      {with_case("limits.time = '0ms'"), "suite.toml:3: cases.mm.limits.time: " + time + "'0ms'"},
      {with_case("limits.time = '1441min'"), "suite.toml:3: cases.mm.limits.time: " + time + "'1441min'"},
      {with_case("limits.time = '3 furlongs'"), "suite.toml:3: cases.mm.limits.time: " + time + "'3 furlongs'"},
      {with_case("limits.bytes = 0"),
       "suite.toml:3: cases.mm.limits.bytes: expected a number of bytes above 0, such as 512, 40K or 2M, got 0"},
      {with_case("limits.bytes = -1"), "suite.toml:3: cases.mm.limits.bytes: expected a number of bytes above 0"},
      {with_case("limits.bytes = '9999999999G'"),
       "suite.toml:3: cases.mm.limits.bytes: expected a number of bytes above 0"},
      {with_case("limits.bytes = '40 k'"), "suite.toml:3: cases.mm.limits.bytes: expected a number of bytes above 0"},
      {with_case("limits.flops = '101%'"),
       "suite.toml:3: cases.mm.limits.flops: expected a share of the peak above 0% and up to 100%, such as 50%, got "
       "'101%'"},
      {with_case("limits.flops = '0%'"), "suite.toml:3: cases.mm.limits.flops: expected a share of the peak above 0%"},
      {with_case("boards = ['pi']"), "suite.toml:3: cases.mm.boards: expected a table [boards.pi] with its remote"},
      {board + with_case("boards = ['py']"),
       "suite.toml:5: cases.mm.boards: unknown board 'py'; the nearest known are pi"},
      {board + with_case("boards = ['pi',\n'pi']"),
       "suite.toml:5: cases.mm.boards: expected each board once, got pi twice"},
      {board + with_case("boards = []"), "suite.toml:5: cases.mm.boards: expected 1 to 64 strings, got 0"},
      {"[boards.pi]\n", "suite.toml:1: boards.pi: expected a remote, as in remote = \"farm://lab/rpi4\""},
      {"[boards.pi]\nremote = ''", "suite.toml:2: boards.pi.remote: expected 1 to 1024 bytes, got 0"},
      {"[boards.pi]\nremotes = 'pi'",
       "suite.toml:2: unknown key 'boards.pi.remotes'; the nearest that is known is 'boards.pi.remote'"},
      {"[boards.pi]\nremote = 'farm://lab'", "suite.toml:2: boards.pi.remote: expected "},
      {"[boards.pi]\nremote = 'ssh://-oProxyCommand=x'", "suite.toml:2: boards.pi.remote: expected a host in ssh://"},
      {"[boards.pi]\nremote = 'http://pi'",
       "suite.toml:2: boards.pi.remote: expected a name in devices.toml, HOST:PORT, ssh://USER@HOST or "
       "farm://FARM/SELECTOR, got 'http://pi'"},
      {"[boards]\npi = 'ssh://pi'", "suite.toml:2: expected a table, as in [boards.pi], got a value"},
      {with_case("target = 1"), "suite.toml:3: cases.mm.target: expected a string, got 1"},
      {with_case("cflags = ['-O3']"), "suite.toml:3: cases.mm.cflags: expected a string, got an array"},
      {with_case("seed = -1"),
       "suite.toml:3: cases.mm.seed: expected a whole number from 0 to 9223372036854775807, got -1"},
      {with_case("rtol = -1"), "suite.toml:3: cases.mm.rtol: expected a number from 0 to 1e+30, got -1"},
      {with_case("atol = nan"), "suite.toml:3: cases.mm.atol: expected a number from 0 to 1e+30, got nan"},
      {with_case("atol = inf"), "suite.toml:3: cases.mm.atol: expected a number from 0 to 1e+30, got inf"},
      {with_case("threads = 0"), "suite.toml:3: cases.mm.threads: expected a whole number from 1 to 4096, got 0"},
      {with_case("cores = 'huge'"),
       "suite.toml:3: cases.mm.cores: expected 'any', 'big', 'little' or numbers such as 0,2-3, got 'huge'"},
      {with_case("cores = [0]"), "suite.toml:3: cases.mm.cores: expected a string, got an array"},
      {with_case("cold = 'yes'"), "suite.toml:3: cases.mm.cold: expected true or false, got a string"},
      {with_case("samples = 50001"),
       "suite.toml:3: cases.mm.samples: expected a whole number from 1 to 50000, got 50001"},
      {with_case("timeout = 'never'"), "suite.toml:3: cases.mm.timeout: " + time + "'never'"},
      {with_case("kernel = 'b.tc'"), "suite.toml:3:"},
      {with_case("\xff = 1"), "suite.toml:2:"},
      {std::string("a = 1\0", 6), "suite.toml:1:"},
      {"x = " + std::string(100'000, '['), "suite.toml:1:"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text.substr(0, 200));
    const std::string mistake = mistake_of(one.text);
    CHECK_MESSAGE(mistake.find(one.message) != std::string::npos, "got: " << mistake << "\nexpected: " << one.message);
    CHECK(mistake.find_first_of("\x1b\n") == std::string::npos);
  }
}

TEST_CASE("as few pairs as a verdict takes are accepted") {
  CHECK(mistake_of("pairs = 12\n" + with_case("")) == "no mistake");
  CHECK(mistake_of("pairs = 6\nerror-level = '50%'\n" + with_case("")) == "no mistake");
}

TEST_CASE("a value without its quotes is named with its place and how to write it") {
  const struct {
    std::string text, message;
  } cases[] = {
      {"tolerance = 2%", "1:14: expected a value, got 2%; write it in quotes: tolerance = \"2%\""},
      {"tolerance = 2%  # of the time\n" + with_case(""), "tolerance = \"2%\""},
      {"target = x86", "got x86; write it in quotes: target = \"x86\""},
      {"target = x86-64", "target = \"x86-64\""},
      {"cores = big\n[cases.mm]\nkernel = a.tc", "1:9: expected a value, got big; write it in quotes: cores = \"big\""},
      {"timeout = 10s", "timeout = \"10s\""},
      {"cflags = -O3 -ffast-math", "cflags = \"-O3 -ffast-math\""},
      {with_case("limits = { time = 3ms, bytes = 40K }"),
       "3:20: expected a value, got 3ms; write it in quotes: time = "},
      {with_case("limits = { time = '3ms', bytes = 40K }"), "got 40K; write it in quotes: bytes = \"40K\""},
      {with_case("sizes = M=512,N=512"), "write it in quotes: sizes = \"M=512,N=512\""},
      {with_case("sizes = [M=512, N=512]"), "got M=512; write it in quotes: \"M=512\""},
      {with_case("boards = [pi]"), "got pi; write it in quotes: \"pi\""},
      {with_case("kernel = kernels/mm.tc"), "suite.toml:3:"},
      {"[cases.mm]\nkernel = kernels/mm.tc", "write it in quotes: kernel = \"kernels/mm.tc\""},
      {"cold = yes", "expected a value, got yes; write: cold = true"},
      {"cold = False", "expected a value, got False; write: cold = false"},
      {"target = x\u00e9\u202e", "suite.toml:1:"},
      {"# \u00e9\u00e9\nname = \u00e9", "2:8: expected a value, got \u00e9; write it in quotes: name = \"\u00e9\""},
      {"target = \"x86\n", "suite.toml:1:14: expected the quote that ends the string"},
      {"tolerance 3", "1:11: key-value pair: expected '=', saw '3'"},
      {"[cases mm]", "suite.toml:1:8: "},
      {"= 3", "suite.toml:1:1: "},
      {"a =", "suite.toml:1:4: "},
      {"tolerance = '2%", "expected the quote that ends the string"},
      {"tolerance = 2%'", "suite.toml:1:"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    const std::string mistake = mistake_of(one.text);
    CHECK_MESSAGE(mistake.find(one.message) != std::string::npos, "got: " << mistake << "\nexpected: " << one.message);
    CHECK(mistake.find("\u202e") == std::string::npos);
  }
  // Other mistakes get no such advice.
  for (const char* text : {"tolerance 3", "[cases mm]", "= 3", "a =", "tolerance = 2%'", "a = 1\na = 2", "a = [1"}) {
    CAPTURE(text);
    CHECK(mistake_of(text).find("in quotes") == std::string::npos);
  }
}

TEST_CASE("more cases, boards or bytes than the limits are refused, and as many are read") {
  std::string cases, boards;
  for (std::size_t i = 0; i < kMaxCases; ++i) cases += "[cases.c" + std::to_string(i) + "]\nkernel = 'a.tc'\n";
  for (std::size_t i = 0; i < kMaxBoards; ++i) boards += "[boards.b" + std::to_string(i) + "]\nremote = 'b'\n";
  const Suite most = parse_suite(cases + boards, "suite.toml", kSchemes);
  CHECK(most.cases.size() == kMaxCases);
  CHECK(most.cases.back().name == "c9999");
  CHECK(most.boards.size() == kMaxBoards);
  CHECK(mistake_of(cases + "[cases.one-more]\n").find("cases: expected at most 10000, got 10001") != std::string::npos);
  CHECK(mistake_of(boards + "[boards.one-more]\n").find("boards: expected at most 64, got 65") != std::string::npos);
  CHECK(mistake_of("#" + std::string(kMaxSuiteBytes, 'x')) ==
        "suite.toml: cannot be read: expected at most 8388608 bytes, got 8388609");
}

TEST_CASE("random inputs are those of the seed that a run has drawn, unless the suite names one") {
  const TemporaryFolder folder;
  const std::string file = folder.file("suite.toml");
  std::ofstream(file) << with_case("seed = 3") << "\n[cases.other]\nkernel = 'other.tc'\n";
  const Suite suite = read_suite(file, kSchemes, 77);
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[0].call.seed == 3);
  CHECK(suite.cases[1].call.seed == 77);
}

TEST_CASE("files that do not exist are noted in their case, with its line, and the others stay as they are") {
  const TemporaryFolder folder;
  const std::string file = folder.file("suite.toml");
  const auto missing_with = [&](const std::string& lines) {
    std::ofstream(file) << with_case(lines) << "\n[cases.other]\nkernel = 'other.tc'\n";
    const Suite suite = read_suite(file, kSchemes);
    REQUIRE(suite.cases.size() == 2);
    CHECK(suite.cases[1].missing_file.empty());
    return suite.cases[0].missing_file;
  };
  const std::string start = file + ":1: cases.mm: " + folder.path();
  std::ofstream(folder.file("other.tc")) << "def other(float(n) A) -> (B) { B(i) = A(i) }\n";
  CHECK(missing_with("") == start + "/mm.tc: No such file or directory");
  std::ofstream(folder.file("mm.tc")) << "def mm(float(n) A) -> (B) { B(i) = A(i) }\n";
  CHECK(missing_with("") == "");
  CHECK(missing_with("schedule = 'none'") == "");
  CHECK(missing_with("schedule = 'mm.schedule'") == start + "/mm.schedule: No such file or directory");
  CHECK(missing_with("inputs = 'A=@a.npy'") == start + "/a.npy: No such file or directory");
  CHECK(missing_with("bindings = 's=@s.npy'") == start + "/s.npy: No such file or directory");
  std::filesystem::create_directory(folder.file("a.npy"));
  CHECK(missing_with("inputs = 'A=@a.npy'") == start + "/a.npy: expected a file, got something else");
  CHECK_THROWS_WITH_AS(read_suite(folder.file("none.toml"), kSchemes),
                       (folder.file("none.toml") + ": cannot be read: No such file or directory").c_str(), UsageError);
  std::ofstream(file) << "";
  CHECK_THROWS_AS(read_suite(file, kSchemes), UsageError);
}

TEST_CASE("an earlier name that another case has now, or the case itself, is refused") {
  const std::string start = "suite.toml:3: cases.mm.was: expected a name that no case of the suite has any more, got ";
  CHECK(mistake_of(with_case("was = 'old'\n")) == "no mistake");
  CHECK(mistake_of(with_case("was = 'mm'\n")) == start + "'mm', its own");
  CHECK(mistake_of(with_case("was = 'old'\n[cases.old]\nkernel = 'a.tc'\n")) == start + "'old'");
  CHECK(mistake_of(with_case("was = ['old']\n")).find("suite.toml:3: cases.mm.was: expected a string") == 0);
}

}  // namespace
}  // namespace ferry::test
