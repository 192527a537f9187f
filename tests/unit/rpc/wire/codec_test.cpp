#include "rpc/wire/codec.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace ferry::rpc {
namespace {

DeviceFacts sample_facts() {
  DeviceFacts facts;
  facts.server_version = "0.1.0";
  facts.flavour = "static";
  facts.arch = "armv7";
  facts.operating_system = "Linux 6.1.0";
  facts.cpu_name = "Cortex-A7";
  facts.cpu_identification = "CPU part\t: 0xc07";
  facts.features = {"neon", "vfp4"};
  facts.hwcap = 0x1234567890u;
  facts.hwcap2 = 2;
  facts.logical_cores = 4;
  facts.threads = 3;
  facts.memory_bytes = 1u << 30;
  facts.memory_available_bytes = 1u << 29;
  facts.memory_limit_bytes = 1u << 28;
  facts.page_bytes = 4096;
  facts.caches = {{1, "data", 32768, 64}, {2, "unified", 524288, 64}};
  facts.devices = {{"cpu", "Cortex-A7", 1u << 30}, {"cuda", "Orin (sm_87)", 8ull << 30, "sm_87"}};
  facts.not_enforced = {"memory"};
  facts.counts_instructions = true;
  facts.small_pages = true;
  return facts;
}

Call sample_call() {
  return {9, "mm", {{5, 64, DType::f16, {2, 3}, false, 0}, {0, 0, DType::i64, {}, true, 0xffffffffffffffffu}}, 11};
}

// Calls check(name, message) with one message of every kind, with all fields set.
template <class Check>
void for_each_message(Check check) {
  check("ping", Ping{});
  check("empty", Empty{});
  check("put_module", PutModule{4, Hash{1, 2, 3}});
  check("put_module reply", PutModuleReply{true});
  check("find_blobs", FindBlobs{{Hash{1}, Hash{2, 3}}});
  check("find_blobs reply", FindBlobsReply{{0, 7}});
  check("put_blob", PutBlob{Hash{1, 2, 3}, 1u << 20, 4096});
  check("digest", Digest{5, 64, 1000});
  check("digest reply", DigestReply{Hash{1, 2, 3}});
  check("compare", Compare{5, 64, 6, 128, DType::f16, 1000, 1e-3, 1e-6});
  check("compare reply", CompareReply{7, 3});
  check("list_modules", ListModules{});
  check("list_modules reply", ListModulesReply{{{4, Hash{1}, 15000, {"mm", "conv"}}, {6, Hash{2}, 1, {}}}});
  check("unload_module", UnloadModule{4});
  check("alloc", Alloc{5, 1u << 20, 0});
  check("alloc_shared", AllocShared{5, 1u << 20, 1u << 31});
  check("free", Free{5});
  check("guard_memory", GuardMemory{});
  check("write", Write{5, 128});
  check("read", Read{5, 64, 1000});
  check("fill", Fill{5, FillKind::random, DType::bf16, 77, 42});
  check("copy", Copy{5, 0, 6, 64, 100});
  check("call", sample_call());
  check("call reply", CallReply{123456789});
  check("bind", Bind{11, 9, "mm", sample_call().arguments});
  check("evaluate", Evaluate{{sample_call(), sample_call()},
                             {0,      10,   1,    2,    100, 0.5,    4,   3,   true, {1, 3}, 2, {"/proc/stat"},
                              {5, 6}, 1e-4, true, true, 1,   {7, 8}, {9}, {10}}});
  Evaluation evaluation;
  evaluation.calls = {{{1e-3, 2e-3}, 7, 8, 0.5, 0.25, {2, 0}, {3, 1}, 9, 10, 11, true, 1, 2, true, 3, 4, 5}, {}};
  evaluation.environment.ended = TimingEnd::timeout;
  evaluation.environment.small_pages = true;
  evaluation.environment.watched = {{"/proc/stat", "cpu 1", "cpu 2"}};
  check("evaluate reply", evaluation);
  check("time_steps", TimeSteps{sample_call(), 7, true, {0, 3}, 2});
  check("time_steps reply", StepTimes{9, {{"mm_0", {1, 2, 3}, {4, 5, 6}, 7, 8, {1e-3, 2e-3}}, {}}});
  check("read_files", ReadFiles{{"/proc/stat", "/sys/x"}});
  check("read_files reply", ReadFilesReply{{"cpu 1", ""}});
  check("facts", Facts{});
  check("facts reply", FactsReply{sample_facts()});
  check("close", Close{});
  check("open", Open{1, 3, "ferry 0.1.0 user@laptop", {"cuda"}, {1000, 2000, 3000}, true});
  check("open reply", OpenReply{1, sample_facts(), {1, 2, 3}, 4711});
  check("status", GetStatus{});
  check("status reply",
        StatusReply{"0.1.0", "a board", 1, 2, 3, 4, 5, {{7, "a", "b", 1, "mm", 2}}, {{0, "c", "d", 3, "", 0}}});
  check("waiting event", WaitingEvent{2, "somebody", 1500});
  check("crash event", CrashEvent{9, "mm", "SIGSEGV", 8, Hash{1, 2}, 0x1234, "hello"});
  check("limit event", LimitEvent{9, TimeLimit::session, 3000, 2900});
  check("failure", Failure{"mm: no such function", 12});
  check("progress event", ProgressEvent{7, 10, 20});
  check("log event", LogEvent{7, "hello from the kernel"});
}

TEST_CASE("every message decodes to what was encoded") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    const Result<T> back = decode<T>(bytes);
    REQUIRE_MESSAGE(back.is_ok(), back.status().message());
    CHECK(encode(back.value()) == bytes);
  });
}

TEST_CASE("a message has the properties of its row in the list, and an unknown tag has none") {
  CHECK(has_property(static_cast<std::uint16_t>(Tag::Call), kRunsKernel));
  CHECK(has_property(static_cast<std::uint16_t>(Tag::Call), kWrites));
  CHECK_FALSE(has_property(static_cast<std::uint16_t>(Tag::Call), kFirst));
  CHECK(has_property(static_cast<std::uint16_t>(Tag::Open), kFirst));
  CHECK_FALSE(has_property(static_cast<std::uint16_t>(Tag::Ping), kFirst));
  for (const MessageProperties property : {kFirst, kRunsKernel, kLongAnswer, kWrites}) {
    CHECK_FALSE(has_property(9999, property));
  }
}

TEST_CASE("a call keeps every field") {
  const Call call = decode<Call>(encode(sample_call())).value();
  CHECK(call.module == 9);
  CHECK(call.instance == 11);
  CHECK(call.function == "mm");
  REQUIRE(call.arguments.size() == 2);
  CHECK(call.arguments[0].buffer == 5);
  CHECK(call.arguments[0].offset == 64);
  CHECK(call.arguments[0].dtype == DType::f16);
  CHECK(call.arguments[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(call.arguments[1].is_scalar);
  CHECK(call.arguments[1].scalar_bits == 0xffffffffffffffffu);
}

TEST_CASE("strings decode as they were sent, or so that they can be shown") {
  const std::string hostile = "a\x1b[2J\tb\n\xff";
  DeviceFacts facts;
  facts.cpu_name = facts.cpu_identification = hostile;
  facts.features = {hostile};
  facts.devices = {{hostile, "", 0}};
  const auto bytes = encode(FactsReply{facts});
  CHECK(decode<FactsReply>(bytes).value().facts.cpu_name == hostile);
  const DeviceFacts shown = decode<FactsReply>(bytes, Strings::printable).value().facts;
  const std::string line = R"(a\x1b[2J\tb\n\xff)", lines = "a\\x1b[2J\tb\n\\xff";
  CHECK(shown.cpu_name == line);
  CHECK(shown.features[0] == line);
  CHECK(shown.devices[0].kind == line);
  CHECK(shown.cpu_identification == lines);
  CHECK(decode<LogEvent>(encode(LogEvent{1, hostile}), Strings::printable).value().text == lines);
  CHECK(decode<ReadFilesReply>(encode(ReadFilesReply{{"", hostile}}), Strings::printable).value().texts[1] == lines);
}

TEST_CASE("every truncated length of every message is refused") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(length);
      // Copy exactly this many bytes, so that a sanitizer detects a read past the end.
      const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK(decode<T>(cut).status().code() == ErrorCode::protocol_error);
    }
  });
}

TEST_CASE("a byte after the end of any message is refused") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    std::vector<std::uint8_t> bytes = encode(message);
    bytes.push_back(0);
    CHECK(decode<T>(bytes).status().code() == ErrorCode::protocol_error);
  });
}

// Returns whether what was decoded can be sent on: encoding it gives a message that decodes to the same. The bytes
// themselves may differ from those that were received, because fields that nobody knows are skipped.
template <class T>
bool is_sent_on(const T& message) {
  const std::vector<std::uint8_t> bytes = encode(message);
  const Result<T> again = decode<T>(bytes);
  return again.is_ok() && encode(again.value()) == bytes;
}

TEST_CASE("a changed byte of any message is refused or decodes to a message") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
        std::vector<std::uint8_t> changed = bytes;
        changed[i] ^= flip;
        const Result<T> back = decode<T>(changed);
        CAPTURE(i);
        if (back.is_ok()) CHECK(is_sent_on(back.value()));
      }
    }
  });
}

TEST_CASE("random bytes are refused or decode to a message") {
  std::mt19937 random(7);
  for_each_message([&]<class T>(const char* name, const T&) {
    CAPTURE(name);
    for (int round = 0; round < 300; ++round) {
      std::vector<std::uint8_t> bytes(random() % 200);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
      const Result<T> back = decode<T>(bytes);
      if (back.is_ok()) CHECK(is_sent_on(back.value()));
    }
  });
}

TEST_CASE("fields that a newer peer adds at the end of a nested struct are skipped") {
  const Open sent{1, 3, "x", {}, {1000, 2000, 3000}, true};
  std::vector<std::uint8_t> bytes = encode(sent);
  // The limits are the last but one field: u32 length, three u64, then the bool.
  const std::size_t length = bytes.size() - 1 - 24 - 4;
  REQUIRE(bytes[length] == 24);
  bytes[length] += 3;
  bytes.insert(bytes.end() - 1, {7, 8, 9});
  const Result<Open> read = decode<Open>(bytes);
  REQUIRE_MESSAGE(read.is_ok(), read.status().message());
  CHECK(read.value().limits.idle_ms == 3000);
  CHECK(read.value().wait_for_debugger);
  CHECK(encode(read.value()) == encode(sent));
}

TEST_CASE("the facts of a server that does not know the last field are read without it") {
  const FactsReply sent{sample_facts()};
  std::vector<std::uint8_t> bytes = encode(sent);
  REQUIRE(bytes.back() == 1);
  bytes.pop_back();
  // The struct's length, of which the first byte is large enough.
  REQUIRE(bytes.front() > 0);
  --bytes.front();
  const Result<FactsReply> read = decode<FactsReply>(bytes);
  REQUIRE_MESSAGE(read.is_ok(), read.status().message());
  CHECK(read.value().facts.not_enforced == sent.facts.not_enforced);
  CHECK(read.value().facts.counts_instructions);
  CHECK(!read.value().facts.small_pages);
}

TEST_CASE("a nested struct that ends too early, or beyond the message, is refused with its offset") {
  std::vector<std::uint8_t> bytes = encode(Open{1, 3, "x", {}, {1000, 2000, 3000}, true});
  const std::size_t length = bytes.size() - 1 - 24 - 4;
  bytes[length] = 20;
  CHECK(decode<Open>(bytes).status().message() == "offset 37: expected 8 more bytes, got 4");
  bytes[length] = 26;
  CHECK(decode<Open>(bytes).status().message() == "offset 17: expected a count that fits into the 46 bytes, got 26");
}

TEST_CASE("a dtype or fill kind that does not exist is refused with its offset") {
  std::vector<std::uint8_t> bytes = encode(Fill{5, FillKind::random, DType::bf16, 77, 42});
  bytes[8] = 9;
  CHECK(decode<Fill>(bytes).status().message() == "offset 8: expected a known tag, got 9");
  bytes[8] = 4;
  bytes[9] = 14;
  CHECK(decode<Fill>(bytes).status().message() == "offset 9: expected a known tag, got 14");
}

TEST_CASE("every tag has its name") {
  CHECK(std::string(tag_name(3)) == "put_module");
  CHECK(std::string(tag_name(15)) == "close");
  CHECK(std::string(tag_name(1)) == "unknown");
  CHECK(std::string(tag_name(60000)) == "unknown");
}

}  // namespace
}  // namespace ferry::rpc
