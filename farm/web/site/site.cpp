#include "farm/web/site/site.h"

#include <arpa/inet.h>

#include "farm/web/pages/assets.h"
#include "farm/web/site/errors.h"
#include "farm/web/site/forms.h"
#include "farm/web/site/metrics.h"

namespace ferry::farm::http {
namespace {

constexpr std::size_t kQueryParameters = 16;

bool is_loopback_peer(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == 127;
  return address == "::1";
}

HttpResponse asset_response(const Asset& asset) {
  HttpResponse response;
  response.content_type = asset.type;
  response.body = asset.contents;
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

bool has_header(const HttpResponse& response, const std::string& name) {
  for (const auto& header : response.headers) {
    if (header.first == name) return true;
  }
  return false;
}

// Adds the headers of every response.
HttpResponse with_common_headers(HttpResponse response) {
  static const std::vector<std::pair<std::string, std::string>> kSecurity = {
      {"Content-Security-Policy",
       "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action "
       "'self'; "
       "base-uri 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      // Not no-referrer, with which browsers send the Origin "null" with forms.
      {"Referrer-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  };
  if (!has_header(response, "Cache-Control")) response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.insert(response.headers.end(), kSecurity.begin(), kSecurity.end());
  return response;
}

}  // namespace

Site::Site(Farm& farm, HttpOptions options)
    : farm_(farm),
      options_(std::move(options)),
      tokens_(farm, options_),
      api_(farm, tokens_),
      web_(farm, tokens_, options_) {}

HttpResponse Site::show_health() {
  const Result<FarmNumbers> numbers = farm_.numbers();
  if (!numbers.is_ok()) return text_response(503, "the tracker does not answer\n");
  if (!numbers.value().read_only_reason.empty()) return text_response(503, "the database cannot be written\n");
  return text_response(200, numbers.value().is_scheduling ? "ok\n" : "ok, standing by\n");
}

HttpResponse Site::show_metrics(const HttpRequest& request) {
  const bool is_local = !options_.behind_proxy && is_loopback_peer(request.peer);
  if (!is_local) {
    const Result<Caller> caller = tokens_.of_bearer(request);
    if (!caller.is_ok()) return token_failure(caller.status());
  }
  const Result<FarmNumbers> numbers = farm_.numbers();
  if (!numbers.is_ok()) return json_failure(numbers.status());
  HttpResponse response = text_response(200, metrics_text(numbers.value()));
  response.content_type = kMetricsType;
  return response;
}

HttpResponse Site::route(const HttpRequest& request) {
  const std::string_view target = request.target;
  const std::size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  const auto query =
      parse_parameters(question == std::string_view::npos ? "" : target.substr(question + 1), kQueryParameters);
  if (!query) return text_response(400, "expected a query of at most 16 valid parameters\n");
  if (path == "/healthz") return request.method == "POST" ? wrong_method("GET") : show_health();
  if (!options_.behind_proxy && !is_loopback_host(request.host)) {
    return text_response(421,
                         "expected the host localhost or a loopback address: other names need a reverse proxy "
                         "and --behind-proxy\n");
  }
  if (path.starts_with(kApiPrefix)) return api_.handle(request, path.substr(kApiPrefix.size()), *query);
  if (path == "/metrics") return request.method == "POST" ? wrong_method("GET") : show_metrics(request);
  if (const Asset* asset = find_asset(path)) {
    return request.method == "POST" ? wrong_method("GET") : asset_response(*asset);
  }
  return web_.handle(request, path, *query);
}

bool Site::is_known(const std::string& authorization, const std::string& cookie) {
  return (!authorization.empty() && tokens_.is_known(authorization)) || (!cookie.empty() && web_.is_known(cookie));
}

HttpResponse Site::refusal(int status, const char* reason) {
  return with_common_headers(text_response(status, std::string(reason) + "\n"));
}

HttpResponse Site::handle(const HttpRequest& request) {
  const bool is_served = request.method == "GET" || request.method == "HEAD" || request.method == "POST";
  if (!is_served) return with_common_headers(wrong_method("GET, HEAD, POST"));
  try {
    return with_common_headers(route(request));
  } catch (const std::exception&) {
    return refusal(500, "error of the tracker");
  }
}

}  // namespace ferry::farm::http
