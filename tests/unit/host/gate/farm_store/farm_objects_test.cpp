// What becomes of objects when a farm is busy, is replaced, or answers what it must not.
#include "host/gate/farm_store/farm_objects.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>

#include "host/gate/farm_store/farm_store.h"
#include "tests/support/farm_client/scripted_tracker.h"

namespace ferry::test {
namespace {

namespace wire = farm::wire;
using gate::FarmObjects;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;
using Message = ScriptedTracker::Message;
using Peer = ScriptedTracker::Peer;

constexpr gate::Patience kImpatient{std::chrono::milliseconds(350), std::chrono::milliseconds(350)};

// A farm whose tracker does what the script says.
struct ScriptedFarm {
  explicit ScriptedFarm(ScriptedTracker::Script script)
      : tracker(key, std::move(script)), objects(access_to({tracker.address()}, key), kImpatient) {}

  secure::Key key = secure::make_key();
  ScriptedTracker tracker;
  FarmObjects objects;
};

Status failure_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

bool mentions(const Status& status, const std::string& text) {
  return status.message().find(text) != std::string::npos;
}

std::uint64_t peak_megabytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && file >> kilobytes) return kilobytes >> 10;
  }
  FAIL("expected VmHWM in /proc/self/status");
  return 0;
}

const Hash kObject = blake2b({});

TEST_CASE("a farm that is busy is asked again after a pause, but not for ever") {
  std::atomic<int> refusals = 2;
  ScriptedFarm farm([&](Peer& peer, const Message& message) {
    if (refusals-- > 0) return peer.refuse(message.header, {ErrorCode::busy, "try again later"});
    peer.answer(message.header, wire::ObjectsFound{{1}});
  });
  const auto begin = Clock::now();
  CHECK(farm.objects.has({&kObject, 1}) == std::vector<bool>{true});
  CHECK(Clock::now() - begin >= std::chrono::milliseconds(300));  // 100 and 200
  CHECK(farm.tracker.messages().size() == 3);
  CHECK(farm.tracker.connections() == 1);
  refusals = 1000;
  const Status busy = failure_of([&] { farm.objects.has({&kObject, 1}); });
  CHECK(busy.code() == ErrorCode::busy);
  CHECK(mentions(busy, "the farm "));
  CHECK(mentions(busy, "try again later"));
  CHECK(farm.tracker.messages().size() == 6);
}

TEST_CASE("an object is sent again from its first piece when the tracker that took it is gone") {
  std::atomic<int> closed = 0;
  ScriptedFarm farm([&](Peer& peer, const Message& message) {
    const auto put = message.as<wire::PutObject>();
    if (put.offset == 2 * wire::kMaxPieceSent && closed < 2) {
      // Its own connection is gone, or it has lost what came before.
      if (closed++ == 0) return peer.close();
      return peer.refuse(message.header, {ErrorCode::aborted, "send the object again"});
    }
    peer.answer(message.header, wire::ObjectTaken{put.offset + put.piece.size() == put.bytes});
  });
  Bytes bytes(4 * wire::kMaxPieceSent + 5);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i / 7);
  farm.objects.put(blake2b(bytes), bytes.size(), [&](std::uint64_t offset, std::span<std::uint8_t> into) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
  });
  CHECK(closed == 2);
  CHECK(farm.tracker.connections() == 3);
  Bytes last;
  for (const Message& message : farm.tracker.messages()) {
    const auto put = message.as<wire::PutObject>();
    if (message.connection == 2) last.insert(last.end(), put.piece.begin(), put.piece.end());
  }
  CHECK(last == bytes);
}

TEST_CASE("what a farm refuses for good is asked once") {
  for (const auto& [code, text] : {std::pair{ErrorCode::unsupported, "use a folder instead, with --store FOLDER"},
                                   {ErrorCode::resource_exhausted, "the reason"},
                                   {ErrorCode::unauthenticated, "the reason"}}) {
    const ErrorCode refusal = code;
    ScriptedFarm farm(
        [refusal](Peer& peer, const Message& message) { peer.refuse(message.header, {refusal, "the reason"}); });
    const Status refused = failure_of([&] { farm.objects.get(kObject); });
    CHECK(mentions(refused, text));
    CHECK(farm.tracker.messages().size() == 1);
  }
}

TEST_CASE("answers that are not about what was asked are refused") {
  ScriptedFarm farm([](Peer& peer, const Message& message) {
    if (message.is<wire::FindObjects>()) return peer.answer(message.header, wire::ObjectsFound{{1, 1}});
    if (message.is<wire::PutObject>()) return peer.answer(message.header, wire::ObjectTaken{true});
    const auto get = message.as<wire::GetObject>();
    peer.answer(message.header, wire::ObjectPiece{300'000, Bytes(get.offset == 0 ? wire::kMaxPieceReceived : 5)});
  });
  CHECK(mentions(failure_of([&] { farm.objects.has({&kObject, 1}); }), "expected an answer about 1 objects, got 2"));
  CHECK(mentions(failure_of([&] { farm.objects.put(kObject, 100'000, [](auto, auto) {}); }), "with its last piece"));
  CHECK(mentions(failure_of([&] { farm.objects.get(kObject); }), "expected the next piece of the object"));
  Bytes into(10);
  CHECK(mentions(failure_of([&] { farm.objects.read(kObject, 262'140, into); }), "expected the next piece"));
}

TEST_CASE("the size that a farm states takes no memory before the contents arrive") {
  std::atomic<std::uint64_t> stated = std::uint64_t{1} << 30;
  ScriptedFarm farm([&](Peer& peer, const Message& message) {
    if (message.as<wire::GetObject>().offset > 5 * wire::kMaxPieceReceived)
      return peer.refuse(message.header, {ErrorCode::device_error, "it is damaged"});
    peer.answer(message.header, wire::ObjectPiece{stated, Bytes(wire::kMaxPieceReceived)});
  });
  const std::uint64_t before = peak_megabytes();
  CHECK(mentions(failure_of([&] { farm.objects.get(kObject); }), "it is damaged"));
  CHECK(peak_megabytes() - before < 100);
  stated += 1;
  const Status refused = failure_of([&] { farm.objects.get(kObject); });
  CHECK(mentions(refused, "expected a module of at most "));
  stated = 0;
  CHECK(mentions(failure_of([&] { farm.objects.get(kObject); }), "expected the next piece of the object"));
}

TEST_CASE("a list without an end is an error, and no list that looks complete") {
  const secure::Key key = secure::make_key();
  ScriptedTracker tracker(key, [](Peer& peer, const Message& message) {
    if (message.is<wire::ListVerdicts>())
      return peer.answer(message.header, wire::VerdictPage{{{message.as<wire::ListVerdicts>().before + 1, {}}}, true});
    wire::BaselinePage page{
        {{"case " + std::to_string(message.as<wire::ListBaseline>().after), "x86_64", kObject, kObject, {}, "", 1}},
        true};
    peer.answer(message.header, page);
  });
  const auto store = gate::open_farm_store(access_to({tracker.address()}, key));
  CHECK(mentions(failure_of([&] { store->baseline("kernels", "main"); }),
                 "expected at most 4096 pages of a list, got more"));
  CHECK(
      mentions(failure_of([&] { store->history("kernels", ""); }), "expected at most 4096 pages of a list, got more"));
}

}  // namespace
}  // namespace ferry::test
