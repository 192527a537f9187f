#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "device-runtime/session/session.h"
#include "rpc/wire/connection.h"
#include "tests/fuzz/inputs/targets.h"
#include "tests/unit/device-runtime/support/served_files.h"

namespace ferry::fuzz {
namespace {

// A transport that delivers the input to the receiver and discards everything sent.
class InputTransport final : public Transport {
 public:
  explicit InputTransport(Input input) : input_(input) {}
  Status send(std::span<const ByteSpan>) override { return {}; }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    const std::size_t count = std::min(into.size(), input_.size());
    std::copy_n(input_.begin(), count, into.begin());
    input_ = input_.subspan(count);
    if (count < at_least) return closed_by_peer(count, at_least);
    return count;
  }
  void set_receive_timeout(std::chrono::milliseconds) override {}
  void close_send() override {}
  void close() override {}
  int native_handle() const override { return -1; }

 private:
  Input input_;
};

// Receives the blobs of all inputs.
struct TemporaryFolder {
  std::string path = "/tmp/ferry-fuzz-blobs-XXXXXX";
  TemporaryFolder() {
    if (mkdtemp(path.data()) == nullptr) __builtin_trap();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

template <class T>
void decode_and_back(ByteSpan body) {
  const Result<T> message = rpc::decode<T>(body);
  if (!message.is_ok()) return;
  // The bytes may differ from the input, whose unknown fields at the ends of nested structs are skipped.
  const auto bytes = rpc::encode(message.value());
  const Result<T> again = rpc::decode<T>(bytes);
  if (!again.is_ok() || rpc::encode(again.value()) != bytes) __builtin_trap();
}

}  // namespace

void fuzz_frame(Input input) {
  rpc::Connection connection(std::make_unique<InputTransport>(input));
  if (!connection.receive_preamble().is_ok()) return;
  while (true) {
    const Result<rpc::Frame> frame = connection.receive_frame();
    if (!frame.is_ok()) return;
    const ByteSpan body = frame.value().body;
    (void)rpc::failure_of(frame.value());
    switch (static_cast<rpc::Tag>(frame.value().header.tag)) {
#define FERRY_CASE(number, request, reply, text, properties) \
  case rpc::Tag::request:                                    \
    decode_and_back<rpc::request>(body);                     \
    decode_and_back<rpc::reply>(body);                       \
    break;
      FERRY_MESSAGES(FERRY_CASE)
#undef FERRY_CASE
    }
    decode_and_back<rpc::WaitingEvent>(body);
    decode_and_back<rpc::CrashEvent>(body);
    decode_and_back<rpc::LimitEvent>(body);
    decode_and_back<rpc::LogEvent>(body);
    std::array<std::uint8_t, 100> piece{};
    const std::size_t some = std::min<std::uint64_t>(piece.size(), connection.payload_left());
    if (!connection.receive_payload(MutableByteSpan(piece).first(some)).is_ok()) return;
  }
}

void fuzz_dispatch(Input input) {
  static const DeviceFacts facts = [] {
    DeviceFacts few;
    few.threads = 1;
    few.memory_limit_bytes = 1 << 20;
    few.devices.push_back({"cpu", "", 1 << 20});
    return few;
  }();
  static const TemporaryFolder folder;
  test::ServedFiles files("", folder.path, 1 << 14);
  device::Activity activity;
  const auto body = rpc::encode(rpc::Open{});
  rpc::FrameHeader open{rpc::FrameKind::request, static_cast<std::uint16_t>(rpc::Tag::Open)};
  open.request = 1;
  device::run_session(std::make_unique<InputTransport>(input), {facts}, {std::move(files.broker()), {}}, activity,
                      {open, body});
}

}  // namespace ferry::fuzz
