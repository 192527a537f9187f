#include "farm/web/site/forms.h"

#include <arpa/inet.h>

namespace ferry::farm::http {
namespace {

constexpr std::size_t kFormFields = 16;

Status from_elsewhere(const std::string& message) { return {ErrorCode::unauthenticated, message}; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string cookie_value(const HttpRequest& request, std::string_view name) {
  std::string_view rest = request.cookie;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && trim(pair.substr(0, equals)) == name) {
      return std::string(trim(pair.substr(equals + 1)));
    }
  }
  return {};
}

Result<Parameters> parse_form(const HttpRequest& request, bool behind_proxy) {
  const std::string own = (behind_proxy ? "https://" : "http://") + request.host;
  if (request.origin != own) {
    return from_elsewhere("expected a form of this site: the header Origin must be " + own +
                          (behind_proxy ? " (the proxy must pass the header Host on)" : ""));
  }
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin") {
    return from_elsewhere("expected a form of this site, got one from elsewhere");
  }
  const std::string_view type = trim(std::string_view(request.content_type).substr(0, request.content_type.find(';')));
  if (type != "application/x-www-form-urlencoded") {
    return Status(ErrorCode::invalid_argument, "expected a form of application/x-www-form-urlencoded");
  }
  auto fields = parse_parameters(request.body, kFormFields);
  if (!fields) return Status(ErrorCode::invalid_argument, "expected a form of at most 16 fields, got invalid encoding");
  return std::move(*fields);
}

bool is_loopback_host(std::string_view host) {
  std::string_view name = host, port;
  if (name.starts_with('[')) {
    const std::size_t end = name.find(']');
    if (end == std::string_view::npos) return false;
    port = name.substr(end + 1);
    name = name.substr(1, end - 1);
  } else if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    port = name.substr(colon);
    name = name.substr(0, colon);
  }
  if (!port.empty() && (port.front() != ':' || !parse_decimal(port.substr(1)))) return false;
  if (name == "localhost" || name == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, std::string(name).c_str(), &address) == 1 && ntohl(address.s_addr) >> 24U == 127;
}

}  // namespace ferry::farm::http
