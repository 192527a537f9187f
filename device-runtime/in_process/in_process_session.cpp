#include "device-runtime/in_process/in_process_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device-runtime/facts/facts.h"
#include "device-runtime/handlers/dispatch.h"
#include "module/unaligned_tensors.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/connection.h"

namespace ferry::device {
namespace {

Status refuse_devices(const rpc::Frame& frame) {
  if (frame.header.tag != static_cast<std::uint16_t>(rpc::Tag::Open)) return {};
  FERRY_ASSIGN(const rpc::Open open, rpc::decode<rpc::Open>(frame.body));
  for (const std::string& name : open.devices) {
    if (name == rpc::kAnyDevice) continue;
    FERRY_ASSIGN(const DeviceId id, parse_device_id(name));
    if (!(id == DeviceId{})) return {ErrorCode::unsupported, "a session in this process has no device '" + name + "'"};
  }
  return {};
}

DeviceFacts facts_of_process(const std::string& version) {
  FactsOptions options;
  options.server_version = version;
  options.flavour = std::string(kInProcessFlavour);
  return gather_facts(options);
}

}  // namespace

// The session's end of the connection: it reads the pieces that the client is sending and keeps what it answers.
class SessionEnd final : public Transport {
 public:
  explicit SessionEnd(std::vector<std::uint8_t>& answers) : answers_(answers) {}

  Status send(std::span<const ByteSpan> pieces) override {
    for (const ByteSpan piece : pieces) answers_.insert(answers_.end(), piece.begin(), piece.end());
    return {};
  }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    std::size_t received = 0;
    while (received < into.size() && has_buffered_input()) {
      const ByteSpan piece = pieces_.front().subspan(done_);
      const std::size_t count = std::min(piece.size(), into.size() - received);
      if (count != 0) std::memcpy(into.data() + received, piece.data(), count);
      received += count;
      done_ += count;
      skip_ended_pieces();
    }
    if (received < at_least) return closed_by_peer(received, at_least);
    return received;
  }
  void set_receive_timeout(std::chrono::milliseconds) override {}
  void close_send() override {}
  void close() override {}
  bool has_buffered_input() const override { return !pieces_.empty(); }
  int native_handle() const override { return -1; }

  // The pieces must stay valid until they have been received.
  void offer(std::span<const ByteSpan> pieces) {
    pieces_ = pieces;
    done_ = 0;
    skip_ended_pieces();
  }

 private:
  void skip_ended_pieces() {
    while (!pieces_.empty() && done_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      done_ = 0;
    }
  }

  std::vector<std::uint8_t>& answers_;
  std::span<const ByteSpan> pieces_;
  std::size_t done_ = 0;  // bytes of the first piece
};

// The state of the connection, and the client's end of it.
class InProcessSession::Connected {
 public:
  explicit Connected(InProcessSession& session)
      : session_(session), end_(new SessionEnd(answers_)), connection_(std::unique_ptr<Transport>(end_)) {}

  Status handle(std::span<const ByteSpan> pieces) {
    if (is_over_) return closed();
    end_->offer(pieces);
    if (!std::exchange(has_preamble_, true)) FERRY_TRY(connection_.receive_preamble().status());
    while (!is_over_ && connection_.has_buffered_input()) {
      FERRY_ASSIGN(const rpc::Frame frame, connection_.receive_frame());
      if (const Status refused = refuse_devices(frame); !refused.is_ok()) {
        is_over_ = true;
        return connection_.send_failure(frame.header, refused);
      }
      is_over_ = !dispatch(session_.state_, connection_, *session_.activity_, frame);
    }
    return {};
  }

  Result<std::size_t> take_answers(MutableByteSpan into, std::size_t at_least) {
    const std::size_t count = std::min(into.size(), answers_.size() - taken_);
    if (count < at_least) return closed();
    if (count != 0) std::memcpy(into.data(), answers_.data() + taken_, count);
    taken_ += count;
    if (taken_ == answers_.size()) {
      answers_.clear();
      if (answers_.capacity() > kMostKept) answers_.shrink_to_fit();
      taken_ = 0;
    }
    return count;
  }
  bool has_answers() const { return taken_ < answers_.size(); }

 private:
  static constexpr std::size_t kMostKept = 1 << 20;

  static Status closed() { return {ErrorCode::unavailable, kPeerClosed}; }

  InProcessSession& session_;
  std::vector<std::uint8_t> answers_;
  std::size_t taken_ = 0;
  SessionEnd* end_;  // the connection's
  rpc::Connection connection_;
  bool has_preamble_ = false;
  bool is_over_ = false;
};

namespace {

template <class Connected>
class ClientEnd final : public Transport {
 public:
  explicit ClientEnd(Connected& connected) : connected_(connected) {}

  Status send(std::span<const ByteSpan> pieces) override { return connected_.handle(pieces); }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    return connected_.take_answers(into, at_least);
  }
  void set_receive_timeout(std::chrono::milliseconds) override {}
  void close_send() override {}
  void close() override {}
  bool has_buffered_input() const override { return connected_.has_answers(); }
  int native_handle() const override { return -1; }

 private:
  Connected& connected_;
};

}  // namespace

InProcessSession::InProcessSession(const std::string& version)
    : activity_(std::make_unique<Activity>()), state_(facts_of_process(version), SessionAccess()) {
  state_.access.files = SessionFiles::open();
  state_.access.isolation.missing = "the session is in the process of its client";
  auto cpu = std::make_unique<CpuDevice>(state_.facts.devices.front(), state_.facts.threads, state_.budget);
  cpu_ = cpu.get();
  state_.devices.push_back(std::move(cpu));
}

InProcessSession::~InProcessSession() = default;

std::unique_ptr<Transport> InProcessSession::connect() {
  connected_ = std::make_unique<Connected>(*this);
  return std::make_unique<ClientEnd<Connected>>(*connected_);
}

Status InProcessSession::allocate(rpc::Handle buffer, std::uint64_t bytes) {
  FERRY_TRY(state_.buffers.check_new(buffer));
  FERRY_ASSIGN(auto made, Buffer::allocate(*cpu_, bytes));
  state_.buffers.define(buffer, std::move(made));
  return {};
}

void InProcessSession::free(rpc::Handle buffer) { (void)state_.buffers.remove(buffer); }

Status InProcessSession::adopt(rpc::Handle buffer, void* memory, std::uint64_t bytes) {
  FERRY_TRY(state_.buffers.check_new(buffer));
  state_.buffers.define(buffer, Buffer::borrow(*cpu_, memory, bytes));
  return {};
}

std::uint8_t* InProcessSession::address(rpc::Handle buffer) {
  const Buffer* const found = state_.buffers.find_quietly(buffer);
  return found == nullptr ? nullptr : found->host_address();
}

Result<std::unique_ptr<InProcessCall>> InProcessSession::prepare(rpc::Handle module, std::size_t function,
                                                                 rpc::Handle instance,
                                                                 std::span<const InProcessArgument> arguments) {
  Module* const loaded = state_.modules.find_quietly(module);
  if (loaded == nullptr || function >= loaded->manifest.functions.size())
    return Status(ErrorCode::not_found, "there is no such function in this session");
  const FunctionInfo& info = loaded->manifest.functions[function];
  const Instance* const bound_instance = instance == 0 ? nullptr : state_.instances.find_quietly(instance);
  if (needs_instance(info) && (bound_instance == nullptr || bound_instance->module != loaded))
    return Status(ErrorCode::invalid_argument, info.name + ": expected an instance, got none");
  std::vector<ArgumentShape> shapes;
  std::vector<DeviceArgument> bound_arguments;
  for (const InProcessArgument& argument : arguments) {
    shapes.push_back(argument.shape);
    const bool is_scalar = argument.shape.kind == ParameterKind::scalar;
    bound_arguments.push_back({is_scalar, argument.memory, argument.scalar_bits});
  }
  FERRY_ASSIGN(BoundCall bound, bind_call(info, shapes));
  const KeptMemory kept{
      bound_instance == nullptr ? std::span<const MemoryBlock>() : bound_instance->persistent.blocks(),
      loaded->constants->blocks()};
  FERRY_ASSIGN(auto call, PlanCall::prepare(loaded->devices, *loaded->program, info, bound_arguments, bound, kept));
  auto result = std::make_unique<InProcessCall>(info, std::move(call), arguments, std::move(bound.tensor_bytes),
                                                !takes_unaligned_tensors(loaded->manifest.target));
  FERRY_TRY(result->check());
  FERRY_ASSIGN(const std::vector<std::int64_t> values, evaluate_values(info, info.plan, bound.symbols));
  result->find_places(info.plan, values);
  return result;
}

}  // namespace ferry::device
