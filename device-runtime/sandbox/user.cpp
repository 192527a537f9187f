#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {
namespace {

// Reads /etc/passwd directly: a static program cannot use the system's user database.
std::string passwd_line(const std::string& name) {
  const int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  std::string text(std::size_t{1} << 20, 0);
  const ssize_t count = file < 0 ? 0 : read(file, text.data(), text.size());
  if (file >= 0) close(file);
  text.resize(static_cast<std::size_t>(count > 0 ? count : 0));
  const std::size_t at = ("\n" + text).find("\n" + name + ":");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

Status find_user(const std::string& text, SandboxOptions& options) {
  std::string ids = text;
  if (text.find_first_not_of("0123456789:") != std::string::npos) {
    const std::string line = passwd_line(text);
    const std::size_t password = line.find(':');
    const std::size_t user = password == std::string::npos ? password : line.find(':', password + 1);
    if (user == std::string::npos) {
      return {ErrorCode::invalid_argument, "--user: there is no user '" + text + "' in /etc/passwd"};
    }
    ids = line.substr(user + 1);
  }
  char* end = nullptr;
  options.user = static_cast<uid_t>(std::strtoul(ids.c_str(), &end, 10));
  options.group = *end == ':' ? static_cast<gid_t>(std::strtoul(end + 1, nullptr, 10)) : options.user;
  options.change_user = true;
  if (options.user == 0) return {ErrorCode::invalid_argument, "--user: expected somebody other than root"};
  if (geteuid() != 0) return {ErrorCode::invalid_argument, "--user: only root can become another user"};
  return {};
}

}  // namespace ferry::device
