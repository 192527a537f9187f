#include "host/client/connect/local_server.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "host/client/connect_to.h"
#include "host/client/state.h"

using namespace ferry;

namespace {

// Returns whether the process has ended; waits briefly.
bool has_ended(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    if (kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

pid_t pid_of(const Device& device) { return dynamic_cast<session::LocalServer&>(*device.state()->server).pid(); }

}  // namespace

TEST_CASE("a device of this machine keeps what is written to it") {
  const Device device = local_device();
  CHECK(device.name() == "this machine");
  CHECK(!device.facts().arch.empty());
  std::vector<double> values(3'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * 0.5;
  const DeviceTensor tensor = device.put(view(values, {1000, 3000}));
  CHECK(tensor.shape() == Shape{1000, 3000});
  CHECK(tensor.to_vector<double>() == values);
}

TEST_CASE("many tensors are written and freed in a row without waiting for an answer") {
  const Device device = local_device();
  const std::vector<float> values(std::size_t{1} << 18, 2.5F);
  for (int i = 0; i < 400; ++i) device.put(view(values, {1 << 18}));
  CHECK(device.put(view(values, {1 << 18})).to_vector<float>() == values);
}

TEST_CASE("what is filled on the device has the bits that fill() gives here") {
  const Device device = local_device();
  const DeviceTensor tensor = device.filled(DType::f32, {1000}, FillKind::random, 42);
  std::vector<float> expected(1000);
  fill(FillKind::random, 42, DType::f32, 0, expected.size(), expected.data());
  CHECK(tensor.to_vector<float>() == expected);
}

TEST_CASE("tensors without elements and of rank 0 can be made and read") {
  const Device device = local_device();
  CHECK(device.filled(DType::f32, {0, 3}, FillKind::ones).to_vector<float>().empty());
  CHECK(device.filled(DType::i32, {}, FillKind::ones).to_vector<std::int32_t>() == std::vector<std::int32_t>{1});
}

TEST_CASE("memory beyond the session's limit is refused where it is used") {
  const Device device = local_device();
  const DeviceTensor tensor = device.empty(DType::u8, {std::int64_t{1} << 50});
  std::vector<std::uint8_t> first(1);
  try {
    device.synchronize();
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::resource_exhausted);
  }
  device.synchronize();
}

TEST_CASE("a shape no memory could hold is refused at once") {
  const Device device = local_device();
  CHECK_THROWS_WITH_AS(device.empty(DType::f32, {1ll << 40, 1ll << 40}),
                       "f32[1099511627776,1099511627776] is larger than any memory", Error);
  CHECK_THROWS_WITH_AS(device.empty(DType::f32, {-1}), "expected a shape without negative sizes, got f32[-1]", Error);
}

TEST_CASE("reading as another type is refused") {
  const Device device = local_device();
  CHECK_THROWS_WITH_AS(device.empty(DType::f32, {2}).to_vector<double>(),
                       "expected to read a tensor of f64, got f32[2]", Error);
}

TEST_CASE("the server ends with the last object that uses it") {
  pid_t pid = -1;
  {
    DeviceTensor last;
    {
      const Device device = local_device();
      pid = pid_of(device);
      last = device.filled(DType::f32, {4}, FillKind::ones);
    }
    CHECK(last.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  }
  CHECK(has_ended(pid));
}

TEST_CASE("the server has a process group of its own, so that Ctrl-C in a terminal reaches ferry alone") {
  const Device device = local_device();
  const pid_t pid = pid_of(device);
  CHECK(getpgid(pid) == pid);
  CHECK(getpgid(pid) != getpgrp());
}

TEST_CASE("the server ends with a process that is killed") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    const Device device = local_device();
    const pid_t server = pid_of(device);
    if (write(pipe_ends[1], &server, sizeof server) != sizeof server) _exit(1);
    for (;;) pause();
  }
  close(pipe_ends[1]);
  pid_t server = -1;
  REQUIRE(read(pipe_ends[0], &server, sizeof server) == sizeof server);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(has_ended(server));
}

TEST_CASE("FERRY_RPC_SERVER names the server, and must name a program") {
  setenv("FERRY_RPC_SERVER", "/nowhere/rpc_server", 1);
  CHECK_THROWS_WITH_AS(session::find_rpc_server(),
                       "FERRY_RPC_SERVER names '/nowhere/rpc_server', which is not a program that can be run", Error);
  setenv("FERRY_RPC_SERVER", "/bin/false", 1);
  try {
    local_device();
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK(std::string(error.what()) == "the server started here, /bin/false, has ended: exit code 1");
  }
  unsetenv("FERRY_RPC_SERVER");
}

TEST_CASE("nobody at the address is said within the time") {
  try {
    session::connect_to(session::Schemes(), "plaintext://127.0.0.1:1", {});
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    CAPTURE(error.what());
    CHECK(std::string(error.what()).find("127.0.0.1:1") != std::string::npos);
  }
}
