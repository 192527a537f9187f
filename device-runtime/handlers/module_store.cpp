#include "device-runtime/handlers/module_store.h"

#include <unistd.h>

#include <cerrno>

#include "device-runtime/handlers/limits.h"

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
  const Descriptor file = files_.open_file(hash, size);
  if (file.number() < 0 || size > kMaxModuleBytes) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  if (!read_all(file.number(), bytes)) return std::nullopt;
  if (blake2b(bytes) == hash) return bytes;
  // Damaged on disk: deleted, so that the next upload can replace it.
  unlink(files_.path_of(hash).c_str());
  return std::nullopt;
}

Status ModuleStore::put(const Hash& hash, std::span<const std::uint8_t> bytes) const {
  if (files_.folder().empty() || bytes.size() > files_.max_bytes()) return {};
  if (access(files_.path_of(hash).c_str(), F_OK) == 0) return {};
  files_.make_room(bytes.size());
  FERRY_ASSIGN(NewCacheFile file, NewCacheFile::create(files_));
  FERRY_TRY(file.add(bytes));
  FERRY_ASSIGN(const Descriptor reader, file.publish(hash, 0600));
  return {};
}

}  // namespace ferry::device
