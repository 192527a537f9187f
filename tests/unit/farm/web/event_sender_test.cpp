#include "farm/web/event_sender.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/support/farm/scripted_farm.h"

using namespace ferry::farm::http;
using ferry::Descriptor;

namespace {

// A stream on a loop of this thread, and its client.
struct Stream {
  explicit Stream(std::chrono::milliseconds limit = std::chrono::hours(1), const std::string& head = "head\n") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    client = Descriptor(ends[1]);
    const auto events = std::make_shared<EventStream>(EventStream{[this] { return is_allowed.load(); }, nullptr});
    sender = std::make_shared<EventSender>(loop, farm, workers, std::make_unique<Connection>(loop, Descriptor(ends[0])),
                                           events, limit);
    sender->start(head, [this] { sender.reset(); });
  }

  // What arrives until the text does, or until the stream has ended.
  std::string read_until(const std::string& end) {
    std::string all;
    while (all.find(end) == std::string::npos) {
      char piece[4096];
      const ssize_t count = ::recv(client.number(), piece, sizeof piece, 0);
      if (count > 0) all.append(piece, static_cast<std::size_t>(count));
      if (count > 0) continue;
      if (sender == nullptr) break;
      loop.context().run_one();
    }
    return all;
  }

  ferry::server::EventLoop loop;
  ferry::test::ScriptedFarm farm;
  std::atomic<bool> is_allowed{true};
  Workers workers{1, 1};
  Descriptor client;
  std::shared_ptr<EventSender> sender;
};

}  // namespace

TEST_CASE("a stream tells of changes, and ends after its last event once its client may not listen any more") {
  Stream stream;
  CHECK(stream.read_until("event: change\n").starts_with("head\nretry: "));
  stream.farm.touch();
  stream.sender->send_due();
  const std::string count = std::to_string(stream.farm.change_count());
  CHECK(stream.read_until(count + "\n\n").ends_with("event: change\ndata: " + count + "\n\n"));
  stream.is_allowed = false;
  CHECK(stream.read_until("never").ends_with("event: end\ndata: \n\n"));
  CHECK(stream.sender == nullptr);
}

TEST_CASE("a stream ends when its client leaves, sends too much or does not take it") {
  Stream gone;
  gone.client = Descriptor();
  gone.read_until("never");
  CHECK(gone.sender == nullptr);

  Stream talker;
  const std::string piece(10'000, 'x');
  std::size_t sent = 0;
  while (talker.sender != nullptr) {
    const ssize_t count = ::send(talker.client.number(), piece.data(), piece.size(), MSG_NOSIGNAL);
    sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    talker.loop.context().poll();
  }
  CHECK(sent >= Connection::kMostDropped);

  Stream slow(std::chrono::milliseconds(20), std::string(8 << 20, 'x'));
  while (slow.sender != nullptr) slow.loop.context().run_one();
}

TEST_CASE("a stream whose client's rights cannot be asked for ends") {
  Stream stream;
  stream.workers.stop();
  stream.read_until("never");
  CHECK(stream.sender == nullptr);
}
