// Tests of modules whose plans have steps on a GPU and on the CPU beside it: the order of the steps, their times,
// memory and failures.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/paths.h"
#include "tests/unit/device-runtime/supervisor/blob_fixture.h"
#include "tests/unit/device-runtime/support/gpu_module.h"
#include "tests/unit/device-runtime/support/mixed_module.h"
#include "tests/unit/device-runtime/support/next_session.h"

namespace ferry::test {
namespace {

// Servers for other architectures run under an emulator, for which there are no GPU drivers.
bool is_emulated() { return getenv("FERRY_TEST_ARCH") != nullptr; }

rpc::Open with_devices(const std::vector<std::string>& names) {
  rpc::Open open;
  open.client = "test";
  open.devices = names;
  return open;
}

struct MixedClient : TestClient {
  MixedClient(const TestServer& server, const std::string& gpu) : TestClient(server.port(), with_devices({gpu})) {}

  // The session's devices are the CPU and the GPU.
  rpc::Handle allocate(std::uint32_t module_device, std::uint64_t bytes) {
    const rpc::Handle buffer = new_handle();
    must(rpc::Alloc{buffer, bytes, module_device == kCpu ? 0U : 1U});
    return buffer;
  }
  rpc::Handle vector_on(std::uint32_t module_device, const std::vector<float>& values) {
    const rpc::Handle buffer = allocate(module_device, values.size() * sizeof(float));
    must(rpc::Write{buffer, 0}, {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)});
    return buffer;
  }
};

// Arguments of f with n elements, A[i] = i % 1000 and B[i] = i % 7.
struct Vectors {
  MixedClient& client;
  std::int64_t n;
  std::vector<float> a, b;
  rpc::Handle in, out, beside;

  Vectors(MixedClient& of, std::int64_t count) : client(of), n(count) {
    for (std::int64_t i = 0; i < n; ++i) {
      a.push_back(static_cast<float>(i % 1000));
      b.push_back(static_cast<float>(i % 7));
    }
    in = client.vector_on(kGpu, a);
    out = client.vector_on(kGpu, std::vector<float>(a.size()));
    beside = client.vector_on(kCpu, b);
  }
  rpc::Call call(rpc::Handle module, rpc::Handle instance = 0) const {
    return {module, "f", {tensor(in, {n}), scalar(0.25F), tensor(out, {n}), tensor(beside, {n})}, instance};
  }
  // Returns how many elements of C are not times * A + B + 0.25.
  std::size_t wrong(float times = 2) const {
    const std::vector<float> c = client.download<float>(out, a.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += c[a.size() - 1 - i] != times * a[i] + b[i] + 0.25F ? 1 : 0;
    return count;
  }
};

// Calls `check` with a server, a device's name and f for it: OpenCL by PoCL, and CUDA by a stand-in for its driver.
template <class Check>
void for_each_gpu(const Check& check, const std::vector<std::string>& arguments = {}) {
  {
    const TestServer server(arguments);
    CAPTURE("opencl");
    check(server, "opencl", gpu_module());
  }
  const TestServer server(arguments, {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE="});
  CAPTURE("cuda");
  check(server, "cuda", cuda_module());
}

// The servers of other architectures run in emulators, where these devices are not.
TEST_SUITE_BEGIN("GPUs" * doctest::skip(is_emulated()));

TEST_CASE("a plan runs steps on a GPU and on the CPU, each after those that it needs, at any size, again and again") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    const rpc::Handle module = put(client, write_module(mixed_module(plain)));
    for (const std::int64_t n : {1, 7, 64, 1009, 2'000'003}) {
      CAPTURE(n);
      const Vectors vectors(client, n);
      for (int run = 0; run < 5; ++run) {
        // A step that read too early would find these, or what the run before has left.
        client.must(rpc::Fill{vectors.out, FillKind::ones, DType::f32, static_cast<std::uint64_t>(n), 0});
        client.must(vectors.call(module));
        CHECK(vectors.wrong() == 0);
      }
    }
  });
}

TEST_CASE("each step is timed by its device, and a whole call by the processor") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    const rpc::Handle module = put(client, write_module(mixed_module(plain)));
    const Vectors vectors(client, 1'000'003);
    for (const bool cold : {false, true}) {
      const rpc::StepTimes times = client.must(rpc::TimeSteps{vectors.call(module), 3, cold}).reply;
      REQUIRE(times.steps.size() == 5);
      const StepKind kinds[] = {StepKind::launch, StepKind::copy, StepKind::call, StepKind::copy, StepKind::launch};
      const std::uint32_t devices[] = {kGpu, kCpu, kCpu, kGpu, kGpu};
      const char* const names[] = {"twice", "", "add", "", "reversed"};
      for (std::size_t s = 0; s < 5; ++s) {
        CAPTURE(s);
        CHECK(times.steps[s].kind == kinds[s]);
        CHECK(times.steps[s].device == devices[s]);
        CHECK(times.steps[s].kernel == names[s]);
        REQUIRE(times.steps[s].seconds.size() == 3);
        for (const double seconds : times.steps[s].seconds) CHECK(seconds > 0);
      }
      CHECK(vectors.wrong() == 0);
      rpc::Evaluate measure;
      measure.calls = {vectors.call(module)};
      measure.options = {.number = 1, .repeat = 3, .min_repeat_ms = 0, .cold = cold};
      const std::vector<double> seconds = client.must(measure).reply.calls.front().seconds;
      REQUIRE(seconds.size() == 3);
      // The copies alone move 8 MB, which no device does within 100 us.
      for (const double one : seconds) CHECK(one > 1e-4);
    }
  });
}

TEST_CASE("an instance has persistent buffers on both devices, which its init plan computes") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    const rpc::Handle module = put(client, write_module(with_mixed_init_plan(mixed_module(plain))));
    const Vectors vectors(client, 1009);
    const rpc::Handle instance = client.new_handle();
    client.must(rpc::Bind{instance, module, "f", {tensor(vectors.in, {1009}), tensor(vectors.beside, {1009})}});
    client.must(vectors.call(module, instance));
    CHECK(vectors.wrong(4) == 0);
    client.must(rpc::Free{instance});
  });
}

TEST_CASE("functions read constants of one blob on both devices, and copy those on the GPU alone") {
  for_each_gpu(
      [](const TestServer& server, const char* gpu, const ModuleFile& plain) {
        MixedClient client(server, gpu);
        constexpr std::int64_t n = 1000;
        const Bytes contents = floats(5'000'000);
        const Blob blob = blob_of(contents);
        client.must(rpc::PutBlob{blob.hash, blob.bytes, 0}, contents);
        ModuleFile module = mixed_module(plain);
        module.manifest.blobs = {blob};
        module.manifest.constants = {{0, kGpu, 64, 4 * n}, {0, kCpu, 4096, 4 * n}, {0, kCpu, 64, 4 * n}};
        launch_of(module, 0).operands[0] = {OperandKind::constant, 0, kNoValue};
        call_of(module).operands[1] = {OperandKind::constant, 1, kNoValue};
        const rpc::Handle loaded = put(client, write_module(module));
        const Vectors vectors(client, n);
        client.must(vectors.call(loaded));
        const std::vector<float> c = client.download<float>(vectors.out, n);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const float expected = 2 * float_at(contents, 64 + 4 * i) + float_at(contents, 4096 + 4 * i) + 0.25F;
          wrong += c[n - 1 - i] != expected ? 1 : 0;
        }
        CHECK(wrong == 0);
        // A constant lies on the device of the step that reads it.
        call_of(module).operands[1].index = 0;
        const Bytes file = write_module(module);
        CHECK(client.ask(rpc::PutModule{client.new_handle(), blake2b(file)}, file).status.message() ==
              "manifest: f: expected memory on device 1, where the step runs, got some on device 0");
      },
      {"--memory-limit", "12M"});
}

TEST_CASE("the result of a launch is read before the next step on the CPU, which then does not run") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    ModuleFile module = with_early_verdict(mixed_module(plain));
    const rpc::Handle checked = put(client, write_module(module));
    call_of(module).symbol = "null_pointer";
    const rpc::Handle crashing = put(client, write_module(module));
    const Vectors odd(client, 1009), even(client, 1010);
    for (const rpc::Handle loaded : {checked, crashing}) {
      CHECK(client.ask(odd.call(loaded)).status.message() == "f: n is odd");
      CHECK(client.ask(rpc::TimeSteps{odd.call(loaded), 1, false}).status.message() == "f: n is odd");
      rpc::Evaluate measure;
      measure.calls = {odd.call(loaded)};
      CHECK(client.ask(measure).status.message() == "f: n is odd");
    }
    client.must(even.call(checked));
    CHECK(even.wrong() == 0);
    // Nothing ran that would have written C.
    CHECK(client.ask(rpc::Read{odd.out, 0, 4}).status.code() == ErrorCode::aborted);
  });
}

TEST_CASE("a step that fails on the CPU ends the plan with its message, and the session goes on") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    ModuleFile module = with_early_verdict(mixed_module(plain));
    const rpc::Handle fine = put(client, write_module(module));
    CallStep& call = call_of(module);
    call.symbol = "fail";
    call.operands = {{OperandKind::value, constant_value(module, 1), kNoValue}, call.operands[2]};
    const rpc::Handle failing = put(client, write_module(module));
    const Vectors vectors(client, 2'000'004);
    for (int run = 0; run < 3; ++run) {
      CHECK(client.ask(vectors.call(failing)).status.message() == "f: the step on the CPU failed");
      CHECK(client.ask(rpc::TimeSteps{vectors.call(failing), 2, false}).status.message() ==
            "f: the step on the CPU failed");
      client.must(vectors.call(fine));
      CHECK(vectors.wrong() == 0);
    }
  });
}

TEST_CASE("a step that crashes on the CPU ends the session, and the next one works") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    {
      MixedClient client(server, gpu);
      ModuleFile module = mixed_module(plain);
      call_of(module).symbol = "null_pointer";
      const rpc::Handle crashing = put(client, write_module(module));
      CHECK(client.ask(Vectors(client, 1000).call(crashing)).status.code() == ErrorCode::kernel_crashed);
    }
    MixedClient client(server, gpu);
    const rpc::Handle module = put(client, write_module(mixed_module(plain)));
    const Vectors vectors(client, 1000);
    client.must(vectors.call(module));
    CHECK(vectors.wrong() == 0);
  });
}

TEST_CASE("a launch that fails between steps on the CPU is reported with its kernel") {
  for (const std::string kernel : {"twice", "reversed"}) {
    const TestServer server(
        {}, {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE_CUDA_CRASH=" + kernel});
    for (const bool timed : {false, true}) {
      MixedClient client(server, "cuda");
      const rpc::Handle module = put(client, write_module(mixed_module(cuda_module())));
      const rpc::Call call = Vectors(client, 1000).call(module);
      const Status crashed = timed ? client.ask(rpc::TimeSteps{call, 1, false}).status : client.ask(call).status;
      CHECK(crashed.code() == ErrorCode::kernel_crashed);
      CHECK_MESSAGE(crashed.message().find("f: kernel '" + kernel + "' ended the session with") == 0,
                    crashed.message());
    }
  }
}

TEST_CASE("the memory of each device is charged where it is taken") {
  const TestServer server({"--memory-limit", "8M"},
                          {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE="});
  MixedClient client(server, "cuda");
  ModuleFile module = mixed_module(cuda_module());
  Plan& plan = module.manifest.functions[0].plan;
  // The GPU has room for more than the session's limit.
  plan.workspaces.push_back({kGpu, constant_value(module, 64 << 20)});
  const rpc::Handle large_on_gpu = put(client, write_module(module));
  plan.workspaces.back().device = kCpu;
  const rpc::Handle large_on_cpu = put(client, write_module(module));
  const Vectors vectors(client, 1000);
  client.must(vectors.call(large_on_gpu));
  CHECK(vectors.wrong() == 0);
  const Status refused = client.ask(vectors.call(large_on_cpu)).status;
  CHECK(refused.code() == ErrorCode::resource_exhausted);
  CHECK_MESSAGE(refused.message().find("--memory-limit") != std::string::npos, refused.message());
  client.must(vectors.call(large_on_gpu));
}

TEST_CASE("a module's devices are different ones of the session") {
  const TestServer server({}, {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE_CUDA_DEVICES=2"});
  ModuleFile two = cuda_module();
  two.manifest.devices.push_back(two.manifest.devices.front());
  two.images.push_back(two.images.front());
  two.images.back().device = 1;
  const Bytes file = write_module(two);
  const auto refusal = [&](TestClient& client, const Bytes& bytes) {
    const Status status = client.ask(rpc::PutModule{client.new_handle(), blake2b(bytes)}, bytes).status;
    CHECK(status.code() == ErrorCode::unsupported);
    return status.message();
  };
  MixedClient one(server, "cuda");
  CHECK(refusal(one, file) == "this module is for more devices of the kind cuda than the session has");
  ModuleFile cpus = mixed_module(cuda_module());
  cpus.manifest.devices.push_back(cpus.manifest.devices.back());
  CHECK(refusal(one, write_module(cpus)) == "this module is for more devices of the kind cpu than the session has");
  TestClient plain(server.port());
  CHECK(refusal(plain, write_module(mixed_module(cuda_module())))
            .find("this module is for cuda, which the client did not ask for") == 0);
  // The second GPU has memory of its own, which the module's second device names.
  FunctionInfo& f = two.manifest.functions[0];
  f.parameters[2].device = 1;
  const ValueIndex bytes =
      add_value(f.plan, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
  f.plan.workspaces.push_back({1, bytes});
  const Operand there{OperandKind::workspace, 1, kNoValue};
  auto& reversed = std::get<LaunchStep>(f.plan.steps[1]);
  const Operand from = std::exchange(reversed.operands[0], there);
  reversed.device = 1;
  f.plan.steps.insert(f.plan.steps.begin() + 1, CopyStep{there, from, bytes});
  TestClient both(server.port(), with_devices({"cuda:0", "cuda:1"}));
  const rpc::Handle module = put(both, write_module(two));
  const std::vector<float> a{1, 2, 3};
  rpc::Handle buffers[2];
  for (std::uint32_t d = 0; d < 2; ++d) {
    buffers[d] = both.new_handle();
    both.must(rpc::Alloc{buffers[d], 12, d + 1});
    both.must(rpc::Write{buffers[d], 0}, {reinterpret_cast<const std::uint8_t*>(a.data()), 12});
  }
  both.must(rpc::Call{module, "f", {tensor(buffers[0], {3}), scalar(0.5F), tensor(buffers[1], {3})}});
  CHECK(both.download<float>(buffers[1], 3) == std::vector<float>{6.5F, 4.5F, 2.5F});
}

TEST_CASE("arguments in the memory of another device than the function names are refused") {
  for_each_gpu([](const TestServer& server, const char* gpu, const ModuleFile& plain) {
    MixedClient client(server, gpu);
    const rpc::Handle module = put(client, write_module(mixed_module(plain)));
    const Vectors vectors(client, 1000);
    rpc::Call call = vectors.call(module);
    std::swap(call.arguments[0], call.arguments[3]);
    CHECK(client.ask(call).status.message() ==
          "f: argument 1 'A': expected memory of the device that the module is on (" + std::string(gpu) +
              "), got some of another (cpu)");
    call = vectors.call(module);
    call.arguments[3] = call.arguments[0];
    CHECK(client.ask(call).status.message() ==
          "f: argument 4 'B': expected memory of the device that the module is on (cpu), got some of another (" +
              std::string(gpu) + ")");
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace ferry::test
