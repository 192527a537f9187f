#include "device-runtime/supervisor/handshake.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "device-runtime/handlers/info.h"
#include "device-runtime/supervisor/farewell.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/connection.h"

namespace ferry::device {
namespace {

constexpr std::chrono::seconds kDeadline{5};
// A first request is a few words; what is longer is none.
constexpr std::uint32_t kMaxFirstBytes = 4096;

class Handshake : public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(EventLoop& loop, int socket, std::function<void(GreetedClient)> admitted, Callback ended)
      : loop_(loop), socket_(loop, socket), timer_(loop), admitted_(std::move(admitted)), ended_(std::move(ended)) {}
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake() { ended_(); }

  void start() {
    timer_.start(kDeadline, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->give_up();
    });
    expect(rpc::kPreambleBytes, &Handshake::on_preamble);
  }

 private:
  // Calls next() once this many bytes have come, and reads none beyond them: those are the session's.
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
      if (count <= 0) return give_up();
      received_ += static_cast<std::size_t>(count);
    }
    (this->*next_)();
  }

  void on_preamble() {
    const auto preamble = rpc::decode_preamble(std::span<const std::uint8_t, rpc::kPreambleBytes>(bytes_));
    if (preamble.is_ok()) return expect(rpc::kFrameHeaderBytes, &Handshake::on_header);
    // Other bytes come from other programs, which would not understand a word of ours.
    if (preamble.status().code() == ErrorCode::protocol_error) return give_up();
    refuse(preamble.status());
  }

  void on_header() {
    const auto header = rpc::decode_frame_header(std::span<const std::uint8_t, rpc::kFrameHeaderBytes>(bytes_));
    if (!header.is_ok()) return refuse(header.status());
    header_ = header.value();
    const auto tag = static_cast<rpc::Tag>(header_.tag);
    const bool is_first = header_.kind == rpc::FrameKind::request && header_.payload_bytes == 0 &&
                          (tag == rpc::Tag::Open || tag == rpc::Tag::Hello || tag == rpc::Tag::GetStatus);
    if (!is_first || header_.body_bytes > kMaxFirstBytes) {
      return refuse({ErrorCode::protocol_error, "expected open, hello or status as the first request"});
    }
    expect(header_.body_bytes, &Handshake::on_body);
  }

  void on_body() {
    const auto open = decode_first();
    if (!open.is_ok()) return refuse(open.status());
    const auto version = negotiate_version(open.value().version_min, open.value().version_max);
    if (!version.is_ok()) return refuse(version.status());
    timer_.cancel();
    admitted_({Descriptor(socket_.release()), header_, std::move(bytes_), open.value()});
  }

  Result<rpc::Open> decode_first() const {
    if (header_.tag == static_cast<std::uint16_t>(rpc::Tag::Open)) return rpc::decode<rpc::Open>(bytes_);
    rpc::Open open;
    if (header_.tag == static_cast<std::uint16_t>(rpc::Tag::Hello)) {
      FERRY_ASSIGN(rpc::Hello hello, rpc::decode<rpc::Hello>(bytes_));
      open.version_min = hello.version_min;
      open.version_max = hello.version_max;
      open.client = std::move(hello.client);
    }
    return open;
  }

  void refuse(const Status& failure) {
    timer_.cancel();
    say_farewell(loop_, socket_.release(), rpc::failure_frame(header_.tag, header_.request, failure));
  }

  // With the descriptor, the wait for it ends, and with that the last reference to this.
  void give_up() {
    timer_.cancel();
    if (socket_.is_open()) socket_.close();
  }

  EventLoop& loop_;
  WatchedDescriptor socket_;
  Timer timer_;
  std::function<void(GreetedClient)> admitted_;
  Callback ended_;
  std::vector<std::uint8_t> bytes_;
  std::size_t received_ = 0;
  void (Handshake::*next_)() = nullptr;
  rpc::FrameHeader header_;
};

}  // namespace

void begin_handshake(EventLoop& loop, int socket, std::function<void(GreetedClient)> admitted, Callback ended) {
  std::make_shared<Handshake>(loop, socket, std::move(admitted), std::move(ended))->start();
}

}  // namespace ferry::device
