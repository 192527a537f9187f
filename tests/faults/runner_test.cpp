// Tests of kernels that try to look faster than they are when they are measured in a process of their own. They run
// natively, because emulators do not confine processes.
#include <dirent.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/runner_kernels.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kElements = 10'000;

// A session with the cheating kernels.
struct Session {
  TestServer server{{"--sessions", "1", "--threads", "1"}};
  TestClient client{server.port()};
  rpc::Handle module = put(client, cheating_kernels());
  std::vector<float> input;
  rpc::Handle x, y;

  Session() {
    for (std::int64_t i = 0; i < kElements; ++i) input.push_back(static_cast<float>(i % 1000) + 0.5F);
    x = client.upload(input);
    y = client.upload(std::vector<float>(kElements, -1));
  }

  rpc::Call call(const char* function) const {
    return {module, function, {tensor(x, {kElements}), tensor(y, {kElements})}};
  }
  Answer<Evaluation> measure(const std::vector<const char*>& functions, bool fresh_inputs = false) {
    rpc::Evaluate request;
    for (const char* function : functions) request.calls.push_back(call(function));
    request.options = {.number = 1, .repeat = 20, .min_repeat_ms = 0, .warmup_ms = 1};
    request.options.poison = 99;
    request.options.isolated = true;
    request.options.fresh_inputs = fresh_inputs;
    return client.ask(request);
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

bool isolates() {
  Session session;
  const auto answer = session.measure({"square"});
  REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
  if (answer.reply.environment.isolation != TimingIsolation::none) return true;
  MESSAGE("skipped: " << answer.reply.environment.not_isolated);
  return false;
}

TEST_CASE("kernels that do anything but compute are stopped") {
  if (!isolates()) return;
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : stopped_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      Session session;
      const Status status = session.measure({cheat.function}, fresh_inputs).status;
      CHECK_MESSAGE(status.code() == ErrorCode::kernel_crashed, status.message());
      CHECK_MESSAGE(status.message().find(std::string(cheat.function) + ": the kernel ended the session with SIG") == 0,
                    status.message());
      check_next_session(session.server);
    }
  }
}

TEST_CASE("calls without their work are seen") {
  if (!isolates()) return;
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : seen_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      Session session;
      const auto answer = session.measure({"square", cheat.function}, fresh_inputs);
      REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
      CHECK(answer.reply.environment.fresh_inputs == fresh_inputs);
      CHECK(answer.reply.calls.at(0).unwritten + answer.reply.calls.at(0).changed == 0);
      CHECK(answer.reply.calls.at(1).unwritten + answer.reply.calls.at(1).changed > 0);
    }
  }
}

TEST_CASE("a kernel that says that a window is over before its work is done is seen, stopped, or not listened to") {
  if (!isolates()) return;
  int listened_to = 0;
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : early_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      Session session;
      const auto answer = session.measure({"square", cheat.function}, fresh_inputs);
      if (!answer.status.is_ok()) {
        CHECK_MESSAGE(answer.status.code() == ErrorCode::kernel_crashed, answer.status.message());
        listened_to += answer.status.message().find("the times say nothing") != std::string::npos ? 1 : 0;
        continue;
      }
      const Samples& samples = answer.reply.calls.at(1);
      if (samples.unwritten + samples.changed == 0) {
        CHECK(median(samples.seconds) > 0.5 * median(answer.reply.calls.at(0).seconds));
      } else {
        ++listened_to;
      }
    }
  }
  CHECK(listened_to >= 2);  // with and without fresh inputs
}

TEST_CASE("results that a kernel has kept are wrong for fresh inputs, or are hardly ever of use") {
  if (!isolates()) return;
  for (const Cheat& cheat : copying_cheats()) {
    CAPTURE(std::string(cheat.description));
    Session session;
    const auto answer = session.measure({"square", cheat.function}, true);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    CHECK(answer.reply.calls.at(0).unwritten + answer.reply.calls.at(0).changed == 0);
    CHECK(answer.reply.calls.at(1).unwritten == 0);
    if (answer.reply.calls.at(1).changed == 0)
      CHECK(median(answer.reply.calls.at(1).seconds) > 0.5 * median(answer.reply.calls.at(0).seconds));
  }
}

TEST_CASE("a kernel that changes what looks like a time, or waits for inputs that it knows, is as slow as it is") {
  if (!isolates()) return;
  for (const Cheat& cheat : timed_cheats()) {
    CAPTURE(std::string(cheat.description));
    Session session;
    const auto answer = session.measure({"square", cheat.function}, true);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    CHECK(answer.reply.calls.at(1).unwritten + answer.reply.calls.at(1).changed == 0);
    // Half would be a cheat; the rest is the noise of a busy machine.
    CHECK(median(answer.reply.calls.at(1).seconds) > 0.5 * median(answer.reply.calls.at(0).seconds));
  }
}

std::vector<pid_t> processes_below(pid_t process) {
  std::vector<pid_t> found = children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  std::erase_if(found, has_ended);
  return found;
}

std::size_t open_descriptors(pid_t process) {
  std::size_t count = 0;
  DIR* folder = opendir(("/proc/" + std::to_string(process) + "/fd").c_str());
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

// Returns how much of the object of memory that it shares with its session the process has mapped.
std::uint64_t shared_bytes(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::uint64_t shared = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd") == std::string::npos) continue;
    shared += std::stoull(line.substr(line.find('-') + 1), nullptr, 16) - std::stoull(line, nullptr, 16);
  }
  return shared;
}

TEST_CASE("the process of a measured kernel has neither the session's descriptors nor other tensors") {
  if (!isolates()) return;
  TestServer server({"--sessions", "1", "--threads", "1"});
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const auto other = client.upload(std::vector<float>(1 << 20, 1));
  rpc::Evaluate request;
  request.calls = {{module, "forever", {}}};
  request.options.isolated = true;
  client.send(request);
  std::vector<pid_t> processes;
  for (int i = 0; i < 500 && processes.size() != 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it tells nobody when it begins
    processes = processes_below(server.process());
  }
  REQUIRE(processes.size() == 3);  // session, zygote, runner
  const pid_t runner = processes[2];
  if (open_descriptors(runner) == 0) {
    MESSAGE("skipped: this user may not look into it");
    return;
  }
  // The standard streams and its end of the socket that tells of its death, and of those on which it says that it
  // stops.
  const std::size_t own = has_agent() ? 6 : 4;
  // It runs the kernel once it has closed all else.
  for (int i = 0; i < 500 && (shared_bytes(runner) == 0 || open_descriptors(runner) != own); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(open_descriptors(runner) == own);
  const std::uint64_t shared = shared_bytes(runner);
  CHECK(shared > 0);
  CHECK(shared <= 128 << 10);
  (void)other;
}

}  // namespace
}  // namespace ferry::test
