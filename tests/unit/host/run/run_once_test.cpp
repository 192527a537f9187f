// Tests of running a kernel once: what comes back, what is written to files, and what is checked.
#include "host/run/run_once.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ferry/error.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/tensor_file.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n";
const std::string kWrong =
    "// ferry: twice(in f32[N] A, out f32[N] B)\n"
    "void twice(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = i == 2 ? 7 : a[i] + a[i]; }\n";

RunRequest request_for(const KernelOptions& kernel, const std::string& reference = {}) {
  RunRequest request;
  request.kernels = verify::read_checked_pair(test::own_compiler(), kernel, reference);
  request.call.arguments = {"A=:iota"};
  request.call.sizes = {"N=5"};
  return request;
}

RunRequest twice() {
  KernelOptions kernel;
  kernel.expression = kTwice;
  return request_for(kernel);
}

RunRequest in_c(const std::string& file, const std::string& reference) {
  KernelOptions kernel;
  kernel.file = file;
  return request_for(kernel, reference);
}

Device this_machine(const ConnectOptions& options) { return local_device(options); }

const std::vector<float> kResult = {0, 2, 4, 6, 8};
std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(float)};
}

}  // namespace

TEST_CASE("outputs come back if they are short enough, or wanted for a check or a file") {
  RunRequest request = twice();
  const RunReport left = run_once(this_machine, request);
  REQUIRE(left.outputs.size() == 1);
  CHECK(left.outputs[0].parameter == 1);
  CHECK(left.outputs[0].elements == 5);
  CHECK(left.outputs[0].bytes.empty());
  CHECK(left.function.name == "twice");
  CHECK(left.device == "this machine");
  CHECK(left.module_bytes > 0);
  CHECK(left.findings.checks.empty());
  request.most_elements = 5;
  CHECK(run_once(this_machine, request).outputs[0].bytes == bytes_of(kResult));
  request.most_elements = 0;
  request.by_definition = true;
  const RunReport checked = run_once(this_machine, request);
  CHECK(checked.outputs[0].bytes == bytes_of(kResult));
  REQUIRE(checked.findings.checks.size() == 1);
  CHECK(checked.findings.is_fine());
}

TEST_CASE("an output goes to the file that is named for it, which is checked before anything runs") {
  const test::Folder folder;
  RunRequest request = twice();
  const std::string file = folder.path("b.npy");
  request.files = {{"B", file}};
  const RunReport ran = run_once(this_machine, request);
  CHECK(ran.outputs[0].file == file);
  CHECK(read_tensor(file).bytes == bytes_of(kResult));
  const auto never = [](const ConnectOptions&) -> Device { throw std::logic_error("a session was opened"); };
  request.files = {{"B", folder.path("none/b.npy")}};
  CHECK_THROWS_WITH_AS(run_once(never, request),
                       ("cannot write '" + folder.path("none/b.npy") + "': No such file or directory").c_str(),
                       UsageError);
  request.files = {{"D", file}};
  CHECK_THROWS_WITH_AS(run_once(this_machine, request),
                       ("D=@" + file + ": twice has no output 'D'; expected one of: B").c_str(), OptionError);
}

TEST_CASE("a wrong result is found by the definition of a reference, and by a reference that runs beside it") {
  const test::Folder folder;
  const std::string wrong = folder.file("wrong.c", kWrong);
  const RunReport by_definition = run_once(this_machine, in_c(wrong, folder.file("twice.tc", kTwice)));
  CHECK_FALSE(by_definition.findings.is_fine());
  CHECK(by_definition.findings.mistake() == "B[2] is 7.00000000, expected 4.00000000");
  std::string right = kWrong;
  right.replace(right.find("i == 2 ? 7 : "), 13, "");
  const RunReport by_run = run_once(this_machine, in_c(wrong, folder.file("right.c", right)));
  CHECK(by_run.findings.checks.empty());
  CHECK(by_run.findings.mistake() == "B[2] 7 against 4 (1 of 5 elements differ)");
  CHECK(run_once(this_machine, in_c(folder.path("right.c"), folder.path("twice.tc"))).findings.is_fine());
}

TEST_CASE(
    "a session that is lost before anything ran is opened again, and a kernel without a definition has no check") {
  int sessions = 0;
  const auto flaky = [&](const ConnectOptions& options) {
    if (++sessions < 3) throw ConnectionLost("lost", true);
    return local_device(options);
  };
  CHECK(run_once(flaky, twice()).outputs.size() == 1);
  CHECK(sessions == 3);
  const test::Folder folder;
  RunRequest request = in_c(folder.file("wrong.c", kWrong), "");
  request.by_definition = true;
  CHECK_THROWS_AS(run_once(this_machine, request), OptionError);
}
