// Tests of a session with a device besides the CPU: its memory, its modules and refused requests, over the wire.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tests/paths.h"
#include "tests/unit/device-runtime/support/gpu_module.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

rpc::Open with_device(const std::string& name) {
  rpc::Open open;
  open.client = "test";
  open.devices = {name};
  return open;
}

// Servers for other architectures run under an emulator, for which there are no GPU drivers.
bool is_emulated() { return getenv("FERRY_TEST_ARCH") != nullptr; }

rpc::Argument vector_of(rpc::Handle buffer, std::int64_t n) { return {buffer, 0, DType::f32, {n}, false, 0}; }

rpc::Call call_of(rpc::Handle module, rpc::Handle in, rpc::Handle out, std::int64_t n, float more) {
  rpc::Argument scalar{0, 0, DType::f32, {}, true, 0};
  std::memcpy(&scalar.scalar_bits, &more, sizeof more);
  return {module, "f", {vector_of(in, n), scalar, vector_of(out, n)}};
}

rpc::Handle upload_to(TestClient& client, std::uint32_t device, const std::vector<float>& values) {
  const rpc::Handle buffer = client.new_handle();
  client.must(rpc::Alloc{buffer, values.size() * sizeof(float), device});
  client.must(rpc::Write{buffer, 0},
              {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)});
  return buffer;
}

TEST_CASE("a session that wants to know of all devices uses none of them") {
  TestServer server;
  TestClient client(server.port(), with_device("any"));
  CHECK(client.ask(rpc::Alloc{client.new_handle(), 64, 1}).status.code() == ErrorCode::not_found);
  CHECK(client.download<float>(upload_to(client, 0, {1, 2}), 2) == std::vector<float>{1, 2});
}

// The servers of other architectures run in emulators, where these devices are not.
TEST_SUITE_BEGIN("GPUs" * doctest::skip(is_emulated()));

TEST_CASE("a session on an OpenCL device takes memory there, runs a plan, measures it and reads the result") {
  TestServer server;
  TestClient client(server.port(), with_device("opencl"));
  bool is_listed = false;
  for (const ComputeDevice& device : client.opened().facts.devices) is_listed = is_listed || device.kind == "opencl";
  CHECK(is_listed);
  // Larger than one staging buffer.
  const std::int64_t n = (5 << 20) / 4 + 3;
  std::vector<float> a(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1000);
  const rpc::Handle in = upload_to(client, 1, a), out = upload_to(client, 1, a);
  const rpc::Handle module = put(client, write_module(gpu_module()));
  client.must(call_of(module, in, out, n, 0.25F));
  const std::vector<float> c = client.download<float>(out, a.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) wrong += c[a.size() - 1 - i] != 2 * a[i] + 0.25F ? 1 : 0;
  CHECK(wrong == 0);
  rpc::Evaluate measure;
  measure.calls = {call_of(module, in, out, n, 0.25F)};
  measure.options.repeat = 3;
  CHECK(client.must(measure).reply.calls.front().seconds.size() == 3);
}

TEST_CASE("memory is copied from one of a session's devices to another, in parts too") {
  TestServer server;
  TestClient client(server.port(), with_device("opencl"));
  // Larger than one chunk of a copy.
  std::vector<float> numbers((9 << 20) / 4 + 7);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 4099);
  const std::uint64_t bytes = numbers.size() * sizeof(float);
  const rpc::Handle there = upload_to(client, 1, numbers), here = client.new_handle(), back = client.new_handle();
  client.must(rpc::Alloc{here, bytes, 0});
  client.must(rpc::Alloc{back, bytes, 1});
  client.must(rpc::Copy{here, 0, there, 0, bytes});
  CHECK(client.download<float>(here, numbers.size()) == numbers);
  client.must(rpc::Copy{back, 4, here, 0, bytes - 4});
  const std::vector<float> moved = client.download<float>(back, numbers.size());
  CHECK(moved[0] == 0);
  CHECK(std::equal(moved.begin() + 1, moved.end(), numbers.begin()));
  client.must(rpc::Copy{back, 0, here, 0, 0});
  CHECK(client.ask(rpc::Copy{back, 8, here, 0, bytes}).status.code() == ErrorCode::invalid_argument);
}

// Binds instances of f on the device, calls them and breaks the rules.
void check_instances(TestClient& client, const ModuleFile& module_file) {
  const rpc::Handle module = put(client, write_module(with_init_plan(with_verdict(module_file))));
  const std::int64_t n = 1000;
  const rpc::Handle ones = upload_to(client, 1, std::vector<float>(1000, 1));
  const rpc::Handle threes = upload_to(client, 1, std::vector<float>(1000, 3));
  const rpc::Handle out = upload_to(client, 1, std::vector<float>(1000, 0)), here = upload_to(client, 0, {1});
  const auto bind_of = [&](rpc::Handle constant, std::int64_t size) {
    return rpc::Bind{client.new_handle(), module, "f", {vector_of(constant, size)}};
  };
  const rpc::Bind first = bind_of(ones, n), second = bind_of(threes, n);
  client.must(first);
  client.must(second);
  const auto result = [&](rpc::Handle constant, rpc::Handle instance) {
    rpc::Call call = call_of(module, constant, out, n, 0.5F);
    call.instance = instance;
    client.must(call);
    return client.download<float>(out, 1000)[7];
  };
  CHECK(result(ones, first.instance) == 2.5F);
  CHECK(result(threes, second.instance) == 6.5F);
  // A call launches only what depends on more than the constant.
  rpc::TimeSteps steps{call_of(module, ones, out, n, 0.5F), 1, false};
  steps.call.instance = first.instance;
  const std::vector<StepTime> times = client.must(steps).reply.steps;
  REQUIRE(times.size() == 1);
  CHECK(times[0].kernel == "reversed");
  CHECK(client.ask(call_of(module, ones, out, n, 0.5F)).status.message() ==
        "f: expected an instance, got none: bind its constants first");
  CHECK(client.ask(bind_of(ones, 999)).status.message() == "f: n is odd");
  CHECK(client.ask(bind_of(here, 1)).status.message().find("expected memory of the device that the module is on") !=
        std::string::npos);
  client.must(rpc::Free{first.instance});
  CHECK(result(threes, second.instance) == 6.5F);
}

TEST_CASE("an instance on an OpenCL device keeps what its init plan computed") {
  TestServer server;
  TestClient client(server.port(), with_device("opencl"));
  check_instances(client, gpu_module());
}

// Uses tests/support/fake_cuda in place of NVIDIA's driver.
std::vector<std::string> with_fake_gpu(const std::string& setting = "FERRY_FAKE=") {
  return {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", setting};
}

TEST_CASE("a session on a GPU runs a plan, measures it warm and cold by its events, and notes its clocks") {
  TestServer server({}, with_fake_gpu());
  TestClient client(server.port(), with_device("cuda"));
  std::string name;
  for (const ComputeDevice& device : client.opened().facts.devices) name += device.kind == "cuda" ? device.name : "";
  CHECK(name == "Fake GPU 0 (sm_90)");
  // Spans several chunks of the pinned memory.
  const std::int64_t n = (13 << 20) / 4 + 3;
  std::vector<float> a(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1000);
  const rpc::Handle in = upload_to(client, 1, a), out = upload_to(client, 1, a);
  const rpc::Handle module = put(client, write_module(cuda_module()));
  client.must(call_of(module, in, out, n, 0.25F));
  const std::vector<float> c = client.download<float>(out, a.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) wrong += c[a.size() - 1 - i] != 2 * a[i] + 0.25F ? 1 : 0;
  CHECK(wrong == 0);
  rpc::Evaluate evaluate;
  evaluate.calls = {call_of(module, in, out, 1000, 0.25F)};
  evaluate.options.number = 1;
  evaluate.options.min_repeat_ms = 0;
  evaluate.options.repeat = 5;
  evaluate.options.watch = {"/proc/loadavg", "gpu:sm_clock_mhz", "gpu:throttle_reasons", "gpu:nothing"};
  const Evaluation warm = client.must(evaluate).reply;
  CHECK(warm.calls.at(0).seconds.size() == 5);
  CHECK(warm.environment.clock_resolution_ns >= 500);
  CHECK(warm.environment.wiped_bytes == 0);
  REQUIRE(warm.environment.watched.size() == 3);
  CHECK(warm.environment.watched[1].path == "gpu:sm_clock_mhz");
  CHECK(warm.environment.watched[1].before == "1755");
  CHECK(warm.environment.watched[1].after == "1755");
  evaluate.options.cold = true;
  const Evaluation cold = client.must(evaluate).reply;
  CHECK(cold.calls.at(0).seconds.size() == 5);
  CHECK(cold.environment.wiped_bytes == 2 << 20);
  rpc::TimeSteps request{call_of(module, in, out, 1000, 0.25F), 4, true};
  const rpc::StepTimes times = client.must(request).reply;
  CHECK(times.elapsed_ns > 0);
  REQUIRE(times.steps.size() == 2);
  CHECK(times.steps[0].kernel == "twice");
  CHECK(times.steps[1].registers == 24);
  CHECK(times.steps[1].seconds.size() == 4);
  request.repeat = 0;
  CHECK(client.ask(request).status.message() == "f: expected 1 to 1000 repetitions of its steps, got 0");
  CHECK(client.must(rpc::ReadFiles{{"gpu:architecture", "gpu:driver"}}).reply.texts ==
        std::vector<std::string>{"sm_90", "12.4"});
  const std::vector<std::string> limits = {"gpu:block_threads",   "gpu:block_shared_bytes", "gpu:block_registers",
                                           "gpu:warp_threads",    "gpu:multiprocessors",    "gpu:peak_clock_khz",
                                           "gpu:memory_bus_bits", "gpu:block_nothing"};
  CHECK(client.must(rpc::ReadFiles{limits}).reply.texts ==
        std::vector<std::string>{"1024", "232448", "65536", "32", "7", "1980000", "5120", ""});
}

TEST_CASE("an instance on a GPU keeps what its init plan computed") {
  TestServer server({}, with_fake_gpu());
  TestClient client(server.port(), with_device("cuda"));
  check_instances(client, cuda_module());
}

TEST_CASE("the memory of a GPU is its own, and the session's limit is for the machine's") {
  TestServer server({"--memory-limit", "16M"}, with_fake_gpu());
  TestClient client(server.port(), with_device("cuda"));
  CHECK(client.opened().facts.memory_limit_bytes == 16 << 20);
  const rpc::Handle large = client.new_handle();
  client.must(rpc::Alloc{large, 512 << 20, 1});
  CHECK(client.ask(rpc::Alloc{client.new_handle(), 20 << 20, 0}).status.code() == ErrorCode::resource_exhausted);
  const Status full = client.ask(rpc::Alloc{client.new_handle(), 600 << 20, 1}).status;
  CHECK(full.code() == ErrorCode::resource_exhausted);
  CHECK_MESSAGE(full.message().find("of the memory of this GPU of 1073741824 are in use") != std::string::npos,
                full.message());
}

TEST_CASE("a kernel that breaks the GPU ends its session, which says which kernel, and the next one works") {
  TestServer server({}, with_fake_gpu("FERRY_FAKE_CUDA_CRASH=reversed"));
  for (const char* way : {"call", "evaluate", "time_steps"}) {
    CAPTURE(way);
    TestClient client(server.port(), with_device("cuda"));
    const rpc::Handle in = upload_to(client, 1, {1, 2}), out = upload_to(client, 1, {0, 0});
    const rpc::Handle module = put(client, write_module(cuda_module()));
    const rpc::Call call = call_of(module, in, out, 2, 0);
    rpc::Evaluate measure;
    measure.calls = {call};
    measure.options.warmup_ms = 1;
    const Status crashed = way[0] == 'e'   ? client.ask(measure).status
                           : way[0] == 'c' ? client.ask(call).status
                                           : client.ask(rpc::TimeSteps{call, 1, false}).status;
    CHECK(crashed.code() == ErrorCode::kernel_crashed);
    CHECK_MESSAGE(crashed.message() ==
                      "f: kernel 'reversed' ended the session with CUDA_ERROR_ILLEGAL_ADDRESS (700): it read or wrote "
                      "outside of any memory",
                  crashed.message());
    CHECK(client.ask(rpc::Ping{}).status.code() == ErrorCode::unavailable);
  }
}

TEST_CASE("a server says why it has no GPU") {
  const auto refusal = [](const std::vector<std::string>& wrapper, const char* name) {
    TestServer server({}, wrapper);
    const auto connection = join_queue(server.port(), with_device(name));
    const auto frame = connection->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    return rpc::failure_of(frame.value()).message();
  };
  CHECK(
      refusal(with_fake_gpu("FERRY_FAKE_CUDA_VERSION=10020"), "cuda") ==
      "this server has no device 'cuda': this machine's CUDA driver supports CUDA 10.2, expected 11.0 or later; update "
      "NVIDIA's driver");
  CHECK(refusal(with_fake_gpu("FERRY_FAKE_CUDA_DEVICES=0"), "cuda:1").find("no GPU that this program may use") !=
        std::string::npos);
  CHECK(refusal(with_fake_gpu("FERRY_FAKE_CUDA_DEVICES=2"), "cuda:2") ==
        "there is no device cuda:2; this machine has 2, from cuda:0 on");
}

TEST_CASE("what does not fit a session's devices is refused, and the session goes on") {
  TestServer server;
  {
    TestClient plain(server.port());
    const rpc::Handle handle = plain.new_handle();
    const Bytes file = write_module(gpu_module());
    const auto refused = plain.ask(rpc::PutModule{handle, blake2b(file)}, file);
    CHECK(refused.status.code() == ErrorCode::unsupported);
    CHECK_MESSAGE(refused.status.message().find("this module is for opencl") == 0, refused.status.message());
  }
  TestClient client(server.port(), with_device("opencl:0"));
  const rpc::Handle module = put(client, write_module(gpu_module()));
  const rpc::Handle here = upload_to(client, 0, {1, 2}), there = upload_to(client, 1, {1, 2});
  const auto mixed = client.ask(call_of(module, here, there, 2, 0));
  CHECK_MESSAGE(mixed.status.message() ==
                    "f: argument 1 'A': expected memory of the device that the module is on "
                    "(opencl), got some of another (cpu)",
                mixed.status.message());
  CHECK(client.ask(rpc::Alloc{client.new_handle(), 64, 2}).status.code() == ErrorCode::not_found);
  const rpc::Handle in = upload_to(client, 1, {1, 2}), result = upload_to(client, 1, {0, 0});
  client.must(call_of(module, in, result, 2, 1));
  CHECK(client.download<float>(result, 2) == std::vector<float>{5, 3});
}

TEST_CASE("a device that is not there is refused as the session opens") {
  TestServer server;
  const auto open = [&](const char* name) {
    const auto connection = join_queue(server.port(), with_device(name));
    const auto frame = connection->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    return rpc::failure_of(frame.value()).message();
  };
  CHECK(open("abacus") == "this server has no device 'abacus'");
  CHECK(open("opencl:x") == "expected the number of a device after 'opencl:', got 'x'");
  CHECK(open("cpu:1") == "this server has no device 'cpu:1'");
  CHECK_MESSAGE(open("opencl:77").find("there is no device opencl:77; this machine has ") == 0, open("opencl:77"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace ferry::test
