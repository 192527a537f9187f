// Tests the queue of clients that wait for a place: their order, and what each is told.
#include "rpc/server/admission_queue.h"

#include <doctest/doctest.h>

#include <chrono>

#include "rpc/transport/socket.h"
#include "rpc/wire/connection.h"
#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

// A client that waits in the queue, and its own end of the connection.
struct Client {
  explicit Client(server::AdmissionQueue& queue, const std::string& name) {
    SocketPair pair;
    server::WaitingClient waiting;
    waiting.client.socket = std::move(pair.server);
    waiting.client.header.tag = static_cast<std::uint16_t>(rpc::Tag::Open);
    waiting.open.client = name;
    queue.add(std::move(waiting));
    connection = pair.connect();
  }
  rpc::WaitingEvent next() const {
    const auto frame = connection->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    REQUIRE(frame.value().header.kind == rpc::FrameKind::event);
    CHECK(frame.value().header.tag == static_cast<std::uint16_t>(rpc::EventTag::waiting));
    return rpc::decode<rpc::WaitingEvent>(frame.value().body).value();
  }

  std::unique_ptr<rpc::Connection> connection;
};

TEST_CASE("each client is told its position and the holder, and again only when one of them changes") {
  server::AdmissionQueue queue;
  const Client first(queue, "first"), second(queue, "second");
  queue.notify(1, "the holder", 20);
  queue.notify(1, "the holder", 30);
  queue.notify(2, "the next holder", 5);
  for (const Client* client : {&first, &second}) {
    rpc::WaitingEvent event = client->next();
    CHECK(event.position == (client == &first ? 1 : 2));
    CHECK(event.holder == "the holder");
    CHECK(event.holder_ms == 20);
    event = client->next();
    CHECK(event.holder == "the next holder");
    CHECK(event.holder_ms == 5);
  }
}

TEST_CASE("clients leave the queue in order of arrival, and those behind move up") {
  server::AdmissionQueue queue;
  const Client first(queue, "first"), second(queue, "second"), third(queue, "third");
  queue.notify(1, "the holder", 0);
  CHECK(third.next().position == 3);
  CHECK(queue.take().open.client == "first");
  queue.notify(1, "the holder", 0);
  CHECK(third.next().position == 2);
  CHECK(queue.size() == 2);
}

TEST_CASE("a client that is gone leaves its place to those behind it") {
  server::AdmissionQueue queue;
  Client first(queue, "first");
  const Client second(queue, "second");
  queue.notify(1, "the holder", 0);
  CHECK(second.next().position == 2);
  first.connection.reset();
  queue.drop_gone();
  CHECK(queue.size() == 1);
  queue.notify(1, "the holder", 0);
  CHECK(second.next().position == 1);
}

TEST_CASE("a client that reads nothing is dropped once it cannot be told any more") {
  server::AdmissionQueue queue;
  const Client deaf(queue, "deaf");
  for (std::uint64_t holder = 1; holder < 100'000 && !queue.is_empty(); ++holder) {
    queue.notify(holder, std::string(200, 'h'), 0);
  }
  CHECK(queue.is_empty());
}

}  // namespace
}  // namespace ferry::test
