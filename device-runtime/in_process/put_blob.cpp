#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/hash_stream.h"
#include "device-runtime/in_process/in_process_session.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;

Status failed(const char* what) {
  return {ErrorCode::resource_exhausted, format("cannot keep a blob in memory: %s: %s", what, std::strerror(errno))};
}

Status write_all(const Descriptor& file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Status InProcessSession::put_blob(const Hash& hash, std::uint64_t bytes, const ReadPiece& read) {
  // In a file without a name: modules map the blobs that they read.
  const Descriptor file(memfd_create("ferry-blob", MFD_CLOEXEC));
  if (file.number() < 0) return failed("memfd_create");
  HashStream contents;
  std::vector<std::uint8_t> piece;
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min(kPieceBytes, bytes - done)));
    read(done, piece);
    contents.add(piece);
    FERRY_TRY(write_all(file, piece));
  }
  if (contents.finish() != hash)
    return {ErrorCode::invalid_argument, "the contents of blob " + to_hex(hash) + " have another hash"};
  FERRY_ASSIGN(auto blob, MappedBlob::map(file, 0, bytes, state_.budget));
  state_.blobs.provide(hash, std::move(blob));
  return {};
}

}  // namespace ferry::device
