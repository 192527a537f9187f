#include "farm/keys/revocation_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/format.h"
#include "base/printable.h"
#include "farm/keys/revocation_line.h"

namespace ferry::farm {
namespace {

Status sync_folder_of(const std::string& path) {
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  const Descriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.number() >= 0 && (fsync(parent.number()) == 0 || errno == EINVAL)) return {};
  return {ErrorCode::device_error,
          format("cannot write the folder %s: %s", printable(folder).c_str(), strerror(errno))};
}

Result<std::string> read_whole(int file, std::size_t size) {
  std::string text(size, 0);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(file, text.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Status(ErrorCode::device_error, count == 0 ? "it became shorter" : strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace

Status RevocationFile::failure(const char* what) const {
  const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return {is_full ? ErrorCode::resource_exhausted : ErrorCode::device_error,
          format("cannot %s the revocations in %s: %s", what, printable(path_).c_str(), strerror(errno))};
}

Result<RevocationFile> RevocationFile::open(const std::string& path) {
  // O_NONBLOCK, in case the file is a pipe.
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600));
  if (file.number() < 0)
    return Status(ErrorCode::invalid_argument,
                  format("cannot open the revocations in %s: %s", printable(path).c_str(), strerror(errno)));
  FERRY_TRY(sync_folder_of(path));
  RevocationFile revocations(path, std::move(file));
  FERRY_TRY(revocations.read());
  return revocations;
}

Status RevocationFile::read() {
  struct stat info{};
  if (fstat(file_.number(), &info) != 0) return failure("read");
  const auto refuse = [this](ErrorCode code, const std::string& why) {
    return Status(code, format("the revocations in %s: %s", printable(path_).c_str(), why.c_str()));
  };
  if (!S_ISREG(info.st_mode)) return refuse(ErrorCode::invalid_argument, "expected a file, got something else");
  if ((info.st_mode & 077) != 0)
    return refuse(ErrorCode::invalid_argument, format("others may read or change the file (mode %03o); chmod 600 it",
                                                      static_cast<unsigned>(info.st_mode & 0777)));
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return refuse(ErrorCode::invalid_argument, "the file belongs to another user");
  if (info.st_size > static_cast<off_t>(kMaxBytes))
    return refuse(ErrorCode::invalid_argument, format("expected a file of at most %zu bytes, got %lld", kMaxBytes,
                                                      static_cast<long long>(info.st_size)));
  const Result<std::string> text = read_whole(file_.number(), static_cast<std::size_t>(info.st_size));
  if (!text.is_ok()) return refuse(text.status().code(), text.status().message());
  size_ = text.value().rfind('\n') + 1;  // 0 if there is none
  std::string_view rest(text.value().data(), size_);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const auto revocation = parse_revocation(line);
    if (!revocation)
      return refuse(ErrorCode::device_error, format("line %zu is damaged: expected kind, salt, time and id, got '%s'",
                                                    number, printable(line.substr(0, 100)).c_str()));
    remember(*revocation);
  }
  if (size_ < text.value().size() && ftruncate(file_.number(), static_cast<off_t>(size_)) != 0) return failure("write");
  return {};
}

void RevocationFile::remember(const Revocation& revocation) {
  if (known_.insert({revocation.kind, revocation.id, revocation.salt}).second) revocations_.push_back(revocation);
}

Status RevocationFile::add(const Revocation& revocation) {
  if (revocation.kind < wire::CredentialKind::client || revocation.kind > wire::CredentialKind::enrolment)
    return {ErrorCode::invalid_argument, "expected the kind of a credential, got another number"};
  if (revocation.id.size() > kMaxIdBytes)
    return {ErrorCode::invalid_argument,
            format("expected an id of at most %zu bytes, got %zu", kMaxIdBytes, revocation.id.size())};
  if (known_.contains({revocation.kind, revocation.id, revocation.salt})) return {};
  FERRY_TRY(append(revocation_line(revocation)));
  remember(revocation);
  return {};
}

// A line that could not be written as a whole is overwritten by the next one, and ignored by read() until then.
Status RevocationFile::append(const std::string& line) {
  if (size_ + line.size() > kMaxBytes)
    return {ErrorCode::resource_exhausted,
            format("expected at most %zu bytes of revocations in %s, got more", kMaxBytes, printable(path_).c_str())};
  if (ftruncate(file_.number(), static_cast<off_t>(size_)) != 0) return failure("write");
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count =
        pwrite(file_.number(), line.data() + done, line.size() - done, static_cast<off_t>(size_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure("write");
    done += static_cast<std::size_t>(count);
  }
  if (fsync(file_.number()) != 0) return failure("write");
  size_ += line.size();
  return {};
}

}  // namespace ferry::farm
