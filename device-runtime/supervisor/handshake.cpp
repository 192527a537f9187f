#include "device-runtime/supervisor/handshake.h"

#include <array>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
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
// A hello is a few words; what is longer is none.
constexpr std::uint32_t kMaxHelloBytes = 4096;

class Handshake : public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(ClientSocket socket, std::function<void(GreetedClient)> admitted, std::function<void()> ended)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        admitted_(std::move(admitted)),
        ended_(std::move(ended)) {}

  ~Handshake() { ended_(); }

  void start() {
    timer_.expires_after(kDeadline);
    timer_.async_wait([weak = weak_from_this()](asio::error_code error) {
      const auto self = weak.lock();
      if (!error && self) self->give_up();
    });
    read(preamble_, &Handshake::on_preamble);
  }

 private:
  template <class Bytes>
  void read(Bytes& into, void (Handshake::*next)()) {
    asio::async_read(socket_, asio::buffer(into),
                     [self = shared_from_this(), next](asio::error_code error, std::size_t) {
                       if (!error && self->socket_.is_open()) ((*self).*next)();
                     });
  }

  void on_preamble() {
    const auto preamble = rpc::decode_preamble(preamble_);
    if (!preamble.is_ok()) {
      // Other bytes come from other programs, which would not understand a word of ours.
      return preamble.status().code() == ErrorCode::protocol_error ? give_up() : refuse(preamble.status());
    }
    read(head_, &Handshake::on_header);
  }

  void on_header() {
    const auto header = rpc::decode_frame_header(head_);
    if (!header.is_ok()) return refuse(header.status());
    header_ = header.value();
    const bool is_hello = header_.kind == rpc::FrameKind::request &&
                          header_.tag == static_cast<std::uint16_t>(rpc::Tag::Hello) && header_.payload_bytes == 0;
    if (!is_hello || header_.body_bytes > kMaxHelloBytes) {
      return refuse({ErrorCode::protocol_error, "expected hello as the first request"});
    }
    body_.resize(header_.body_bytes);
    read(body_, &Handshake::on_body);
  }

  void on_body() {
    auto hello = rpc::decode<rpc::Hello>(body_);
    if (!hello.is_ok()) return refuse(hello.status());
    if (const auto version = negotiate_version(hello.value()); !version.is_ok()) return refuse(version.status());
    timer_.cancel();
    admitted_({std::move(socket_), header_, std::move(body_), std::move(hello.value())});
  }

  void refuse(const Status& failure) {
    timer_.cancel();
    say_farewell(std::move(socket_), rpc::failure_frame(header_.tag, header_.request, failure));
  }

  // A pending read ends with an error, and with it the last reference to this.
  void give_up() {
    asio::error_code ignored;
    socket_.close(ignored);
  }

  ClientSocket socket_;
  asio::steady_timer timer_;
  std::function<void(GreetedClient)> admitted_;
  std::function<void()> ended_;
  std::array<std::uint8_t, rpc::kPreambleBytes> preamble_{};
  std::array<std::uint8_t, rpc::kFrameHeaderBytes> head_{};
  rpc::FrameHeader header_;
  std::vector<std::uint8_t> body_;
};

}  // namespace

void begin_handshake(ClientSocket socket, std::function<void(GreetedClient)> admitted, std::function<void()> ended) {
  std::make_shared<Handshake>(std::move(socket), std::move(admitted), std::move(ended))->start();
}

}  // namespace ferry::device
