#include "rpc/server/dial.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "rpc/secure/noise.h"
#include "rpc/secure/secret.h"
#include "rpc/server/outgoing_connection.h"
#include "rpc/wire/frame.h"

namespace ferry::server {
namespace {

using secure::kHandshakeBytes;
using secure::kLengthBytes;

class Dialing final : public OutgoingConnection {
 public:
  Dialing(EventLoop& loop, Descriptor socket, SecretMemory::Pointer secure, Dialer& dialer)
      : OutgoingConnection(loop, std::move(socket)), secure_(std::move(secure)), dialer_(&dialer) {}

 private:
  void on_connected() override {
    // The place of the sending key holds the ephemeral one until there is a sending key.
    secure::fill_with_random(secure_->sending.key);
    const auto first = secure::wiping_stack([this] { return first_message(); });
    if (!first.is_ok()) return on_failed(first.status());
    std::vector<std::uint8_t> bytes(prologue_.begin(), prologue_.end());
    bytes.insert(bytes.end(), {kHandshakeBytes, 0});
    bytes.insert(bytes.end(), first.value().begin(), first.value().end());
    // Nothing has been sent before, so the send buffer has room for it.
    const ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return on_failed(closed());
    read();
  }

  Result<std::vector<std::uint8_t>> first_message() {
    FERRY_ASSIGN(const secure::Key key, dialer_->read_key());
    rpc::Preamble preamble;
    preamble.mode = rpc::PreambleMode::encrypted;
    preamble.key_id = key.id();
    prologue_ = rpc::encode_preamble(preamble);
    secure::NoiseHandshake noise(secure::Role::initiator, prologue_, key.bytes, secure_->sending.key);
    return noise.write_message();
  }

  // Reads exactly the second message. A refusal in plaintext is at least as long.
  void read() {
    while (received_ < answer_.size()) {
      const ssize_t count =
          ::recv(socket_.number(), answer_.data() + received_, answer_.size() - received_, MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return socket_.when_readable([this, self = shared_from_this()] { read(); });
      if (count <= 0) return on_failed(closed());
      received_ += static_cast<std::size_t>(count);
      // Whoever is in between could forge the text of a refusal, so it is not read.
      if (received_ >= kLengthBytes && (answer_[0] != kHandshakeBytes || answer_[1] != 0))
        return on_failed({ErrorCode::unauthenticated, "it does not accept our key"});
    }
    const Status agreed = secure::wiping_stack([this] { return finish(); });
    if (!agreed.is_ok()) return on_failed(agreed);
    timer_.cancel();
    std::exchange(dialer_, nullptr)->on_dialed(DialedConnection{Descriptor(socket_.release()), std::move(secure_)});
  }

  Status finish() {
    FERRY_ASSIGN(const secure::Key key, dialer_->read_key());
    // The same ephemeral key makes the same first message, and leaves the same state behind.
    secure::NoiseHandshake noise(secure::Role::initiator, prologue_, key.bytes, secure_->sending.key);
    FERRY_TRY(noise.write_message().status());
    FERRY_ASSIGN(const auto payload, noise.read_message(std::span(answer_).subspan(kLengthBytes)));
    if (!payload.empty()) return {ErrorCode::protocol_error, "expected an empty handshake message"};
    const secure::TransportKeys keys = noise.split();
    secure_->sending.key = keys.to_responder;
    secure_->receiving.key = keys.to_initiator;
    return {};
  }

  static Status closed() { return {ErrorCode::unavailable, "it has closed the connection"}; }

  void on_failed(const Status& why) override {
    abandon();
    secure_.reset();
    if (Dialer* const dialer = std::exchange(dialer_, nullptr)) dialer->on_dialed(why);
  }

  SecretMemory::Pointer secure_;
  Dialer* dialer_;  // null once it has its answer
  std::array<std::uint8_t, rpc::kPreambleBytes> prologue_{};
  std::array<std::uint8_t, kLengthBytes + kHandshakeBytes> answer_{};
  std::size_t received_ = 0;
};

}  // namespace

std::weak_ptr<PendingConnection> dial(EventLoop& loop, SocketAddress address, SecretMemory& secrets,
                                      std::chrono::milliseconds timeout, Dialer& dialer) {
  Result<Descriptor> socket = socket_for(address);
  SecretMemory::Pointer secure = secrets.make();
  if (!socket.is_ok() || secure == nullptr) {
    dialer.on_dialed(Status(ErrorCode::busy, "no descriptor or memory is left for a connection"));
    return {};
  }
  const auto dialing = std::make_shared<Dialing>(loop, std::move(socket.value()), std::move(secure), dialer);
  dialing->start(address, timeout);
  return dialing;
}

}  // namespace ferry::server
