#include "farm/board/ceiling_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/replace_file.h"
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
  file.keep_spare();
  return file;
}

CeilingFile::~CeilingFile() {
  // Closing alone keeps the lock as long as a forked process has the descriptor.
  if (folder_.number() >= 0) flock(folder_.number(), LOCK_UN);
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

void CeilingFile::keep_spare() const {
  // Without either file, if the disk is full already, write() needs space.
  if (access(path_.c_str(), F_OK) != 0) (void)replace_file(path_, text_of(ceiling_));
  if (access(spare().c_str(), F_OK) != 0) (void)replace_file(spare(), text_of(ceiling_));
}

bool CeilingFile::exchange(const std::string& text) const {
  const Descriptor file(::open(spare().c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto size = static_cast<off_t>(text.size());
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
  return file.number() >= 0 && pwrite(file.number(), text.data(), text.size(), 0) == size &&
         ftruncate(file.number(), size) == 0 && fsync(file.number()) == 0 &&
         syscall(SYS_renameat2, AT_FDCWD, spare().c_str(), AT_FDCWD, path_.c_str(), kExchange) == 0 &&
         fsync(folder_.number()) == 0;
}

Status CeilingFile::write(lease::Epoch ceiling) {
  const std::string text = text_of(ceiling);
  // Not every file system can exchange files.
  if (!exchange(text)) FERRY_TRY(replace_file(path_, text));
  ceiling_ = ceiling;
  return {};
}

}  // namespace ferry::device
