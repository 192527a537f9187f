// Tests of modules through a real server: sent once, kept for later sessions, and refused with a reason.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/architectures/architectures.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

Status put_status(TestClient& client, const Bytes& file) {
  return client.ask(rpc::PutModule{client.new_handle(), blake2b(file)}, file).status;
}

ModuleFile small_module(const std::string& source) {
  ModuleFile module;
  module.manifest.abi_version = 1;
  module.manifest.devices = {{"cpu", server_arch(), {}}};
  FunctionInfo info;
  info.name = "f";
  set_native_code(info, {"f", {}, {}});
  module.manifest.functions.push_back(info);
  KernelOptions options;
  options.arch = server_arch();
  module.images.push_back({ImageKind::elf, compile_kernel(source, options), 0});
  return module;
}

const char* const kNothing = "int f(void) { return 0; }";

TEST_CASE("a module is asked for by hash, sent once, listed, and found by later sessions") {
  TestServer server;
  const Hash hash = blake2b(kit_file());
  {
    TestClient client(server.port());
    CHECK_FALSE(client.must(rpc::PutModule{1, hash}).reply.present);
    CHECK(client.ask(rpc::Call{1, "say", {}}).status.code() == ErrorCode::not_found);
    CHECK(client.must(rpc::PutModule{1, hash}, kit_file()).reply.present);
    CHECK(client.ask(rpc::Call{1, "say", {}}).status.is_ok());
    CHECK(client.must(rpc::PutModule{2, hash}).reply.present);
    const auto modules = client.must(rpc::ListModules{}).reply.modules;
    REQUIRE(modules.size() == 2);
    CHECK(modules[0].module == 1);
    CHECK(modules[0].hash == hash);
    CHECK(modules[0].bytes == kit_file().size());
    CHECK(modules[0].functions.front() == "add");
    client.must(rpc::UnloadModule{1});
    CHECK(client.must(rpc::ListModules{}).reply.modules.size() == 1);
    CHECK(client.ask(rpc::UnloadModule{1}).status.code() == ErrorCode::not_found);
    client.must(rpc::Close{});
  }
  TestClient later(server.port());
  CHECK(later.must(rpc::PutModule{1, hash}).reply.present);
  CHECK(later.ask(rpc::Call{1, "say", {}}).status.is_ok());
}

TEST_CASE("a module is kept as soon as its client waits, also when that then vanishes") {
  TestServer server;
  const Hash hash = blake2b(kit_file());
  {
    TestClient client(server.port());
    put(client, kit_file());
  }
  bool present = false;
  for (int attempt = 0; attempt < 100 && !present; ++attempt) {
    present = TestClient(server.port()).must(rpc::PutModule{1, hash}).reply.present;
  }
  CHECK(present);
}

TEST_CASE("a kept folder serves modules to the next server, unless the file was damaged") {
  char pattern[] = "/tmp/ferry-test-folder-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  const fs::path folder(pattern);
  const Hash hash = blake2b(kit_file());
  const fs::path file = folder / "modules" / (to_hex(hash) + ".ferry");
  const std::vector<std::string> arguments = {"--workdir", folder.string()};
  {
    TestServer server(arguments);
    TestClient client(server.port());
    put(client, kit_file());
    client.must(rpc::Close{});
  }
  REQUIRE(fs::exists(file));
  {
    TestServer server(arguments);
    CHECK(TestClient(server.port()).must(rpc::PutModule{1, hash}).reply.present);
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(1000).put('!').put('?');
    TestClient client(server.port());
    CHECK_FALSE(client.must(rpc::PutModule{1, hash}).reply.present);
    put(client, kit_file());
    client.must(rpc::Close{});
    CHECK(TestClient(server.port()).must(rpc::PutModule{1, hash}).reply.present);
  }
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "modules")) files += entry.is_regular_file() ? 1 : 0;
  CHECK(files == 1);
  fs::remove_all(folder);
}

TEST_CASE("a module that arrives with another hash than it was announced by is refused") {
  TestServer server;
  TestClient client(server.port());
  Bytes damaged = kit_file();
  damaged[damaged.size() / 2] ^= 1;
  const auto answer = client.ask(rpc::PutModule{1, blake2b(kit_file())}, damaged);
  CHECK(answer.status.code() == ErrorCode::invalid_argument);
  CHECK(answer.status.message().find("damaged on its way") != std::string::npos);
  CHECK(client.ask(rpc::Call{1, "say", {}}).status.code() == ErrorCode::aborted);
  // The right bytes are accepted under the same handle.
  CHECK(client.must(rpc::PutModule{1, blake2b(kit_file())}, kit_file()).reply.present);
}

TEST_CASE("truncated modules and modules with a damaged byte are refused, and the session goes on") {
  TestServer server;
  TestClient client(server.port());
  const Bytes file = write_module(small_module(kNothing));
  for (std::size_t length = 1; length < file.size(); length += 97) {
    CAPTURE(length);
    CHECK_FALSE(put_status(client, Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length))).is_ok());
  }
  for (std::size_t i = 0; i < file.size(); i += 41) {
    Bytes damaged = file;
    damaged[i] ^= 0x10;
    CAPTURE(i);
    CHECK_FALSE(put_status(client, damaged).is_ok());
  }
  CHECK(put_status(client, file).is_ok());
}

TEST_CASE("modules for another machine, for missing features and of another interface are refused by name") {
  TestServer server;
  TestClient client(server.port());
  ModuleFile module = small_module(kNothing);
  ModuleDevice& needed = module.manifest.devices.front();
  needed.arch = another_architecture(server_arch());
  CHECK(put_status(client, write_module(module)).message() ==
        "this module is for " + needed.arch + "; the device is " + server_arch());
  needed.arch = server_arch();
  // A feature that no machine has, since this one may have any real one.
  const char* missing = "feature-of-tomorrow";
  needed.features = {missing};
  const Status refused = put_status(client, write_module(module));
  CHECK(refused.code() == ErrorCode::unsupported);
  CHECK(refused.message().rfind("this module needs " + std::string(missing) + "; the device has ", 0) == 0);
  needed.features.clear();
  module.manifest.abi_version = 7;
  const Status version = put_status(client, write_module(module));
  CHECK(version.code() == ErrorCode::version_mismatch);
  CHECK(version.message() == "this module needs version 7 of the kernel interface; this server has version 1");
}

TEST_CASE("what the format holds and this server does not run is refused in one sentence") {
  TestServer server;
  TestClient client(server.port());
  const auto refusal = [&](auto change) {
    ModuleFile module = small_module(kNothing);
    change(module.manifest);
    const Status status = put_status(client, write_module(module));
    CHECK(status.code() == ErrorCode::unsupported);
    return status.message();
  };
  // Only a dynamically linked server can have other devices than the CPU, of which the client opened none.
  CHECK(refusal([](Manifest& manifest) { manifest.devices.push_back({"cuda", "", {}}); }) ==
        (client.facts().flavour == "static" ? "this server runs no modules for several devices"
                                            : "this module is for cuda; the device is " + server_arch()));
}

TEST_CASE("code that is not linked is refused, and called so") {
  TestServer server;
  TestClient client(server.port());
  ModuleFile module = small_module(kNothing);
  module.images[0].kind = ImageKind::elf_objects;
  const Status status = put_status(client, write_module(module));
  CHECK(status.code() == ErrorCode::unsupported);
  CHECK(
      status.message() ==
      "the module's code is not linked (an image of the kind 'elf-objects'): only compilers load it, which link it for "
      "devices");
}

TEST_CASE("code that lies about its machine, imports too much or lacks its function is refused") {
  TestServer server;
  TestClient client(server.port());
  ModuleFile foreign = small_module(kNothing);
  KernelOptions other;
  other.arch = another_architecture(server_arch());
  foreign.images[0].bytes = compile_kernel(kNothing, other);
  CHECK(put_status(client, write_module(foreign)).message() ==
        "code image refused: expected " + server_arch() + " code, got " + other.arch);
  CHECK(
      put_status(client, write_module(small_module("int getpid(void); int f(void) { return getpid(); }"))).message() ==
      "code image refused: it imports 'getpid', which kernels may not");
  CHECK(put_status(client, write_module(small_module("int g(void) { return 0; }"))).message() ==
        "the code has no function 'f'");
  ModuleFile empty = small_module(kNothing);
  empty.images.clear();
  CHECK(put_status(client, write_module(empty)).code() == ErrorCode::unsupported);
}

TEST_CASE("a module larger than the session's memory is refused and its bytes are drained") {
  TestServer server({"--memory-limit", "64K"});
  TestClient client(server.port());
  const Bytes large(1'000'000, 1);
  CHECK(put_status(client, large).code() == ErrorCode::resource_exhausted);
  CHECK(client.ask(rpc::Ping{}).status.is_ok());
}

}  // namespace
}  // namespace ferry::test
