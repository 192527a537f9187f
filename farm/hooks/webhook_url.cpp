#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/format.h"
#include "farm/hooks/webhook.h"

namespace ferry::farm {
namespace {

bool is_host_letter(char one) {
  return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') || one == '.' ||
         one == '-' || one == '_';
}
bool is_ip6_letter(char one) {
  return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f') || (one >= 'A' && one <= 'F') || one == ':' ||
         one == '.';
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

// HOST, HOST:PORT, [IP6] or [IP6]:PORT.
bool is_authority(std::string_view text) {
  std::string_view port;
  bool is_fine = false;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    is_fine = end > 2 && std::ranges::all_of(text.substr(1, end - 1), is_ip6_letter);
    port = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    is_fine = end > 0 && std::ranges::all_of(text.substr(0, end), is_host_letter);
    port = text.substr(end);
  }
  return is_fine && (port.empty() || (port.front() == ':' && is_port(port.substr(1))));
}

bool is_path_letter(char one) {
  return one > ' ' && one < '\x7f' && one != '#' && one != '"' && one != '<' && one != '>';
}

}  // namespace

Result<WebhookUrl> parse_webhook_url(const std::string& text) {
  const Status refusal(
      ErrorCode::invalid_argument,
      format("expected a URL of at most %zu bytes, http://HOST[:PORT][/PATH] or https://...", kMaxUrlBytes));
  const std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  if (scheme == 0 || text.size() > kMaxUrlBytes) return refusal;
  const std::size_t path = std::min(text.find_first_of("/?#", scheme), text.size());
  WebhookUrl url{text.substr(0, path), text.substr(path)};
  if (!is_authority(std::string_view(url.server).substr(scheme)) || !std::ranges::all_of(url.path, is_path_letter))
    return refusal;
  if (!url.path.starts_with('/')) url.path.insert(0, "/");
  return url;
}

}  // namespace ferry::farm
