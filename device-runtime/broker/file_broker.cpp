#include "device-runtime/broker/file_broker.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"
#include "device-runtime/facts/watched_files.h"

namespace ferry::device {

Status NewFile::failed() const {
  return {ErrorCode::resource_exhausted, format("cannot keep the %s: %s", what_.c_str(), std::strerror(errno))};
}

Status NewFile::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = send(stream_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      // The writer has given up and says why.
      BrokerReply reply;
      std::vector<Descriptor> none;
      const bool knows = receive_message(stream_.number(), writable_bytes_of(reply), none) && reply.error != 0;
      errno = knows ? reply.error : ENOSPC;
      return failed();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<Descriptor> NewFile::finish(const Hash& hash) {
  BrokerReply reply;
  std::vector<Descriptor> descriptors;
  if (!receive_message(stream_.number(), writable_bytes_of(reply), descriptors)) reply.error = EPIPE;
  if (reply.error == EBADMSG) {
    return Status(ErrorCode::invalid_argument,
                  format("expected a %s of hash %s, got one of hash %s", what_.substr(0, what_.find(' ')).c_str(),
                         to_hex(hash).c_str(), to_hex(reply.actual).c_str()));
  }
  errno = reply.error;
  if (reply.error != 0) return failed();
  return descriptors.empty() ? Descriptor() : std::move(descriptors.front());
}

bool FileBroker::ask(std::span<const std::uint8_t> request, BrokerReply& reply,
                     std::vector<Descriptor>& descriptors) const {
  return socket_.number() >= 0 && send_message(socket_.number(), request) &&
         receive_message(socket_.number(), writable_bytes_of(reply), descriptors);
}

Descriptor FileBroker::find(Cache cache, const Hash& hash, std::uint64_t& bytes) const {
  bytes = 0;
  BrokerReply reply;
  std::vector<Descriptor> descriptors;
  const BrokerRequest request{BrokerTask::find, cache, 0, hash};
  if (!ask(bytes_of(request), reply, descriptors) || reply.error != 0 || descriptors.empty()) return Descriptor();
  bytes = reply.value;
  return std::move(descriptors.front());
}

std::string FileBroker::describe(Cache cache) const {
  return (cache == Cache::modules ? "module in " : "blob in ") + largest_.folder;
}

Result<NewFile> FileBroker::store(Cache cache, const Hash& hash, std::uint64_t bytes) const {
  BrokerReply reply;
  std::vector<Descriptor> descriptors;
  const BrokerRequest request{BrokerTask::store, cache, bytes, hash};
  // A session may store files faster than those who write them end.
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries && (i == 0 || reply.error == EBUSY); ++i) {
    if (!ask(bytes_of(request), reply, descriptors)) reply.error = EPIPE;
    if (reply.error == EBUSY) poll(nullptr, 0, 1);
  }
  if (reply.error != 0 || descriptors.empty()) {
    return Status(ErrorCode::resource_exhausted,
                  format("cannot keep the %s: %s", describe(cache).c_str(), std::strerror(reply.error)));
  }
  return NewFile(std::move(descriptors.front()), describe(cache));
}

std::vector<std::string> FileBroker::texts(std::span<const std::string> paths) const {
  std::vector<std::string> texts(paths.size());
  std::size_t first = 0, names = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t size = paths[i].size() + 16;  // with the number of a core
    if (i - first == kMaxTexts || names + size > kMaxTextNames) {
      read_texts(paths.subspan(first, i - first), std::span(texts).subspan(first, i - first));
      first = i;
      names = 0;
    }
    names += size;
  }
  read_texts(paths.subspan(first), std::span(texts).subspan(first));
  return texts;
}

void FileBroker::read_texts(std::span<const std::string> paths, std::span<std::string> into) const {
  if (paths.empty()) return;
  const BrokerRequest request{BrokerTask::texts, Cache::modules, paths.size(), {}};
  const std::span<const std::uint8_t> head = bytes_of(request);
  std::vector<std::uint8_t> message(head.begin(), head.end());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string path = paths[i].c_str();  // without what follows a zero
    if (path == kFirmwareMailbox) {
      BrokerReply reply;
      std::vector<Descriptor> none;
      const BrokerRequest throttled{BrokerTask::throttled, Cache::modules, 0, {}};
      if (ask(bytes_of(throttled), reply, none) && reply.error == 0) {
        into[i] = format("%llx", static_cast<unsigned long long>(reply.value));
      }
      path.clear();
    }
    put_core(path);
    message.insert(message.end(), path.c_str(), path.c_str() + path.size() + 1);
  }
  BrokerReply reply;
  std::vector<Descriptor> files;
  if (message.size() > head.size() + kMaxTextNames || !ask(message, reply, files) || reply.error != 0) return;
  auto file = files.begin();
  for (std::size_t i = 0; i < paths.size() && file != files.end(); ++i) {
    if ((reply.value >> i & 1) != 0) into[i] = read_small_file(file++->number());
  }
}

}  // namespace ferry::device
