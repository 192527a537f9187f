#include "rpc/server/handshake.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "rpc/secure/secret.h"
#include "rpc/wire/connection.h"

namespace ferry::server {
namespace {

using secure::kHandshakeBytes;
using secure::kLengthBytes;
using secure::kTagBytes;

constexpr std::chrono::seconds kDeadline{5};
// Delay of the refusal for a wrong key. It costs the server a descriptor and does not affect other clients.
constexpr std::chrono::seconds kWrongKeyDelay{1};

class Handshake final : public PendingConnection, public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(EventLoop& loop, int socket, const FirstRequestRules& rules, const KeySource* keys, SecretMemory& secrets,
            HandshakeEnd end)
      : socket_(loop, socket), timer_(loop), rules_(rules), keys_(keys), secrets_(secrets), end_(std::move(end)) {}
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake() override { end_.ended(); }

  void start() {
    timer_.start(kDeadline, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->abandon();
    });
    expect(rpc::kPreambleBytes, &Handshake::on_preamble);
  }

  // Closing the descriptor ends the wait for it, which holds the last reference to this object.
  void abandon() override {
    timer_.cancel();
    if (socket_.is_open()) socket_.close();
  }

 private:
  // Calls next() once this many bytes have arrived. Reads none beyond them, since those belong to the session.
  void expect(std::size_t bytes, void (Handshake::*next)()) {
    bytes_.resize(bytes);
    received_ = 0;
    next_ = next;
    read();
  }

  void read() {
    while (received_ < bytes_.size()) {
      const ssize_t count =
          ::recv(socket_.number(), bytes_.data() + received_, bytes_.size() - received_, MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return socket_.when_readable([self = shared_from_this()] { self->read(); });
      }
      if (count <= 0) return abandon();
      received_ += static_cast<std::size_t>(count);
    }
    (this->*next_)();
  }

  void on_preamble() {
    const auto preamble = rpc::decode_preamble(std::span<const std::uint8_t, rpc::kPreambleBytes>(bytes_));
    if (!preamble.is_ok()) {
      // Other bytes come from programs that do not speak the protocol and could not interpret an answer.
      if (preamble.status().code() == ErrorCode::protocol_error) return abandon();
      return refuse(preamble.status());
    }
    if (preamble.value().mode == rpc::PreambleMode::relay) return relay(preamble.value().relay);
    const bool encrypted = preamble.value().mode == rpc::PreambleMode::encrypted;
    if (encrypted && keys_ == nullptr) {
      return refuse({ErrorCode::unsupported,
                     "this server does not encrypt; plaintext:// in front of its address says "
                     "that this is known"});
    }
    if (!encrypted && keys_ != nullptr) {
      return refuse({ErrorCode::unauthenticated, "this server wants a key"});
    }
    if (!encrypted) return expect(rpc::kFrameHeaderBytes, &Handshake::on_header);
    std::copy(bytes_.begin(), bytes_.end(), prologue_.begin());
    key_id_ = preamble.value().key_id;
    cipher_ = secure::choose_cipher(secure::fast_ciphers(), preamble.value().ciphers);
    expect(kLengthBytes + kHandshakeBytes, &Handshake::on_first_message);
  }

  void relay(const rpc::RelayTicket& ticket) {
    if (!end_.relayed) return refuse({ErrorCode::unsupported, "this server does not relay connections"});
    timer_.cancel();
    end_.relayed(Descriptor(socket_.release()), ticket);
  }

  void on_first_message() {
    if (bytes_[0] != kHandshakeBytes || bytes_[1] != 0) return abandon();
    const auto answer = secure::wiping_stack([this] { return shake_hands(); });
    if (answer.status().code() == ErrorCode::unauthenticated) return refuse_later();
    if (!answer.is_ok()) return refuse(answer.status());
    std::vector<std::uint8_t> message{static_cast<std::uint8_t>(answer.value().size()), 0};
    message.insert(message.end(), answer.value().begin(), answer.value().end());
    // Nothing has been sent before, so the send buffer has room for the message.
    const ssize_t sent = ::send(socket_.number(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(message.size())) return abandon();
    secure_ = std::move(made_);
    expect(kLengthBytes, &Handshake::on_record_length);
  }

  // Returns the second message and stores the transport keys in made_; fails with unauthenticated if the client does
  // not hold the key.
  Result<std::vector<std::uint8_t>> shake_hands() {
    FERRY_ASSIGN(const auto found, keys_->find(key_id_));
    // An unknown key fails at the same point as a wrong one, after the same work.
    const secure::Key key = found.value_or(secure::make_key());
    secure::NoiseHandshake noise(secure::Role::responder, prologue_, key.bytes);
    FERRY_ASSIGN(const auto payload, noise.read_message(std::span(bytes_).subspan(kLengthBytes)));
    if (!payload.empty()) return Status(ErrorCode::unauthenticated, "expected an empty handshake message");
    const auto number = static_cast<std::uint8_t>(cipher_);
    FERRY_ASSIGN(auto answer, noise.write_message(std::span(&number, cipher_ == secure::Cipher::chacha_poly ? 0 : 1)));
    made_ = secrets_.make();
    if (made_ == nullptr) return Status(ErrorCode::busy, "too many clients connect at once; try again");
    const secure::TransportKeys session_keys = noise.split();
    made_->sending.key = session_keys.to_initiator;
    made_->receiving.key = session_keys.to_responder;
    made_->sending.cipher = made_->receiving.cipher = cipher_;
    return answer;
  }

  void on_record_length() {
    const auto length = secure::sealed_length(bytes_.data());
    if (!length.is_ok() || length.value() > kTagBytes + rpc::kFrameHeaderBytes + rules_.max_body) {
      return refuse(no_first_request());
    }
    expect(length.value(), &Handshake::on_record);
  }

  void on_record() {
    // A client that replays a recorded first message fails here.
    const Status opened =
        secure::wiping_stack([this] { return secure::open(secure_->receiving, bytes_, bytes_.data()); });
    if (!opened.is_ok()) return refuse(opened);
    bytes_.resize(bytes_.size() - kTagBytes);
    if (bytes_.size() < rpc::kFrameHeaderBytes) return refuse(no_first_request());
    const std::vector<std::uint8_t> body(bytes_.begin() + rpc::kFrameHeaderBytes, bytes_.end());
    bytes_.resize(rpc::kFrameHeaderBytes);
    if (!take_header()) return;
    if (header_.body_bytes != body.size()) return refuse(no_first_request());
    bytes_ = body;
    on_body();
  }

  void on_header() {
    if (take_header()) expect(header_.body_bytes, &Handshake::on_body);
  }

  // Returns false, after refusing the client, if the header is not that of a first request.
  bool take_header() {
    const auto header = rpc::decode_frame_header(std::span<const std::uint8_t, rpc::kFrameHeaderBytes>(bytes_));
    if (!header.is_ok()) {
      refuse(header.status());
      return false;
    }
    header_ = header.value();
    const bool is_first = header_.kind == rpc::FrameKind::request && header_.request != 0 &&
                          header_.payload_bytes == 0 && rules_.is_known(header_.tag);
    if (is_first && header_.body_bytes <= rules_.max_body) return true;
    refuse(no_first_request());
    return false;
  }

  void on_body() {
    const Status valid = rules_.check(header_.tag, bytes_);
    if (!valid.is_ok()) return refuse(valid);
    timer_.cancel();
    end_.admitted({Descriptor(socket_.release()), std::move(secure_), header_, std::move(bytes_), key_id_});
  }

  Status no_first_request() const {
    return {ErrorCode::protocol_error, std::string("expected ") + rules_.names + " as the first request"};
  }

  void refuse_later() {
    timer_.start(kWrongKeyDelay, [self = shared_from_this()] {
      if (self->socket_.is_open()) self->refuse({ErrorCode::unauthenticated, "this server does not accept that key"});
    });
  }

  void refuse(const Status& failure) {
    timer_.cancel();
    const HandshakenClient client{Descriptor(), std::move(secure_), header_, {}, {}};
    end_.refused(socket_.release(), client.outgoing(rpc::failure_frame(header_.tag, header_.request, failure), true));
  }

  WatchedDescriptor socket_;
  Timer timer_;
  const FirstRequestRules& rules_;
  const KeySource* keys_;
  SecretMemory& secrets_;
  HandshakeEnd end_;
  std::vector<std::uint8_t> bytes_;
  std::size_t received_ = 0;
  void (Handshake::*next_)() = nullptr;
  std::array<std::uint8_t, rpc::kPreambleBytes> prologue_{};
  secure::KeyId key_id_{};
  secure::Cipher cipher_ = secure::Cipher::chacha_poly;  // for the records
  SecretMemory::Pointer made_;    // until our answer has been sent: a refusal is still sent in plaintext
  SecretMemory::Pointer secure_;  // after our answer has been sent
  rpc::FrameHeader header_;
};

}  // namespace

std::vector<std::uint8_t> HandshakenClient::outgoing(std::vector<std::uint8_t> frame, bool last) const {
  if (secure == nullptr) return frame;
  auto records = secure::wiping_stack([&] { return secure::seal_all(secure->sending, frame, last); });
  return records.is_ok() ? std::move(records.value()) : std::vector<std::uint8_t>();
}

std::weak_ptr<PendingConnection> begin_handshake(EventLoop& loop, int socket, const FirstRequestRules& rules,
                                                 const KeySource* keys, SecretMemory& secrets, HandshakeEnd end) {
  const auto handshake = std::make_shared<Handshake>(loop, socket, rules, keys, secrets, std::move(end));
  handshake->start();
  return handshake;
}

}  // namespace ferry::server
