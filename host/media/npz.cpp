#include "host/media/npz.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/media/checksum.h"
#include "host/media/stb_image.h"

namespace ferry::media {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kMaxComment = 65535, kMaxEntries = 4096;
constexpr std::size_t kLookahead = 8;
constexpr std::uint64_t kMaxBytes = std::numeric_limits<int>::max() - kLookahead;

std::uint32_t field(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

struct Entry {
  std::uint32_t method = 0, checksum = 0, packed = 0, bytes = 0, offset = 0;
};

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw UsageError(name + ": expected an archive of NumPy's, " + what);
}

std::map<std::string, Entry> entries_of(Bytes file, const std::string& name) {
  if (file.size() < kEndBytes) refuse(name, "got the file's end");
  std::size_t end = file.size() - kEndBytes;
  const std::size_t least = end > kMaxComment ? end - kMaxComment : 0;
  while (field(file, end, 4) != kEnd) {
    if (end == least) refuse(name, "got no end of its directory");
    --end;
  }
  const std::uint32_t count = field(file, end + 10, 2);
  std::size_t at = field(file, end + 16, 4);
  if (count > kMaxEntries) refuse(name, "with at most 4096 arrays, got " + std::to_string(count));
  std::map<std::string, Entry> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (at > file.size() || file.size() - at < kCentralBytes || field(file, at, 4) != kCentral)
      refuse(name, "got a damaged directory");
    const std::size_t length = field(file, at + 28, 2), rest = field(file, at + 30, 2) + field(file, at + 32, 2);
    if (file.size() - at - kCentralBytes < length) refuse(name, "got a damaged directory");
    const std::string entry(reinterpret_cast<const char*>(file.data()) + at + kCentralBytes, length);
    entries[entry] = {field(file, at + 10, 2), field(file, at + 16, 4), field(file, at + 20, 4),
                      field(file, at + 24, 4), field(file, at + 42, 4)};
    at += kCentralBytes + length + rest;
  }
  return entries;
}

std::vector<std::uint8_t> contents_of(Bytes file, const Entry& entry, const std::string& what) {
  constexpr std::uint32_t kStored = 0, kDeflated = 8;
  if (file.size() < kLocalBytes || entry.offset > file.size() - kLocalBytes || field(file, entry.offset, 4) != kLocal)
    refuse(what, "got one without contents");
  const std::size_t begin =
      entry.offset + kLocalBytes + field(file, entry.offset + 26, 2) + field(file, entry.offset + 28, 2);
  if (begin > file.size() || file.size() - begin < entry.packed || entry.packed > kMaxBytes || entry.bytes > kMaxBytes)
    refuse(what, "got one that is cut off, or larger than 2 GiB");
  const Bytes packed = file.subspan(begin, entry.packed);
  // DEFLATE makes at most 1,032 bytes of one.
  constexpr std::uint64_t kMostRatio = 1032;
  if (entry.method == kDeflated && entry.bytes > packed.size() * kMostRatio + kMostRatio)
    refuse(what, "got one that is damaged");
  std::vector<std::uint8_t> contents;
  if (entry.method == kStored && entry.packed == entry.bytes) contents.assign(packed.begin(), packed.end());
  if (entry.method == kDeflated) {
    contents.resize(entry.bytes);
    // The decoder looks ahead, and takes the end of its input for that of a truncated one.
    std::vector<char> padded(packed.begin(), packed.end());
    padded.resize(padded.size() + kLookahead);
    const int made =
        stbi_zlib_decode_noheader_buffer(reinterpret_cast<char*>(contents.data()), static_cast<int>(contents.size()),
                                         padded.data(), static_cast<int>(padded.size()));
    if (made < 0 || static_cast<std::size_t>(made) != contents.size()) refuse(what, "got one that is damaged");
  }
  if (contents.size() != entry.bytes || checksum_of(contents) != entry.checksum)
    refuse(what, "got one that is damaged, or packed in another way");
  return contents;
}

}  // namespace

bool is_npz(std::span<const std::uint8_t> file) { return file.size() >= 4 && field(file, 0, 4) == kLocal; }

std::vector<std::uint8_t> read_npz(std::span<const std::uint8_t> file, const std::string& name,
                                   const std::string& entry) {
  const std::map<std::string, Entry> entries = entries_of(file, name);
  auto found = entries.find(entry + ".npy");
  if (found == entries.end() && entries.size() == 1) found = entries.begin();
  if (found == entries.end()) {
    std::vector<std::string> names;
    for (const auto& [one, place] : entries) names.push_back(printable(one.substr(0, one.rfind(".npy"))));
    throw UsageError(name + ": expected an array '" + entry + "' in it, got: " + join(", ", names));
  }
  return contents_of(file, found->second, name + ", " + printable(found->first));
}

}  // namespace ferry::media
