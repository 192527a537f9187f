// Tests modules with each byte changed in turn, sent by a client that does not check them first.
#include <doctest/doctest.h>

#include <memory>

#include "tests/support/damage.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

// kept(const A, out B) over n elements: the init plan copies A to a persistent buffer, the plan from there to B.
FunctionInfo kept() {
  FunctionInfo info;
  info.name = "kept";
  info.symbols = {"n"};
  info.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::out)};
  info.parameters[0].is_constant = true;
  const ManifestExpr bytes = manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)});
  const Operand persistent{OperandKind::persistent, 0, kNoValue};
  info.persistent = {{0, add_value(info.init, 1, bytes)}};
  info.init.steps = {CopyStep{persistent, {OperandKind::argument, 0, kNoValue}, 1}};
  info.plan.steps = {CopyStep{{OperandKind::argument, 1, kNoValue}, persistent, add_value(info.plan, 1, bytes)}};
  return info;
}

// The kernel copy(in A, out B) over n elements, and kept.
Bytes copy_file() {
  ModuleFile module;
  module.manifest.abi_version = 1;
  module.manifest.devices = {{"cpu", server_arch(), {}}};
  FunctionInfo info;
  info.name = "copy";
  info.symbols = {"n"};
  info.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::out)};
  set_native_code(info, {"copy", {}, {}});
  module.manifest.functions = {info, kept()};
  KernelOptions options;
  options.arch = server_arch();
  module.images.push_back({ImageKind::elf, compile_kernel("int copy(void* const* args) {\n"
                                                          "  for (long long i = 0; i < *(long long*)args[2]; ++i)\n"
                                                          "    ((float*)args[1])[i] = ((float*)args[0])[i];\n"
                                                          "  return 0;\n"
                                                          "}",
                                                          options)});
  module.source = "copy";
  return write_module(module);
}

struct Fixture {
  TestServer server{{"--memory-limit", "64M"}};
  std::unique_ptr<TestClient> client = std::make_unique<TestClient>(server.port());
  Bytes file = copy_file();

  Status put(rpc::Handle handle, const Bytes& bytes) {
    return client->ask(rpc::PutModule{handle, blake2b(bytes)}, bytes).status;
  }
  Status call(rpc::Handle module) {
    const auto a = client->upload(std::vector<float>(8, 1.0F)), b = client->upload(std::vector<float>(8));
    const Status status = client->ask(rpc::Call{module, "copy", {tensor(a, {8}), tensor(b, {8})}}).status;
    if (status.is_ok()) {
      for (const rpc::Handle handle : {a, b}) client->must(rpc::Free{handle});
    }
    return status;
  }
  Status bind_and_call(rpc::Handle module) {
    const auto a = client->upload(std::vector<float>(8, 1.0F)), b = client->upload(std::vector<float>(8));
    const rpc::Bind bind{client->new_handle(), module, "kept", {tensor(a, {8})}};
    Status status = client->ask(bind).status;
    if (status.is_ok()) {
      status = client->ask(rpc::Call{module, "kept", {tensor(a, {8}), tensor(b, {8})}, bind.instance}).status;
      client->must(rpc::Free{bind.instance});
    }
    for (const rpc::Handle handle : {a, b}) client->must(rpc::Free{handle});
    return status;
  }
  void check_whole_file_works() {
    const rpc::Handle module = client->new_handle();
    CHECK(put(module, file).is_ok());
    for (const Status& status : {bind_and_call(module), call(module)}) CHECK_MESSAGE(status.is_ok(), status.message());
  }
};

TEST_CASE_FIXTURE(Fixture, "every byte of a module that arrives changed is noticed, and the session goes on") {
  for (std::size_t at = 0; at < file.size(); ++at) {
    CAPTURE(at);
    const Status status = put(client->new_handle(), with_byte_changed(file, at, 0xff));
    CHECK((status.code() == ErrorCode::invalid_argument || status.code() == ErrorCode::version_mismatch));
    CHECK_FALSE(status.message().empty());
  }
  check_whole_file_works();
}

TEST_CASE_FIXTURE(Fixture, "changed bytes under a right hash cost at most the session of who sent them") {
  TestClient other(server.port());
  int loaded = 0, crashed = 0;
  for (const std::size_t at : places_outside_code(file)) {
    for (const std::uint8_t flip : {0x01, 0xff}) {
      CAPTURE(at);
      const rpc::Handle module = client->new_handle();
      if (!put(module, rehashed(with_byte_changed(file, at, flip))).is_ok()) continue;
      ++loaded;
      // Steps that are no code cannot do any harm.
      CHECK(bind_and_call(module).code() != ErrorCode::kernel_crashed);
      const Status status = call(module);
      if (status.code() != ErrorCode::kernel_crashed) continue;
      ++crashed;
      client = std::make_unique<TestClient>(server.port());
    }
  }
  MESSAGE(loaded << " changed modules were loaded, " << crashed << " ended their session");
  CHECK(loaded > 0);
  check_whole_file_works();
  CHECK(other.ask(rpc::Ping{}).status.is_ok());
}

}  // namespace
}  // namespace ferry::test
