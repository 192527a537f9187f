// Tests of connections that break while ferry uploads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/slow_link.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const std::string kServer = std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server";
// Far more elements than the buffers of the systems on the path can hold.
constexpr std::size_t kElements = 16 << 20;

std::string ones_npy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(kElements) + ",), }";
  header.resize(128 - 10 - 1, ' ');
  header += '\n';
  std::string file = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  file.reserve(file.size() + 4 * kElements);
  for (std::size_t i = 0; i < kElements; ++i) file.append("\x00\x00\x80\x3f", 4);
  return file;
}

// Runs `ferry run` and cuts its first `times` uploads half way.
Outcome run_through_cuts(const Folder& folder, int times) {
  const test::ListeningServer server(kServer);
  test::SlowLink link(server.port(), {std::chrono::milliseconds(2), 100e6});
  std::atomic<bool> done{false};
  std::thread scissors([&] {
    std::size_t seen = 0;
    for (int i = 0; i < times && !done; ++i) {
      while (link.carried() < seen + kElements && !done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      link.cut();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      seen = link.carried();
    }
  });
  const Outcome outcome = run_ferry({"run", "-e", "def sum(float(N) A) -> (B) { B() +=! A(i) }", "--arg",
                                     "A=@" + folder.file("a.npy", ones_npy()), "-r", "plaintext://" + link.address()});
  done = true;
  scissors.join();
  return outcome;
}

}  // namespace

TEST_CASE("an upload that was cut off is made again, and that is said") {
  const Folder folder;
  const Outcome outcome = run_through_cuts(folder, 1);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("16777216") != std::string::npos);
  CHECK(outcome.err.find("the connection to 127.0.0.1:") != std::string::npos);
  CHECK(outcome.err.find("; nothing has run there yet, so trying again\n") != std::string::npos);
}

TEST_CASE("an upload that is cut off again and again is given up") {
  const Folder folder;
  const Outcome outcome = run_through_cuts(folder, 100);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 3);
  CHECK(outcome.err.find("ferry: the connection to 127.0.0.1:") != std::string::npos);
  CHECK(outcome.seconds < 10);
}
