#include "host/client/connect/ssh_address.h"

#include <algorithm>
#include <cctype>

#include "base/throw_status.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::session {

namespace {

[[noreturn]] void refuse_ssh(const std::string& expected, std::string_view text) {
  throw Error(ErrorCode::invalid_argument, "expected " + expected + ", got '" + std::string(text) + "'");
}

// These become arguments of ssh, which takes a word that begins with a dash for an option.
void check_ssh_part(const char* what, const std::string& part, std::string_view extra, std::string_view all) {
  const bool fine = !part.empty() && part.front() != '-' && std::all_of(part.begin(), part.end(), [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || extra.find(letter) != std::string_view::npos;
  });
  if (!fine) refuse_ssh(std::string(what) + " in ssh://[USER@]HOST[:PORT]", all);
}

}  // namespace

SshAddress parse_ssh_address(std::string_view text) {
  if (!text.starts_with(kSshScheme)) refuse_ssh("ssh://[USER@]HOST[:PORT]", text);
  SshAddress address;
  std::string_view rest = text.substr(kSshScheme.size());
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    address.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    check_ssh_part("a user", address.user, "._-+@", text);
  }
  if (rest.empty()) refuse_ssh("a host in ssh://[USER@]HOST[:PORT]", text);
  // A port is recognised by its colon; the default 1 means none, and a port that the user wrote is passed to ssh.
  const bool has_port = rest.find(':', rest.front() == '[' ? rest.find(']') : 0) != std::string_view::npos;
  const TcpAddress host = value_or_throw(parse_tcp_address(rest, 1));
  address.host = host.host;
  if (has_port) address.port = host.port;
  check_ssh_part("a host", address.host, "._-:%", text);
  return address;
}

}  // namespace ferry::session
