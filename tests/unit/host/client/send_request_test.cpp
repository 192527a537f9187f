// Tests requests that are sent while the answers to others are awaited.
#include "host/client/client.h"
#include "rpc/transport/socket.h"
#include "rpc/wire/connection.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace ferry;
using session::Client;

namespace {

// A peer over a pair of sockets, whose buffers are bounded.
class SocketServer {
 public:
  explicit SocketServer(std::function<void(SocketServer&)> script) {
    auto ends = socket_transport_pair();
    REQUIRE(ends.is_ok());
    client_end = std::move(ends.value().first);
    connection_ = std::make_unique<rpc::Connection>(std::move(ends.value().second));
    thread_ = std::thread([this, script = std::move(script)] {
      (void)connection_->receive_preamble();
      rpc::OpenReply opened;
      opened.version = 1;
      (void)connection_->send_response(receive(), opened);
      script(*this);
    });
  }
  ~SocketServer() {
    connection_->transport().close();
    thread_.join();
  }
  // Receives a request with its payload.
  rpc::FrameHeader receive() {
    const Result<rpc::Frame> frame = connection_->receive_frame();
    if (!frame.is_ok()) return {};
    std::vector<std::uint8_t> payload(frame.value().header.payload_bytes);
    (void)connection_->receive_payload(payload);
    return frame.value().header;
  }
  template <class Reply>
  void answer(const rpc::FrameHeader& request, const Reply& reply, ByteSpan payload = {}) {
    (void)connection_->send_response(request, reply, payload);
  }

  std::unique_ptr<Transport> client_end;

 private:
  std::unique_ptr<rpc::Connection> connection_;
  std::thread thread_;
};

// More than the buffers of a pair of sockets hold.
constexpr std::size_t kModuleBytes = 700 << 10;

}  // namespace

TEST_CASE("a module is sent although a call before it has not been answered") {
  SocketServer server([](SocketServer& s) {
    const rpc::FrameHeader call = s.receive(), module = s.receive();
    CHECK(module.payload_bytes == kModuleBytes);
    s.answer(call, rpc::CallReply{7});
    s.answer(module, rpc::PutModuleReply{true});
  });
  Client client(std::move(server.client_end), "board:9090");
  const std::vector<std::uint8_t> code(kModuleBytes, 1);
  auto call = client.send(rpc::Call{});
  auto module = client.send(rpc::PutModule{1, {}}, code);
  CHECK(module.get().present);
  CHECK(call.get().elapsed_ns == 7);
}

TEST_CASE("a module does not deadlock with a large answer that the server sends before it reads on") {
  constexpr std::size_t kAnswerBytes = 8 << 20;
  SocketServer server([](SocketServer& s) {
    const std::vector<std::uint8_t> content(kAnswerBytes, 42);
    s.answer(s.receive(), rpc::Empty{}, content);
    s.answer(s.receive(), rpc::PutModuleReply{true});
  });
  Client client(std::move(server.client_end), "board:9090");
  std::vector<std::uint8_t> into(kAnswerBytes);
  const std::vector<std::uint8_t> code(kModuleBytes, 1);
  auto read = client.send(rpc::Read{1, 0, kAnswerBytes}, {}, into);
  auto module = client.send(rpc::PutModule{1, {}}, code);
  CHECK(module.get().present);
  read.get();
  CHECK(into.back() == 42);
}

TEST_CASE("a connection that ends while a module is sent fails all that was asked") {
  SocketServer server([](SocketServer& s) { (void)s.receive(); });
  Client client(std::move(server.client_end), "board:9090");
  const std::vector<std::uint8_t> code(kModuleBytes, 1);
  auto call = client.send(rpc::Call{});
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.interrupt();
  });
  CHECK_THROWS_AS(client.send(rpc::PutModule{1, {}}, code), Error);
  end.join();
  CHECK_THROWS_AS(call.get(), Error);
  CHECK_FALSE(client.is_open());
}
