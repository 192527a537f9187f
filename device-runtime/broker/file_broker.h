// A session's access to files, all of which its supervisor opens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "device-runtime/broker/messages.h"
#include "ferry/hash.h"

namespace ferry::device {

// A file that is being added to a cache. The supervisor's side writes it: a session that could write to the file itself
// could still change it under the name of its hash. Without all of its bytes nothing is stored.
class NewFile {
 public:
  // `what` is it, and where it goes, for messages.
  NewFile(Descriptor stream, std::string what) : stream_(std::move(stream)), what_(std::move(what)) {}

  // All failures are resource_exhausted.
  Status add(std::span<const std::uint8_t> bytes);
  // After all bytes. Returns a descriptor for reading the file if it is a blob. Fails with invalid_argument if the
  // contents do not have the hash that was announced.
  Result<Descriptor> finish(const Hash& hash);

 private:
  Status failed() const;

  Descriptor stream_;
  std::string what_;
};

class FileBroker {
 public:
  // Without files.
  FileBroker() = default;
  // Takes the session's end of the socket.
  FileBroker(Descriptor socket, const CacheLimits& largest) : socket_(std::move(socket)), largest_(largest) {}

  // Opens a file for reading, which counts as its use. Returns no descriptor if there is none. The caller checks the
  // contents.
  Descriptor find(Cache cache, const Hash& hash, std::uint64_t& bytes) const;
  // Size of the largest file that a cache takes; 0: this server keeps none.
  std::uint64_t largest(Cache cache) const { return cache == Cache::modules ? largest_.modules : largest_.blobs; }
  // Begins to add a file of so many bytes. All failures are resource_exhausted.
  Result<NewFile> store(Cache cache, const Hash& hash, std::uint64_t bytes) const;

  // Returns what each of these files of /proc and /sys holds, and "/dev/vcio", the firmware of a Raspberry Pi; empty
  // for one that does not exist or must not be read. "{core}" stands for the number of the current core.
  std::vector<std::string> texts(std::span<const std::string> paths) const;

 private:
  bool ask(std::span<const std::uint8_t> request, BrokerReply& reply, std::vector<Descriptor>& descriptors) const;
  std::string describe(Cache cache) const;
  void read_texts(std::span<const std::string> paths, std::span<std::string> into) const;

  Descriptor socket_;
  CacheLimits largest_;
};

}  // namespace ferry::device
