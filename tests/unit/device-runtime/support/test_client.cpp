#include "tests/unit/device-runtime/support/test_client.h"

#include <bit>

#include "rpc/transport/tcp.h"

namespace ferry::test {

std::unique_ptr<Transport> connect_to(std::uint16_t port) {
  auto transport = connect_tcp("127.0.0.1", port);
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  transport.value()->set_receive_timeout(std::chrono::seconds(60));
  return std::move(transport.value());
}

TestClient::TestClient(std::uint16_t port) : TestClient(connect_to(port)) {}

TestClient::TestClient(std::unique_ptr<Transport> transport, Opening opening)
    : TestClient(std::move(transport), open_as("a test"), opening) {}

TestClient::TestClient(std::uint16_t port, const rpc::Open& open) : TestClient(connect_to(port), open) {}

TestClient::TestClient(std::unique_ptr<Transport> transport, const rpc::Open& open, Opening opening)
    : connection_(std::make_unique<rpc::Connection>(std::move(transport))) {
  if (opening == Opening::none) connection_->put_preamble_before_first_frame({});
  opened_ = must(open).reply;
  facts_ = opened_.facts;
}

rpc::Open open_as(const std::string& client) {
  rpc::Open open;
  open.client = client;
  return open;
}

std::unique_ptr<rpc::Connection> join_queue(std::uint16_t port, const rpc::Open& open) {
  auto connection = std::make_unique<rpc::Connection>(connect_to(port));
  connection->put_preamble_before_first_frame({});
  const Status sent = connection->send_request(1, open);
  CHECK_MESSAGE(sent.is_ok(), sent.message());
  return connection;
}

Result<rpc::Frame> TestClient::next_response() {
  while (true) {
    FERRY_ASSIGN(const rpc::Frame frame, connection_->receive_frame());
    if (frame.header.kind != rpc::FrameKind::event) return frame;
    if (frame.header.tag != static_cast<std::uint16_t>(rpc::EventTag::log)) continue;
    FERRY_ASSIGN(const rpc::LogEvent event, rpc::decode<rpc::LogEvent>(frame.body));
    logged_ += event.text;
  }
}

rpc::Argument tensor(rpc::Handle buffer, std::vector<std::int64_t> shape, DType dtype, std::uint64_t offset) {
  rpc::Argument argument;
  argument.buffer = buffer;
  argument.offset = offset;
  argument.dtype = dtype;
  argument.shape = std::move(shape);
  return argument;
}

rpc::Argument scalar(float value) {
  rpc::Argument argument;
  argument.dtype = DType::f32;
  argument.is_scalar = true;
  argument.scalar_bits = std::bit_cast<std::uint32_t>(value);
  return argument;
}

rpc::Argument scalar(std::int64_t value) {
  rpc::Argument argument;
  argument.dtype = DType::i64;
  argument.is_scalar = true;
  argument.scalar_bits = static_cast<std::uint64_t>(value);
  return argument;
}

}  // namespace ferry::test
