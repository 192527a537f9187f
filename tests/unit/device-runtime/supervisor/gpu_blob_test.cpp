// Tests of constants in the memory of devices besides the CPU.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "tests/paths.h"
#include "tests/unit/device-runtime/supervisor/blob_fixture.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kCount = 1000;

rpc::Open with_gpu(const std::string& name) {
  rpc::Open open;
  open.client = "test";
  open.devices = {name};
  return open;
}

struct GpuClient : TestClient {
  GpuClient(const TestServer& server, const std::string& device) : TestClient(server.port(), with_gpu(device)) {}

  rpc::Handle allocate(std::uint32_t device, std::uint64_t bytes) {
    const rpc::Handle buffer = new_handle();
    must(rpc::Alloc{buffer, bytes, device});
    return buffer;
  }
  bool has_room(std::uint64_t bytes) {
    const rpc::Handle buffer = new_handle();
    const bool fits = ask(rpc::Alloc{buffer, bytes, 0}).status.is_ok();
    must(rpc::Free{buffer});
    return fits;
  }
};

// f of gpu_module(), which computes from the constant at `offset` in the blob instead of from A.
ModuleFile reading(ModuleFile module, const Blob& blob, std::uint64_t offset) {
  module.manifest.blobs = {blob};
  module.manifest.constants = {{0, 0, offset, 4 * kCount}};
  launch_of(module, 0).operands[0] = {OperandKind::constant, 0, kNoValue};
  return module;
}

// Calls f by its plan and through an init plan. The session has room for the blob once.
void check_constants(const TestServer& server, const std::string& device, const ModuleFile& plain) {
  GpuClient client(server, device);
  const Bytes contents = floats(5'000'000);
  const Blob blob = blob_of(contents);
  client.must(rpc::PutBlob{blob.hash, blob.bytes, 0}, contents);
  CHECK_FALSE(client.has_room(5'000'000));
  const rpc::Handle a = client.allocate(1, 4 * kCount), c = client.allocate(1, 4 * kCount);
  constexpr std::uint64_t kOffset = 64;
  const auto check_result = [&](rpc::Handle module, rpc::Handle instance) {
    client.must(rpc::Fill{c, FillKind::zeros, DType::f32, kCount, 0});
    client.must(rpc::Call{module, "f", {tensor(a, {kCount}), scalar(0.5F), tensor(c, {kCount})}, instance});
    const std::vector<float> result = client.download<float>(c, kCount);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kCount; ++i)
      wrong += result[kCount - 1 - i] != 2 * float_at(contents, kOffset + 4 * i) + 0.5F ? 1 : 0;
    CHECK(wrong == 0);
  };
  const ModuleFile module = reading(plain, blob, kOffset);
  const rpc::Handle direct = put(client, write_module(module));
  // The constant has been copied to the device, so the blob itself is not needed any longer.
  CHECK(client.has_room(5'000'000));
  check_result(direct, 0);

  const rpc::Handle through_init = put(client, write_module(with_init_plan(module)));
  CHECK_FALSE(client.has_room(5'000'000));
  const rpc::Handle instance = client.new_handle();
  client.must(rpc::Bind{instance, through_init, "f", {tensor(a, {kCount})}});
  CHECK(client.has_room(5'000'000));
  check_result(through_init, instance);
}

TEST_CASE("functions on an OpenCL device read constants, which are copied there") {
  if (getenv("FERRY_TEST_ARCH") != nullptr) return;  // no drivers for emulated servers
  const BlobFixture fixture({"--memory-limit", "8M"});
  check_constants(fixture.server, "opencl", gpu_module());
}

TEST_CASE("functions on a GPU read constants, which are copied there") {
  if (getenv("FERRY_TEST_ARCH") != nullptr) return;
  const TestServer server({"--memory-limit", "8M"},
                          {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE="});
  check_constants(server, "cuda", cuda_module());
}

}  // namespace
}  // namespace ferry::test
