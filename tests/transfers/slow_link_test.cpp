// Tests of a client and a server connected by a link with 100 ms and 100 Mbit/s.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "ferry/compile.h"
#include "host/client/state.h"
#include "rpc/secure/key.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/slow_link.h"

using namespace ferry;
using test::LinkSpeed;
using test::ListeningServer;
using test::SlowLink;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kServer = FERRY_BINARY_DIR "/device-runtime/rpc_server";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A server that requires a key, and that key.
struct Guarded {
  std::string folder = make_folder();
  ListeningServer server{kServer, {}, {"--quiet", "--key-file", folder + "/k.key"}};
  ~Guarded() { std::filesystem::remove_all(folder); }

  static std::string make_folder() {
    char pattern[] = "/tmp/ferry-transfers-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return pattern;
  }
  Device connect(const SlowLink& link, std::string* said = nullptr) const {
    ConnectOptions options;
    options.key_file = folder + "/k.key";
    if (said != nullptr) options.log = [said](const std::string& line) { *said += line + "\n"; };
    return ferry::connect(link.address(), options);
  }
};

}  // namespace

// The suite "timed" needs the machine for itself.
TEST_CASE("many tensors fill a slow link, none of them waiting for the last" * doctest::test_suite("timed")) {
  const Guarded guarded;
  const LinkSpeed speed;
  const SlowLink link(guarded.server.port(), speed);
  const Device device = guarded.connect(link);
  constexpr int kTensors = 96;
  const std::vector<float> content(64 << 10, 1.5f);  // 256 KiB each
  const double bytes = kTensors * static_cast<double>(content.size() * sizeof(float));
  const auto start = Clock::now();
  std::vector<DeviceTensor> tensors;
  for (int i = 0; i < kTensors; ++i)
    tensors.push_back(device.put(view(content, {static_cast<std::int64_t>(content.size())})));
  device.synchronize();
  const double share = bytes / seconds_since(start) / speed.bytes_per_second;
  MESSAGE("upload: " << share << " of the link");
  CHECK(share >= 0.8);

  std::vector<float> back(4 << 20);
  const DeviceTensor large = device.filled(DType::f32, {static_cast<std::int64_t>(back.size())}, FillKind::iota, 0);
  device.synchronize();
  const auto read_start = Clock::now();
  large.read(back.data());
  const double read_share =
      static_cast<double>(back.size() * sizeof(float)) / seconds_since(read_start) / speed.bytes_per_second;
  MESSAGE("download: " << read_share << " of the link");
  CHECK(read_share >= 0.8);
  CHECK(back[12345] == 12345.0f);
}

TEST_CASE("a whole measurement of a new module takes two round trips" * doctest::test_suite("timed")) {
  const Guarded guarded;
  const LinkSpeed speed;
  const SlowLink link(guarded.server.port(), speed);
  const Device device = guarded.connect(link);
  const CompiledModule module = compile("def twice(float(N) A) -> (B) { B(i) = A(i) * 2.0 }", target_of(device));
  const DeviceTensor input = device.filled(DType::f32, {16}, FillKind::ones, 0),
                     output = device.empty(DType::f32, {16});
  BenchOptions once;
  once.number = once.repeat = 1;
  once.min_repeat_ms = once.warmup_ms = 0;
  session::Client& client = *device.state()->client;
  const std::uint64_t before = client.round_trips();
  const auto start = Clock::now();
  device.load(module)["twice"].measure({input, output}, once);
  CHECK(client.round_trips() - before <= 2);
  CHECK(seconds_since(start) < 0.29);  // a third round trip would make it 0.3
}

TEST_CASE("a connection that is lost during a long upload is reported at once") {
  const Guarded guarded;
  SlowLink link(guarded.server.port(), LinkSpeed{});
  const Device device = guarded.connect(link);
  const std::vector<float> content(8 << 20, 1.0f);  // takes 2.7 s
  Clock::time_point cut_at;
  std::thread scissors([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    cut_at = Clock::now();
    link.cut();
  });
  std::string message;
  try {
    const DeviceTensor tensor = device.put(view(content, {static_cast<std::int64_t>(content.size())}));
    device.synchronize();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    message = error.what();
  }
  const Clock::time_point told_at = Clock::now();
  scissors.join();
  CHECK_MESSAGE(message.find("the connection to " + link.address() + " is gone") == 0, message);
  CHECK(told_at - cut_at < std::chrono::seconds(1));
}

TEST_CASE("a server that falls silent, during an upload or while it is waited for, is given up within 10 s") {
  for (const bool uploading : {true, false}) {
    CAPTURE(uploading);
    const ListeningServer server(kServer, {}, {"--quiet"});
    SlowLink link(server.port(), LinkSpeed{std::chrono::milliseconds(2), 50e6});
    const Device device = ferry::connect("plaintext://" + link.address());
    std::vector<float> content(16 << 20, 1.0f);
    const DeviceTensor tensor = device.filled(DType::f32, {1 << 20}, FillKind::ones);
    device.synchronize();
    std::thread scissors([&] {
      while (uploading && link.carried() < (4 << 20)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      link.fall_silent();
    });
    if (!uploading) scissors.join();
    const auto start = Clock::now();
    std::string message;
    try {
      if (uploading) {
        device.put(view(content, {static_cast<std::int64_t>(content.size())}));
        device.synchronize();
      } else {
        tensor.read(content.data());
      }
    } catch (const ConnectionLost& error) {
      message = error.what();
      CHECK(error.code() == ErrorCode::unavailable);
      CHECK(error.nothing_ran());
    }
    CHECK_MESSAGE(message.ends_with("is gone: no sign of life for 8 s"), message);
    CHECK(seconds_since(start) < 11);  // ten, plus the first part of the upload
    if (uploading) scissors.join();
  }
}

TEST_CASE("a server that takes its time is waited for") {
  const ListeningServer server(kServer, {}, {"--quiet"});
  const SlowLink link(server.port(), LinkSpeed{std::chrono::milliseconds(2), 50e6});
  const Device device = ferry::connect("plaintext://" + link.address());
  const CompiledModule module = compile("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", target_of(device));
  const DeviceTensor a = device.filled(DType::f32, {2}, FillKind::ones);
  const Module loaded = device.load(module);
  BenchOptions long_enough;
  long_enough.number = 1;
  long_enough.repeat = 1;
  long_enough.min_repeat_ms = 0;
  long_enough.cooldown_ms = 10'500;
  const auto start = Clock::now();
  CHECK(loaded["twice"].measure({a, device.empty(DType::f32, {2})}, long_enough).seconds.size() == 1);
  CHECK(seconds_since(start) > 10);
}

TEST_CASE("a connection that is lost before anything ran is opened again, and that is said") {
  const Guarded guarded;
  const SlowLink link(guarded.server.port(), LinkSpeed{std::chrono::milliseconds(2), 1e9}, 1);
  std::string said;
  const Device device = guarded.connect(link, &said);
  CHECK(device.facts().threads > 0);
  CHECK_MESSAGE(said.find("trying again") != std::string::npos, said);
  const SlowLink hopeless(guarded.server.port(), LinkSpeed{std::chrono::milliseconds(2), 1e9}, 100);
  try {
    guarded.connect(hopeless);
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
  }
}
