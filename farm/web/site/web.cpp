#include "farm/web/site/web.h"

#include <array>

#include "farm/web/pages/plain_pages.h"
#include "farm/web/site/errors.h"
#include "farm/web/site/failure_page.h"
#include "farm/web/site/forms.h"

namespace ferry::farm::http {
namespace {

struct Notice {
  std::string_view word;
  const char* text;
};
// The sentences that a page says after a form, by the parameter `done`.
constexpr std::array kNotices = {
    Notice{"maintain", "The board is drained: a running lease goes on, and nobody gets the board after it."},
    Notice{"retire", "The board is retired."},
    Notice{"return", "The board is back in service."},
    Notice{"revoke-token", "The tokens are revoked."},
    Notice{"end", "The lease has ended, or will as soon as its board says so."},
};

std::string notice_of(const Parameters& query) {
  const std::string& done = parameter(query, "done");
  for (const Notice& notice : kNotices) {
    if (notice.word == done) return notice.text;
  }
  return {};
}

}  // namespace

const Web::WebRoute Web::kWebRoutes[] = {
    {"GET", "/", &Web::show_boards},           {"GET", "/board", &Web::show_board},
    {"GET", "/queue", &Web::show_queue},       {"GET", "/history", &Web::show_history},
    {"GET", "/audit", &Web::show_audit},       {"GET", "/events", &Web::open_events},
    {"POST", "/order", &Web::order_board},     {"POST", "/end-lease", &Web::end_lease},
    {"POST", "/logout", &Web::log_out},        {"GET", "/tokens", &Web::show_tokens},
    {"POST", "/make-token", &Web::make_token}, {"POST", "/revoke-token", &Web::revoke_token},
};

Web::Web(Farm& farm, Tokens& tokens, const HttpOptions& options)
    : farm_(farm), tokens_(tokens), options_(options), streams_(options.streams) {}

std::string Web::set_cookie(const std::string& name, const std::string& value, std::chrono::seconds life) const {
  return name + "=" + value + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(life.count()) +
         (options_.behind_proxy ? "; Secure" : "");
}

Result<Caller> Web::caller_of(const std::string& id, bool is_use) {
  const Status nobody(ErrorCode::unauthenticated, "nobody is logged in");
  const auto session = id.empty() ? std::nullopt : sessions_.find(id, options_.now(), is_use);
  if (!session) return nobody;
  Result<Caller> caller = tokens_.again(session->token);
  if (!caller.is_ok() && caller.status().code() == ErrorCode::unauthenticated) sessions_.remove(id);
  return caller;
}

bool Web::is_known(const std::string& cookie) {
  HttpRequest request;
  request.cookie = cookie;
  const std::string id = cookie_value(request, session_cookie());
  return !id.empty() && sessions_.find(id, options_.now(), false).has_value();
}

HttpResponse Web::show_login(const HttpRequest& request) {
  if (caller_of(cookie_value(request, session_cookie()), true).is_ok()) return redirect("/");
  Viewer viewer;
  viewer.csrf = random_id();
  HttpResponse response;
  response.body = write_login_page(viewer);
  response.headers.emplace_back("Set-Cookie", set_cookie(login_cookie(), viewer.csrf, std::chrono::hours(1)));
  return response;
}

HttpResponse Web::log_in(const HttpRequest& request) {
  const Result<Parameters> form = parse_form(request, options_.behind_proxy);
  if (!form.is_ok()) return failure_page(status_of(form.status().code()), {}, form.status().message());
  const std::string expected = cookie_value(request, login_cookie());
  if (expected.empty() || !is_same_secret(expected, parameter(form.value(), "csrf"))) {
    return failure_page(403, {}, "The form has expired, or the browser keeps no cookies. Load the page again.");
  }
  const std::string& token = parameter(form.value(), "token");
  const Result<Caller> caller = tokens_.of_login(request, token);
  if (!caller.is_ok()) {
    const ErrorCode code = caller.status().code();
    Viewer viewer;
    viewer.csrf = expected;
    viewer.alert = "Login failed: " + caller.status().message() + ".";
    HttpResponse response;
    response.status = code == ErrorCode::busy ? 429 : code == ErrorCode::unauthenticated ? 403 : status_of(code);
    if (response.status == 429) response.headers.emplace_back("Retry-After", "10");
    response.body = write_login_page(viewer);
    return response;
  }
  const std::string id = sessions_.add(caller.value().holder, token, options_.now());
  HttpResponse response = redirect("/");
  response.headers.emplace_back("Set-Cookie", set_cookie(session_cookie(), id, kSessionLife));
  response.headers.emplace_back("Set-Cookie", set_cookie(login_cookie(), "", std::chrono::seconds(0)));
  return response;
}

HttpResponse Web::handle(const HttpRequest& request, std::string_view path, const Parameters& query) {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  if (path == "/login") {
    if (method == "GET") return show_login(request);
    return method == "POST" ? log_in(request) : wrong_method("GET, POST");
  }
  for (const WebRoute& route : kWebRoutes) {
    if (route.path != path) continue;
    return route.method == method ? dispatch(request, route, query) : wrong_method(route.method.data());
  }
  return failure_page(404, {}, "There is no such page.");
}

HttpResponse Web::dispatch(const HttpRequest& request, const WebRoute& route, const Parameters& query) {
  const std::string id = cookie_value(request, session_cookie());
  Result<Caller> caller = caller_of(id, true);
  if (!caller.is_ok()) {
    if (caller.status().code() != ErrorCode::unauthenticated) {
      return failure_page(status_of(caller.status().code()), {}, caller.status().message());
    }
    // A script that listens to events must not take the login page for a stream.
    return route.path == "/events" ? text_response(401, "log in first\n") : redirect("/login");
  }
  const auto session = sessions_.find(id, options_.now());
  Viewer viewer{caller.value().holder, caller.value().role, session ? session->csrf : "", notice_of(query)};
  Parameters fields;
  if (route.method == "POST") {
    Result<Parameters> form = parse_form(request, options_.behind_proxy);
    if (!form.is_ok()) return failure_page(status_of(form.status().code()), viewer, form.status().message());
    if (viewer.csrf.empty() || !is_same_secret(viewer.csrf, parameter(form.value(), "csrf"))) {
      return failure_page(403, viewer, "The form belongs to another session. Load the page again.");
    }
    fields = std::move(form.value());
  }
  return (this->*route.handle)({std::move(caller.value()), std::move(viewer), id, query, fields});
}

HttpResponse Web::open_events(const Visit& visit) {
  auto place = streams_.take();
  if (place == nullptr) return text_response(503, "too many pages are listening to events; try again later\n");
  HttpResponse response = text_response(200, "");
  response.content_type = "text/event-stream";
  // Proxies must pass events on at once.
  response.headers.emplace_back("X-Accel-Buffering", "no");
  const auto is_allowed = [this, id = visit.id] { return caller_of(id, false).is_ok(); };
  response.events = std::make_shared<EventStream>(EventStream{is_allowed, std::move(place)});
  return response;
}

HttpResponse Web::log_out(const Visit& visit) {
  sessions_.remove(visit.id);
  HttpResponse response = redirect("/login");
  response.headers.emplace_back("Set-Cookie", set_cookie(session_cookie(), "", std::chrono::seconds(0)));
  return response;
}

}  // namespace ferry::farm::http
