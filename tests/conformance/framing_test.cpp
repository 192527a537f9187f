// Tests frames over every transport: what two peers that follow the protocol may rely on, and what a peer that violates
// it can cause.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "rpc/wire/connection.h"
#include "tests/conformance/transports.h"

namespace ferry::rpc {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Ends {
  Connection client;
  Connection server;
  explicit Ends(TransportPair pair) : client(std::move(pair.first)), server(std::move(pair.second)) {}
};

template <class Check>
void for_each_transport(Check check) {
  for (const TransportKind& kind : kAllTransports) {
    CAPTURE(kind.name);
    Ends ends(kind.connect());
    check(ends.client, ends.server);
  }
}

Status send_raw(Connection& connection, ByteSpan bytes) {
  const ByteSpan pieces[] = {bytes};
  return connection.transport().send(pieces);
}

Bytes bytes_of(const FrameHeader& header, const Bytes& rest = {}) {
  const auto head = encode_frame_header(header);
  Bytes bytes(head.size() + rest.size());
  std::copy(head.begin(), head.end(), bytes.begin());
  std::copy(rest.begin(), rest.end(), bytes.begin() + kFrameHeaderBytes);
  return bytes;
}

TEST_CASE("the preamble travels in front of the first frame, once") {
  for_each_transport([](Connection& client, Connection& server) {
    Preamble preamble;
    preamble.key_id[0] = 9;
    client.put_preamble_before_first_frame(preamble);
    Open open;
    open.client = "test";
    REQUIRE(client.send_request(1, open).is_ok());
    REQUIRE(client.send_request(2, Ping{}).is_ok());
    Result<Preamble> received = server.receive_preamble();
    REQUIRE_MESSAGE(received.is_ok(), received.status().message());
    CHECK(received.value().key_id[0] == 9);
    Result<Frame> first = server.receive_frame();
    REQUIRE(first.is_ok());
    CHECK(first.value().header.tag == static_cast<std::uint16_t>(Tag::Open));
    CHECK(decode<Open>(first.value().body).value().client == "test");
    Result<Frame> ping = server.receive_frame();
    REQUIRE(ping.is_ok());
    CHECK(ping.value().header.request == 2);
    CHECK(ping.value().body.empty());
  });
}

TEST_CASE("requests and their answers keep their order, many in flight") {
  for_each_transport([](Connection& client, Connection& server) {
    constexpr std::uint64_t kCount = 2000;
    Background answers([&] {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        Result<Frame> frame = server.receive_frame();
        if (!frame.is_ok()) return;
        const std::uint64_t buffer = decode<Free>(frame.value().body).value().handle;
        if (!server.send_response(frame.value().header, CallReply{2 * buffer}).is_ok()) return;
      }
    });
    Background requests([&] {
      for (std::uint64_t i = 1; i <= kCount; ++i) {
        if (!client.send_request(i, Free{i}).is_ok()) return;
      }
    });
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      Result<Frame> frame = client.receive_frame();
      REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
      REQUIRE(frame.value().header.request == i);
      REQUIRE(decode<CallReply>(frame.value().body).value().elapsed_ns == 2 * i);
    }
  });
}

TEST_CASE("events come between responses and belong to no request") {
  for_each_transport([](Connection& client, Connection& server) {
    REQUIRE(client.send_request(1, Ping{}).is_ok());
    REQUIRE(client.send_request(2, Ping{}).is_ok());
    for (int i = 0; i < 2; ++i) {
      const FrameHeader request = server.receive_frame().value().header;
      REQUIRE(server.send_event(EventTag::log, LogEvent{request.request, "line"}).is_ok());
      REQUIRE(server.send_response(request, Empty{}).is_ok());
      REQUIRE(server.send_event(EventTag::progress, ProgressEvent{request.request, 1, 2}).is_ok());
    }
    std::string seen;
    for (int i = 0; i < 6; ++i) {
      Result<Frame> frame = client.receive_frame();
      REQUIRE(frame.is_ok());
      const FrameHeader& header = frame.value().header;
      if (header.kind == FrameKind::response) {
        seen += "r" + std::to_string(header.request);
      } else if (header.tag == static_cast<std::uint16_t>(EventTag::log)) {
        seen += "l" + std::to_string(decode<LogEvent>(frame.value().body).value().request);
      } else {
        seen += "p" + std::to_string(decode<ProgressEvent>(frame.value().body).value().request);
      }
    }
    CHECK(seen == "l1r1p1l2r2p2");
  });
}

TEST_CASE("a large payload is received into its place, whole or in parts") {
  for_each_transport([](Connection& client, Connection& server) {
    Bytes payload(32u << 20);
    for (std::size_t i = 0; i < payload.size(); i += 4096) payload[i] = static_cast<std::uint8_t>(i >> 12);
    Background sender([&] {
      for (std::uint64_t id = 1; id <= 2; ++id) (void)client.send_request(id, Write{7, 0}, payload).is_ok();
    });
    Bytes received(payload.size());
    Result<Frame> whole = server.receive_frame();
    REQUIRE(whole.is_ok());
    CHECK(whole.value().header.payload_bytes == payload.size());
    REQUIRE(server.receive_payload(received).is_ok());
    CHECK(received == payload);

    received.assign(received.size(), 0);
    REQUIRE(server.receive_frame().is_ok());
    for (std::size_t offset = 0; offset < received.size(); offset += 3u << 20) {
      const std::size_t count = std::min<std::size_t>(3u << 20, received.size() - offset);
      REQUIRE(server.receive_payload(MutableByteSpan(received).subspan(offset, count)).is_ok());
    }
    CHECK(server.payload_left() == 0);
    CHECK(received == payload);
  });
}

TEST_CASE("a payload that nobody wanted is drained before the next frame") {
  for_each_transport([](Connection& client, Connection& server) {
    const Bytes payload(200000, 0x5a);
    Background sender([&] {
      (void)client.send_request(1, Write{7, 0}, payload).is_ok();
      (void)client.send_request(2, Ping{}).is_ok();
      (void)client.send_request(3, Write{7, 0}, payload).is_ok();
      (void)client.send_request(4, Ping{}).is_ok();
    });
    REQUIRE(server.receive_frame().value().header.request == 1);
    CHECK(server.receive_frame().value().header.request == 2);
    REQUIRE(server.receive_frame().value().header.request == 3);
    Bytes part(5);
    REQUIRE(server.receive_payload(part).is_ok());
    REQUIRE(server.drain_payload().is_ok());
    CHECK(server.receive_frame().value().header.request == 4);
    CHECK(server.receive_payload(part).code() == ErrorCode::internal);
  });
}

TEST_CASE("a failure arrives with its code, its sentence and the request it depended on") {
  for_each_transport([](Connection& client, Connection& server) {
    REQUIRE(client.send_request(5, Free{3}).is_ok());
    const FrameHeader request = server.receive_frame().value().header;
    REQUIRE(server.send_failure(request, Status(ErrorCode::aborted, "depends on request 4, which failed"), 4).is_ok());
    REQUIRE(send_raw(server, failure_frame(request.tag, 6, Status(ErrorCode::kernel_crashed, "mm: SIGSEGV"))).is_ok());
    std::uint64_t failed_request = 0;
    Result<Frame> first = client.receive_frame();
    REQUIRE(first.is_ok());
    const Status aborted = failure_of(first.value(), &failed_request);
    CHECK(aborted.code() == ErrorCode::aborted);
    CHECK(aborted.message() == "depends on request 4, which failed");
    CHECK(failed_request == 4);
    Result<Frame> second = client.receive_frame();
    REQUIRE(second.is_ok());
    CHECK(second.value().header.request == 6);
    CHECK(failure_of(second.value()).code() == ErrorCode::kernel_crashed);
  });
}

TEST_CASE("a frame cut off at any length is reported, and an end between frames is told from it") {
  const Bytes body = encode(PutModule{1, Hash{}});
  FrameHeader header{FrameKind::request, 1, ErrorCode::ok, 1, static_cast<std::uint32_t>(body.size()), 3};
  Bytes frame = bytes_of(header, body);
  frame.insert(frame.end(), 3, 0xee);
  for (const TransportKind& kind : kAllTransports) {
    CAPTURE(kind.name);
    for (std::size_t length = 0; length < frame.size(); ++length) {
      CAPTURE(length);
      Ends ends(kind.connect());
      REQUIRE(send_raw(ends.client, ByteSpan(frame).first(length)).is_ok());
      ends.client.transport().close_send();
      Result<Frame> received = ends.server.receive_frame();
      const bool has_body = length >= kFrameHeaderBytes + body.size();
      CHECK(received.is_ok() == has_body);
      Bytes payload(3);
      const Status status = has_body ? ends.server.receive_payload(payload) : received.status();
      CHECK(status.code() == ErrorCode::unavailable);
      CHECK((status.message() == kPeerClosed) == (length == 0));
    }
  }
}

TEST_CASE("a length of 2^63 is a protocol error and takes no memory") {
  for_each_transport([](Connection& client, Connection& server) {
    FrameHeader header{FrameKind::request, 8, ErrorCode::ok, 1, 0, std::uint64_t{1} << 63};
    REQUIRE(send_raw(client, bytes_of(header)).is_ok());
    CHECK(server.receive_frame().status().code() == ErrorCode::protocol_error);
  });
  for_each_transport([](Connection& client, Connection& server) {
    FrameHeader header{FrameKind::request, 8, ErrorCode::ok, 1, 0xffffffffu, 0};
    REQUIRE(send_raw(client, bytes_of(header)).is_ok());
    CHECK(server.receive_frame().status().code() == ErrorCode::protocol_error);
  });
}

TEST_CASE("random bytes instead of frames are an error and nothing worse") {
  std::mt19937 random(3);
  for (const TransportKind& kind : kAllTransports) {
    CAPTURE(kind.name);
    for (int round = 0; round < 100; ++round) {
      Ends ends(kind.connect());
      Bytes bytes(random() % 300);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
      // Half of the rounds have a valid magic and kind.
      if (round % 2 == 0 && bytes.size() > 4) {
        const FrameHeader header{FrameKind::response, 3};
        std::memcpy(bytes.data(), encode_frame_header(header).data(), 4);
      }
      REQUIRE(send_raw(ends.client, bytes).is_ok());
      ends.client.transport().close_send();
      Status status;
      while (status.is_ok()) status = ends.server.receive_frame().status();
      const bool expected = status.code() == ErrorCode::protocol_error || status.code() == ErrorCode::unavailable;
      CHECK_MESSAGE(expected, error_name(status.code()));
    }
  }
}

TEST_CASE("a body over the limit is refused before anything is sent") {
  for_each_transport([](Connection& client, Connection& server) {
    CHECK(client.send_frame({}, Bytes(kMaxBodyBytes + 1)).code() == ErrorCode::internal);
    REQUIRE(client.send_request(1, Ping{}).is_ok());
    CHECK(server.receive_frame().value().header.request == 1);
  });
}

}  // namespace
}  // namespace ferry::rpc
