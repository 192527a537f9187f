#include "host/client/connect/plaintext.h"

#include "base/throw_status.h"
#include "host/client/connect/tcp.h"

namespace ferry::session {

namespace {

constexpr std::string_view kPlaintext = "plaintext://";

Result<TcpAddress> parse_plaintext_address(std::string_view address) {
  return parse_tcp_address(address.substr(kPlaintext.size()), kDefaultPort);
}

}  // namespace

Scheme plaintext_scheme() {
  return {.prefix = kPlaintext,
          .form = "plaintext://HOST:PORT",
          .is_on_this_machine =
              [](const std::string& address) {
                const auto tcp = parse_plaintext_address(address);
                return tcp.is_ok() && is_loopback(tcp.value().host);
              },
          .connector =
              [](const Remote& remote, const Connectors&) {
                const TcpAddress tcp = value_or_throw(parse_plaintext_address(remote.address));
                if (!is_loopback(tcp.host)) {
                  throw Error(ErrorCode::invalid_argument,
                              "plaintext:// is for loopback addresses; " + tcp.host +
                                  " is none, and others could read and change what goes there");
                }
                return std::make_shared<TcpConnector>(TcpDevice{.address = tcp, .name = to_text(tcp)});
              }};
}

}  // namespace ferry::session
