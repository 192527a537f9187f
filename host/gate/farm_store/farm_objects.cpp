#include "host/gate/farm_store/farm_objects.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

namespace {

namespace wire = farm::wire;

// The most that is read into memory: a module without its blobs is far smaller.
constexpr std::uint64_t kMaxModule = std::uint64_t{1} << 30;

constexpr std::uint64_t kReadAtOnce = std::uint64_t{16} << 20;

[[noreturn]] void fail(const std::string& farm, const Status& why) {
  const std::string message = "the farm " + farm + ": " + why.message();
  switch (why.code()) {
    case ErrorCode::busy:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::unauthenticated: throw Error(why.code(), message);
    case ErrorCode::unsupported: throw StoreFailed(message + "; use a folder instead, with --store FOLDER");
    default: throw StoreFailed(message);
  }
}

Status wrong_piece(const Hash& object) {
  return {ErrorCode::protocol_error, "expected the next piece of the object " + to_hex(object) + ", got another one"};
}

}  // namespace

void FarmObjects::ask(const std::function<Status(farm::FarmClient&)>& work) {
  const std::lock_guard lock(mutex_);
  // The work itself may take minutes, as an upload does, before it fails.
  std::chrono::milliseconds paused{0};
  for (auto pause = std::chrono::milliseconds(100);; pause *= 2) {
    const Status status = work(client_);
    if (status.is_ok()) return;
    const auto most = status.code() == ErrorCode::busy ? patience_.busy
                      : status.code() == ErrorCode::unavailable || status.code() == ErrorCode::aborted
                          ? patience_.away
                          : std::chrono::milliseconds(0);
    paused += pause;
    if (paused > most) fail(client_.farm().name, status);
    std::this_thread::sleep_for(pause);
  }
}

std::string FarmObjects::holder() {
  const std::lock_guard lock(mutex_);
  return client_.holder();
}

std::vector<bool> FarmObjects::has(std::span<const Hash> objects) {
  std::vector<bool> found;
  for (std::size_t begin = 0; begin < objects.size(); begin += wire::kMaxObjectsAsked) {
    const auto some = objects.subspan(begin, std::min(wire::kMaxObjectsAsked, objects.size() - begin));
    ask([&](farm::FarmClient& client) -> Status {
      FERRY_ASSIGN(const wire::ObjectsFound answer, client.ask(wire::FindObjects{{some.begin(), some.end()}}));
      if (answer.is_stored.size() != some.size()) {
        return {ErrorCode::protocol_error,
                format("expected an answer about %zu objects, got %zu", some.size(), answer.is_stored.size())};
      }
      for (const std::uint8_t one : answer.is_stored) found.push_back(one != 0);
      return {};
    });
  }
  return found;
}

void FarmObjects::put(const Hash& object, std::uint64_t bytes, const Read& read) {
  const std::uint64_t pieces = std::max<std::uint64_t>(1, (bytes + wire::kMaxPieceSent - 1) / wire::kMaxPieceSent);
  ask([&](farm::FarmClient& client) {
    return client.ask_each<wire::PutObject>(
        pieces,
        [&](std::size_t i) {
          wire::PutObject message{object, bytes, std::uint64_t{i} * wire::kMaxPieceSent, {}};
          message.piece.resize(std::min<std::uint64_t>(wire::kMaxPieceSent, bytes - message.offset));
          if (!message.piece.empty()) read(message.offset, message.piece);
          return message;
        },
        [&](std::size_t i, const wire::ObjectTaken& taken) -> Status {
          if (taken.is_stored == (i + 1 == pieces)) return {};
          return {ErrorCode::protocol_error,
                  "expected the farm to have the object " + to_hex(object) + " with its last piece, and not before"};
        });
  });
}

std::optional<std::vector<std::uint8_t>> FarmObjects::get(const Hash& object) {
  std::optional<std::vector<std::uint8_t>> contents;
  ask([&](farm::FarmClient& client) -> Status {
    const auto first = client.ask(wire::GetObject{object, 0});
    if (first.status().code() == ErrorCode::not_found) return {};
    FERRY_TRY(first.status());
    const std::uint64_t bytes = first.value().bytes;
    if (bytes > kMaxModule) {
      return {ErrorCode::resource_exhausted, format("expected a module of at most %s, got one of %s",
                                                    bytes_text(kMaxModule).c_str(), bytes_text(bytes).c_str())};
    }
    const std::size_t read = first.value().piece.size();
    if (read > bytes || (read == 0 && bytes > 0)) return wrong_piece(object);
    contents.emplace(first.value().piece);
    // Memory is taken as contents arrive, whatever size the farm says.
    while (contents->size() < bytes) {
      const std::size_t begin = contents->size();
      contents->resize(std::min<std::uint64_t>(bytes, begin + kReadAtOnce));
      FERRY_TRY(read_pieces(client, object, begin, std::span(*contents).subspan(begin)));
    }
    return {};
  });
  return contents;
}

void FarmObjects::read(const Hash& object, std::uint64_t offset, std::span<std::uint8_t> into) {
  ask([&](farm::FarmClient& client) { return read_pieces(client, object, offset, into); });
}

Status FarmObjects::read_pieces(farm::FarmClient& client, const Hash& object, std::uint64_t offset,
                                std::span<std::uint8_t> into) {
  // Answers end where the farm's pieces end.
  constexpr std::uint64_t kPiece = wire::kMaxPieceReceived;
  if (into.empty()) return {};
  const std::uint64_t first = offset / kPiece, last = (offset + into.size() - 1) / kPiece;
  return client.ask_each<wire::GetObject>(
      last - first + 1, [&](std::size_t i) { return wire::GetObject{object, std::max(offset, (first + i) * kPiece)}; },
      [&](std::size_t i, const wire::ObjectPiece& answer) -> Status {
        const std::uint64_t begin = std::max(offset, (first + i) * kPiece);
        const std::uint64_t end = std::min(offset + into.size(), (first + i + 1) * kPiece);
        if (answer.piece.size() < end - begin) return wrong_piece(object);
        std::copy_n(answer.piece.begin(), end - begin, into.begin() + static_cast<std::ptrdiff_t>(begin - offset));
        return {};
      });
}

}  // namespace ferry::gate
