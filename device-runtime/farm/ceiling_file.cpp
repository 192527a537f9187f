#include "device-runtime/farm/ceiling_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "ferry/hash.h"

namespace ferry::device {
namespace {

constexpr const char* kName = "/epoch-ceiling";
constexpr std::string_view kPrefix = "ferry-epoch-ceiling-1:";
constexpr std::size_t kMaxBytes = 128;

// The check finds a digit that the disk has changed.
std::string text_of(lease::Epoch ceiling) {
  const std::string number = std::string(kPrefix) + format("%llu", static_cast<unsigned long long>(ceiling));
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(number.data()), number.size());
  return number + " " + to_hex(blake2b(bytes)).substr(0, 16) + "\n";
}

std::optional<lease::Epoch> parse(const std::string& text) {
  if (text.compare(0, kPrefix.size(), kPrefix) != 0) return std::nullopt;
  lease::Epoch ceiling = 0;
  for (std::size_t i = kPrefix.size(); i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    ceiling = ceiling * 10 + static_cast<lease::Epoch>(text[i] - '0');
  if (text != text_of(ceiling)) return std::nullopt;
  return ceiling;
}

Status failed(const char* what, const std::string& path) {
  return {ErrorCode::unavailable, format("cannot %s %s: %s", what, path.c_str(), std::strerror(errno))};
}

}  // namespace

Result<CeilingFile> CeilingFile::open(const std::string& folder) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0) return failed("open", folder);
  if (flock(opened.number(), LOCK_EX | LOCK_NB) != 0) {
    return Status(ErrorCode::unavailable, "--workdir: another rpc_server of a farm uses " + folder);
  }
  CeilingFile file(folder + kName, std::move(opened));
  FERRY_TRY(file.read());
  return file;
}

Status CeilingFile::read() {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) return errno == ENOENT ? Status() : failed("read", path_);
  std::string text(kMaxBytes, 0);
  const ssize_t count = ::read(file.number(), text.data(), text.size());
  if (count < 0) return failed("read", path_);
  text.resize(static_cast<std::size_t>(count));
  const auto ceiling = parse(text);
  if (!ceiling) {
    return {ErrorCode::unavailable,
            path_ +
                " is corrupt, so this board cannot know which leases are over. If no client uses a board of this "
                "farm with an earlier copy of the file, remove it"};
  }
  ceiling_ = *ceiling;
  return {};
}

Status CeilingFile::write(lease::Epoch ceiling) {
  const std::string draft = path_ + ".new", text = text_of(ceiling);
  ::unlink(draft.c_str());
  {
    const Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.number() < 0) return failed("make", draft);
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count >= 0 && count != static_cast<ssize_t>(text.size())) errno = ENOSPC;
    if (count != static_cast<ssize_t>(text.size()) || ::fsync(file.number()) != 0) return failed("write", draft);
  }
  if (::rename(draft.c_str(), path_.c_str()) != 0) return failed("replace", path_);
  if (::fsync(folder_.number()) != 0) return failed("write the folder of", path_);
  ceiling_ = ceiling;
  return {};
}

}  // namespace ferry::device
