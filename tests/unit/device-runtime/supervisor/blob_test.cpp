// Tests of blobs that clients send, and of the constants that functions read from them.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "tests/unit/device-runtime/supervisor/blob_fixture.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE_FIXTURE(BlobFixture, "a plan and an init plan read their constants from a blob that was sent in pieces") {
  BlobClient client(server);
  const Bytes contents = floats(1'000'000);
  const Blob blob = blob_of(contents);
  CHECK(client.missing({blob}) == std::vector<std::uint32_t>{0});
  REQUIRE(client.send(blob, contents).is_ok());
  CHECK(client.missing({blob}).empty());
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{999'744}}) {
    CAPTURE(offset);
    const auto loaded = client.load(weighted_file(blob, offset));
    REQUIRE_MESSAGE(loaded.status.is_ok(), loaded.status.message());
    const float last = float_at(contents, offset + 4 * (kElements - 1));
    CHECK(client.result(client.last_module, "weighted") == 1 + last);
    CHECK(client.result(client.last_module, "packed", client.bind(client.last_module)) == 1 + 2 * last);
  }
}

TEST_CASE_FIXTURE(BlobFixture, "a blob is sent once, for sessions and modules to come") {
  const Bytes contents = floats(300'000);
  const Blob blob = blob_of(contents);
  {
    BlobClient first(server);
    REQUIRE(first.send(blob, contents).is_ok());
    REQUIRE(first.load(weighted_file(blob, 0)).status.is_ok());
  }
  CHECK(cached() == std::vector<std::string>{to_hex(blob.hash) + ".blob"});
  CHECK((fs::status(file_of(blob)).permissions() & fs::perms::all) == fs::perms::owner_read);
  BlobClient second(server);
  CHECK(second.missing({blob, {Hash{7}, 10}, blob}) == std::vector<std::uint32_t>{1});
  REQUIRE(second.load(weighted_file(blob, 256, "other code")).status.is_ok());
  CHECK(second.result(second.last_module, "weighted") == 1 + float_at(contents, 256 + 4 * (kElements - 1)));
  // The server soon has this module: only its hash is sent.
  BlobClient third(server);
  const rpc::Handle module = third.new_handle();
  const rpc::PutModule by_hash{module, blake2b(weighted_file(blob, 256, "other code"))};
  bool present = false;
  for (int attempt = 0; attempt < 1000 && !present; ++attempt) {
    if (attempt > 0) usleep(10'000);
    present = third.must(by_hash).reply.present;
  }
  CHECK(present);
  CHECK(third.result(module, "weighted") == 1 + float_at(contents, 256 + 4 * (kElements - 1)));
}

TEST_CASE_FIXTURE(BlobFixture, "a module whose blob is missing is not loaded, and says which") {
  BlobClient client(server);
  const Bytes contents = floats(10'000);
  const Blob blob = blob_of(contents);
  const Bytes file = weighted_file(blob, 0);
  const Status missing = client.load(file).status;
  CHECK(missing.code() == ErrorCode::not_found);
  CHECK(missing.message() ==
        "the server has no blob " + to_hex(blob.hash) + ", of which 0 of 10000 bytes have been sent");
  REQUIRE(client.send_piece(blob, 0, ByteSpan(contents).first(4000)).is_ok());
  CHECK(client.load(file).status.message() ==
        "the server has no blob " + to_hex(blob.hash) + ", of which 4000 of 10000 bytes have been sent");
  REQUIRE(client.send_piece(blob, 4000, ByteSpan(contents).subspan(4000)).is_ok());
  REQUIRE(client.load(file).status.is_ok());
  client.must(rpc::Close{});
  // A server that knows the module but not its blob lacks both.
  for (int i = 0; i < 500 && fs::is_empty(folder / "modules"); ++i) usleep(10'000);
  {
    BlobClient other(server);
    REQUIRE(other.must(rpc::PutModule{other.new_handle(), blake2b(file)}).reply.present);
  }
  fs::remove(file_of(blob));
  BlobClient third(server);
  const rpc::Handle module = third.new_handle();
  CHECK_FALSE(third.must(rpc::PutModule{module, blake2b(file)}).reply.present);
  REQUIRE(third.send(blob, contents).is_ok());
  CHECK(third.must(rpc::PutModule{module, blake2b(file)}).reply.present);
}

TEST_CASE_FIXTURE(BlobFixture, "a client cannot claim a hash or a size that its bytes do not have") {
  BlobClient client(server);
  const Bytes contents = floats(10'000), others = floats(10'000, 1);
  const Blob blob = blob_of(contents);
  const Status wrong = client.send(blob, others);
  CHECK(wrong.code() == ErrorCode::invalid_argument);
  CHECK(wrong.message() ==
        "expected a blob of hash " + to_hex(blob.hash) + ", got one of hash " + to_hex(blake2b(others)));
  CHECK(cached().empty());
  const auto aborted = client.load(weighted_file(blob, 0));
  CHECK(aborted.status.code() == ErrorCode::aborted);
  CHECK(aborted.failed_request != 0);
  REQUIRE(client.send(blob, contents).is_ok());
  CHECK(client.load(weighted_file(blob, 0)).status.is_ok());
  const Status longer = client.load(weighted_file({blob.hash, 20'000}, 0)).status;
  CHECK(longer.code() == ErrorCode::invalid_argument);
  CHECK(longer.message() == "blob " + to_hex(blob.hash) + ": expected 20000 bytes, as the manifest says, got 10000");
}

TEST_CASE_FIXTURE(BlobFixture, "pieces out of order, too long or of another size are refused and end the blob") {
  BlobClient client(server);
  const Bytes contents = floats(10'000);
  const Blob blob = blob_of(contents);
  const auto refusal = [&](const Blob& of, std::uint64_t offset, std::size_t bytes) {
    REQUIRE(client.send_piece(blob, 0, ByteSpan(contents).first(4000)).is_ok());
    CHECK(has_cached(1));
    const Status status = client.send_piece(of, offset, ByteSpan(contents).first(bytes));
    CHECK(status.code() == ErrorCode::invalid_argument);
    CHECK(has_cached(0));
    return status.message();
  };
  CHECK(refusal(blob, 4001, 10) == "expected byte 4000 of a blob of 10000, got byte 4001 of 10000");
  CHECK(refusal(blob, 3999, 10) == "expected byte 4000 of a blob of 10000, got byte 3999 of 10000");
  CHECK(refusal({blob.hash, 9999}, 4000, 10) == "expected byte 4000 of a blob of 10000, got byte 4000 of 9999");
  CHECK(refusal(blob, 4000, 6001) == "expected 1 to 6000 bytes of the blob, got 6001");
  CHECK(refusal(blob, 4000, 0) == "expected 1 to 6000 bytes of the blob, got 0");
  CHECK(refusal({Hash{1}, 100}, 50, 10) == "expected byte 0 of a blob of 100, got byte 50 of 100");
  CHECK(refusal({Hash{1}, 0}, 0, 10) == "expected 1 to 0 bytes of the blob, got 10");
  // The pieces that follow one that failed name it.
  const std::uint64_t cause = client.TestClient::send(rpc::PutBlob{blob.hash, 10'000, 1}, ByteSpan(contents).first(10));
  CHECK(client.receive<rpc::PutBlob>(cause).status.code() == ErrorCode::invalid_argument);
  const auto later = client.ask(rpc::PutBlob{blob.hash, 10'000, 11}, ByteSpan(contents).first(10));
  CHECK(later.status.code() == ErrorCode::aborted);
  CHECK(later.failed_request == cause);
  // It may begin anew, also with a blob that another one interrupts.
  REQUIRE(client.send_piece(blob, 0, ByteSpan(contents).first(4000)).is_ok());
  const Bytes small = floats(100, 5);
  REQUIRE(client.send(blob_of(small), small).is_ok());
  REQUIRE(client.send(blob, contents).is_ok());
  CHECK(has_cached(2));
}

TEST_CASE("a blob larger than the cache is refused, and so is one larger than the session's memory") {
  BlobFixture fixture({"--blob-cache", "1M", "--memory-limit", "8M"});
  BlobClient client(fixture.server);
  const Bytes contents = floats((1 << 20) + 4);
  const Status status = client.send(blob_of(contents), contents);
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK(status.message() == "expected a blob of 1 to 1048576 bytes, got 1048580 (rpc_server --blob-cache)");
  CHECK(client.send_piece({Hash{1}, std::uint64_t{1} << 62}, 0, contents).code() == ErrorCode::resource_exhausted);
  const rpc::Handle buffer = client.new_handle();
  client.must(rpc::Alloc{buffer, 7'500'000, 0});
  const Bytes fitting = floats(1 << 20);
  const Status full = client.send(blob_of(fitting), fitting);
  CHECK(full.code() == ErrorCode::resource_exhausted);
  CHECK(full.message().find("--memory-limit") != std::string::npos);
  client.must(rpc::Free{buffer});
  CHECK(client.missing({blob_of(fitting)}).empty());
}

TEST_CASE("what only an init plan reads is unmapped once it has run, and what calls read remains") {
  BlobFixture fixture({"--memory-limit", "8M"});
  BlobClient client(fixture.server);
  const Bytes contents = floats(5'000'000);
  const Blob blob = blob_of(contents);
  REQUIRE(client.send(blob, contents).is_ok());
  ModuleFile module = weighted_module(blob, 0);
  std::erase_if(module.manifest.functions, [](const FunctionInfo& f) { return f.name == "weighted"; });
  REQUIRE(client.load(write_module(module)).status.is_ok());
  const auto has_room = [&] {
    const rpc::Handle buffer = client.new_handle();
    const bool fits = client.ask(rpc::Alloc{buffer, 5'000'000, 0}).status.is_ok();
    client.must(rpc::Free{buffer});
    return fits;
  };
  CHECK_FALSE(has_room());
  const rpc::Handle packed = client.last_module;
  const rpc::Handle first = client.bind(packed);
  CHECK(has_room());
  // Another instance needs the blob again, which the server still has.
  CHECK(client.missing({blob}).empty());
  CHECK_FALSE(has_room());
  const rpc::Handle second = client.bind(packed);
  CHECK(has_room());
  fs::remove(fixture.file_of(blob));
  const Status gone = client.ask(rpc::Bind{client.new_handle(), packed, "packed", {}}).status;
  CHECK(gone.code() == ErrorCode::not_found);
  for (const rpc::Handle instance : {first, second})
    CHECK(client.result(packed, "packed", instance) == 1 + 2 * float_at(contents, 4 * (kElements - 1)));

  // Calls of "weighted" read most of the blob.
  REQUIRE(client.send(blob, contents).is_ok());
  ModuleFile reading = weighted_module(blob, 0);
  reading.manifest.constants[0].bytes = 4'900'000;
  REQUIRE(client.load(write_module(reading)).status.is_ok());
  client.bind(client.last_module);
  CHECK_FALSE(has_room());
  client.must(rpc::UnloadModule{client.last_module});
  CHECK(has_room());
}

TEST_CASE("only the parts of a blob that calls read stay mapped") {
  BlobFixture fixture({"--memory-limit", "8M"});
  BlobClient client(fixture.server);
  const Bytes contents = floats(5'000'000);
  const Blob blob = blob_of(contents);
  REQUIRE(client.send(blob, contents).is_ok());
  ModuleFile module = weighted_module(blob, 0);
  // Calls read the start, two places near each other, and the end; init plans something else.
  for (const std::uint64_t offset : {std::uint64_t{2'000'064}, std::uint64_t{2'030'080}, std::uint64_t{4'999'744}}) {
    FunctionInfo more = *std::ranges::find(module.manifest.functions, "weighted", &FunctionInfo::name);
    more.name += std::to_string(module.manifest.constants.size());
    std::get<CallStep>(more.plan.steps[0]).operands[1].index =
        static_cast<std::uint32_t>(module.manifest.constants.size());
    module.manifest.functions.push_back(more);
    module.manifest.constants.push_back({0, 0, offset, 4 * kElements});
  }
  FunctionInfo& packed = *std::ranges::find(module.manifest.functions, "packed", &FunctionInfo::name);
  for (std::size_t operand : {0, 1}) std::get<CallStep>(packed.init.steps[0]).operands[operand].index = 4;
  module.manifest.constants.push_back({0, 0, 3'000'000, 1'000'000});
  REQUIRE(client.load(write_module(module)).status.is_ok());
  const rpc::Handle buffer = client.new_handle();
  const auto alloc = [&] { return client.ask(rpc::Alloc{buffer, 7'800'000, 0}).status.is_ok(); };
  CHECK_FALSE(alloc());
  const rpc::Handle instance = client.bind(client.last_module);
  CHECK(alloc());
  client.must(rpc::Free{buffer});
  const auto last_of = [&](std::size_t constant) {
    return float_at(contents, module.manifest.constants[constant].offset + 4 * (kElements - 1));
  };
  CHECK(client.result(client.last_module, "weighted") == 1 + last_of(0));
  CHECK(client.result(client.last_module, "weighted1") == 1 + last_of(1));
  CHECK(client.result(client.last_module, "weighted2") == 1 + last_of(2));
  CHECK(client.result(client.last_module, "weighted3") == 1 + last_of(3));
  CHECK(client.result(client.last_module, "packed", instance) == 1 + 2 * last_of(4));
}

TEST_CASE("a blob stays mapped if there is no room for it and the part that calls read") {
  BlobFixture fixture({"--memory-limit", "8M"});
  BlobClient client(fixture.server);
  const Bytes contents = floats(6'000'000);
  const Blob blob = blob_of(contents);
  REQUIRE(client.send(blob, contents).is_ok());
  ModuleFile module = weighted_module(blob, 0);
  module.manifest.constants[0].bytes = 2'900'000;
  const auto loaded = client.load(write_module(module));
  REQUIRE_MESSAGE(loaded.status.is_ok(), loaded.status.message());
  CHECK(client.result(client.last_module, "weighted") == 1 + float_at(contents, 4 * (kElements - 1)));
}

TEST_CASE("the least recently used blobs make room, and a module keeps those that it reads") {
  BlobFixture fixture({"--blob-cache", "1M"});
  BlobClient client(fixture.server);
  std::vector<Bytes> contents;
  for (unsigned i = 0; i < 4; ++i) contents.push_back(floats(400'000, i));
  REQUIRE(client.send(blob_of(contents[0]), contents[0]).is_ok());
  REQUIRE(client.load(weighted_file(blob_of(contents[0]), 0)).status.is_ok());
  const rpc::Handle module = client.last_module;
  for (unsigned i = 1; i < 4; ++i) {
    REQUIRE(client.send(blob_of(contents[i]), contents[i]).is_ok());
    CHECK(fixture.cached().size() <= 2);
  }
  BlobClient other(fixture.server);
  CHECK(other.missing({blob_of(contents[0])}).size() == 1);
  CHECK(other.missing({blob_of(contents[3])}).empty());
  CHECK(client.result(module, "weighted") == 1 + float_at(contents[0], 4 * (kElements - 1)));
}

TEST_CASE_FIXTURE(BlobFixture, "a file that is not what its name says is not believed") {
  const Bytes contents = floats(10'000);
  const Blob blob = blob_of(contents);
  {
    BlobClient client(server);
    REQUIRE(client.send(blob, contents).is_ok());
  }
  fs::permissions(file_of(blob), fs::perms::owner_write, fs::perm_options::add);
  SUBCASE("changed") { std::fstream(file_of(blob), std::ios::in | std::ios::out | std::ios::binary).write("x", 1); }
  SUBCASE("cut") { fs::resize_file(file_of(blob), 9999); }
  SUBCASE("empty") { fs::resize_file(file_of(blob), 0); }
  SUBCASE("a link") {
    fs::rename(file_of(blob), folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", file_of(blob));
  }
  BlobClient client(server);
  CHECK(client.missing({blob}).size() == 1);
  REQUIRE(client.send(blob, contents).is_ok());
  REQUIRE(client.load(weighted_file(blob, 0)).status.is_ok());
  CHECK(client.result(client.last_module, "weighted") == 1 + float_at(contents, 4 * (kElements - 1)));
}

TEST_CASE_FIXTURE(BlobFixture, "two clients may send the same blob at the same time, and one may vanish") {
  const Bytes contents = floats(100'000);
  const Blob blob = blob_of(contents);
  BlobClient first(server), second(server);
  {
    BlobClient third(server);
    for (BlobClient* client : {&first, &second, &third})
      REQUIRE(client->send_piece(blob, 0, ByteSpan(contents).first(50'000)).is_ok());
    CHECK(has_cached(3));
  }
  CHECK(has_cached(2));
  for (BlobClient* client : {&first, &second}) {
    REQUIRE(client->send_piece(blob, 50'000, ByteSpan(contents).subspan(50'000)).is_ok());
    REQUIRE(client->load(weighted_file(blob, 0)).status.is_ok());
  }
  CHECK(cached().size() == 1);
  for (BlobClient* client : {&first, &second})
    CHECK(client->result(client->last_module, "weighted") == 1 + float_at(contents, 4 * (kElements - 1)));
}

// Adds a function that passes the constant to the kit's kernel `symbol` in place of these arguments.
Bytes with_writer(const Blob& blob, const std::string& symbol, std::size_t argument) {
  ModuleFile module = weighted_module(blob, 0);
  const auto& functions = module.manifest.functions;
  FunctionInfo writer =
      *std::find_if(functions.begin(), functions.end(), [&](const FunctionInfo& f) { return f.name == symbol; });
  writer.name = "writer";
  std::get<CallStep>(writer.plan.steps[0]).operands[argument] = {OperandKind::constant, 0, kNoValue};
  module.manifest.functions.push_back(std::move(writer));
  return write_module(module);
}

TEST_CASE_FIXTURE(BlobFixture, "a kernel that writes to a constant crashes, and the file stays as it was") {
  const Bytes contents = floats(10'000);
  const Blob blob = blob_of(contents);
  {
    BlobClient client(server);
    REQUIRE(client.send(blob, contents).is_ok());
    REQUIRE(client.load(with_writer(blob, "add", 2)).status.is_ok());
    const rpc::Handle a = client.upload(std::vector<float>(kElements, 1)), b = client.upload(std::vector<float>(64, 1));
    const rpc::Handle c = client.upload(std::vector<float>(kElements, 1));
    const rpc::Call call{client.last_module, "writer", {tensor(a, {64}), tensor(b, {64}), tensor(c, {64})}};
    CHECK(client.ask(call).status.code() == ErrorCode::kernel_crashed);
  }
  BlobClient client(server);
  CHECK(client.missing({blob}).empty());
}

TEST_CASE_FIXTURE(BlobFixture, "a session cannot make the memory of a blob writable") {
  if (!is_native()) return;
  const Bytes contents = floats(10'000);
  const Blob blob = blob_of(contents);
  BlobClient client(server);
  REQUIRE(client.send(blob, contents).is_ok());
  REQUIRE(client.load(with_writer(blob, "system", 6)).status.is_ok());
  const rpc::Handle text = client.upload(std::vector<std::uint8_t>(1)),
                    out = client.upload(std::vector<std::int64_t>(1));
  rpc::Call call{client.last_module, "writer", {}};
  constexpr std::int64_t kReadWrite = 3;
  for (const std::int64_t argument : {std::int64_t{SYS_mprotect}, SystemCaller::kText, std::int64_t{4096}, kReadWrite,
                                      std::int64_t{0}, std::int64_t{1}})
    call.arguments.push_back(scalar(argument));
  call.arguments.push_back(tensor(text, {1}, DType::u8));
  call.arguments.push_back(tensor(out, {1}, DType::i64));
  client.must(call);
  CHECK(client.download<std::int64_t>(out, 1)[0] == -EACCES);
}

// Returns the largest memory of a process so far, in bytes, without that of files.
std::uint64_t memory_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes << 10;
}

TEST_CASE_FIXTURE(BlobFixture, "a session's memory stays small while a large blob arrives") {
  if (!is_native()) return;
  BlobClient client(server);
  const std::vector<pid_t> sessions = children_of(server.process());
  REQUIRE(sessions.size() == 1);
  const std::uint64_t before = memory_of(sessions[0]);
  constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
  const Bytes piece = floats(8 << 20);
  // A hash that the blob does not have: the server learns it only at the end.
  for (std::uint64_t done = 0; done < kBytes; done += piece.size()) {
    const Status status = client.send_piece({Hash{1}, kBytes}, done, piece);
    CHECK(status.is_ok() == (done + piece.size() < kBytes));
  }
  CHECK(before > 0);
  CHECK(memory_of(sessions[0]) < before + (4 << 20));
}

}  // namespace
}  // namespace ferry::test
