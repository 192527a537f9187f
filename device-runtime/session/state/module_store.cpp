#include "device-runtime/session/state/module_store.h"

#include <unistd.h>

#include <cerrno>

#include "device-runtime/session/state/limits.h"

namespace ferry::device {
namespace {

bool read_all(int descriptor, std::vector<std::uint8_t>& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = read(descriptor, into.data() + done, into.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> ModuleStore::find(const Hash& hash) const {
  std::uint64_t size = 0;
  const Descriptor file = broker_.find(Cache::modules, hash, size);
  if (file.number() < 0 || size > kMaxModuleBytes) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  // A file that was damaged on the disk is replaced by the next upload.
  if (!read_all(file.number(), bytes) || blake2b(bytes) != hash) return std::nullopt;
  return bytes;
}

Status ModuleStore::put(const Hash& hash, std::span<const std::uint8_t> bytes) const {
  if (bytes.size() > broker_.largest(Cache::modules)) return {};
  FERRY_ASSIGN(NewFile file, broker_.store(Cache::modules, hash, bytes.size()));
  FERRY_TRY(file.add(bytes));
  return file.finish(hash).status();
}

}  // namespace ferry::device
