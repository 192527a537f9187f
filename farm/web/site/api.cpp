#include "farm/web/site/api.h"

#include <optional>
#include <vector>

#include "farm/json/pages.h"
#include "farm/protocol/lease_id.h"
#include "farm/web/site/ask.h"
#include "farm/web/site/errors.h"
#include "farm/web/site/read_record.h"

namespace ferry::farm::http {
namespace {

struct ApiCall {
  Farm& farm;
  const Caller& caller;
  std::string_view path;                      // as sent, from /api/v1/ on
  const std::vector<std::string>& arguments;  // what stands for the '*' of the route, decoded
  const Parameters& query;
  std::string_view body;
  bool is_post;
};

// Names and texts of boards may be anything; what is not UTF-8 becomes replacement characters.
HttpResponse response_of(const text::Json& json) {
  return json_response(json.dump(-1, ' ', false, text::Json::error_handler_t::replace));
}

// Writes a query's fields as parameters: those that are not what they are without a parameter.
struct ParameterWriter {
  std::string& target;
  bool is_in_path;  // the next field

  void operator()(std::string_view name, const std::string& text, fields::Text) { add(name, text); }
  void operator()(std::string_view name, std::uint64_t id, fields::Id) { add(name, id == 0 ? "" : lease_text(id)); }
  void operator()(std::string_view name, std::uint64_t number) { add(name, number == 0 ? "" : std::to_string(number)); }
  void add(std::string_view name, const std::string& value) {
    if (!std::exchange(is_in_path, false) && !value.empty())
      target += (target.find('?') == std::string::npos ? '?' : '&') + std::string(name) + "=" + percent_encode(value);
  }
};

template <class Query>
std::string target_of(const ApiCall& call, const Query& query) {
  std::string target(call.path);
  Query::visit_fields(query, ParameterWriter{target, !call.arguments.empty()});
  return target;
}

template <class Query>
HttpResponse answer(const ApiCall& call) {
  const Result<Query> query =
      call.is_post ? read_record<Query>(call.body, call.arguments) : read_record<Query>(call.query, call.arguments);
  if (!query.is_ok()) return json_failure(query.status());
  const auto reply = ask_within_limits(call.farm, call.caller, query.value());
  if (!reply.is_ok()) return json_failure(reply.status());
  if constexpr (requires { reply.value().has_more; }) {
    const auto next = next_page(query.value(), reply.value());
    return response_of({{"schema", schema_of<Query>()},
                        {list_name<Query>(), shown_fields(reply.value()).front().json},
                        {"next", next ? text::Json(target_of(call, *next)) : text::Json()}});
  } else if constexpr (HasFields<std::decay_t<decltype(reply.value())>>) {
    return response_of(document_of(reply.value()));
  } else {
    return response_of(text::Json::object());
  }
}

HttpResponse show_board(const ApiCall& call) {
  const auto board = call.farm.find_board(call.caller, call.arguments[0]);
  if (!board.is_ok()) return json_failure(board.status());
  return response_of(document_of(board.value()));
}

struct ApiRoute {
  std::string_view method;
  std::string_view path;  // '*' stands for any one segment
  HttpResponse (*handle)(const ApiCall& call);
};

constexpr ApiRoute kApiRoutes[] = {
    {"GET", "status", answer<wire::Summarize>},
    {"GET", "boards", answer<wire::ListDevices>},
    {"POST", "boards", answer<wire::EnrolBoard>},
    {"GET", "boards/*", show_board},
    {"GET", "boards/*/health", answer<wire::ListHealth>},
    {"GET", "boards/*/sessions", answer<wire::ListSessions>},
    {"POST", "boards/*/order", answer<wire::OrderBoard>},
    {"GET", "queue", answer<wire::ListQueue>},
    {"GET", "leases", answer<wire::ListLeases>},
    {"POST", "leases/*/end", answer<wire::EndLease>},
    {"GET", "history", answer<wire::ListHistory>},
    {"GET", "audit", answer<wire::ListAudit>},
    {"GET", "credentials", answer<wire::ListCredentials>},
    {"POST", "credentials/revoke", answer<wire::RevokeCredential>},
    {"POST", "clients", answer<wire::AddClient>},
    {"POST", "tokens", answer<wire::AddToken>},
};

std::string_view take_segment(std::string_view& path) {
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), segment.size() + 1));
  return segment;
}

// Returns what stands for each '*'; nothing if the path is another one.
std::optional<std::vector<std::string>> match_route(std::string_view pattern, std::string_view path) {
  std::vector<std::string> arguments;
  if (path.ends_with('/')) return std::nullopt;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = take_segment(pattern), segment = take_segment(path);
    if (expected == "*") {
      auto argument = percent_decode(segment, false);
      if (!argument || argument->empty()) return std::nullopt;
      arguments.push_back(std::move(*argument));
    } else if (expected != segment) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return arguments;
}

}  // namespace

HttpResponse token_failure(const Status& failure) {
  if (failure.code() == ErrorCode::busy) return json_failure(429, "busy", failure.message());
  if (failure.code() != ErrorCode::unauthenticated) return json_failure(failure);
  HttpResponse response = json_failure(401, "unauthenticated", failure.message());
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"ferry farm\"");
  return response;
}

HttpResponse Api::handle(const HttpRequest& request, std::string_view path, const Parameters& query) {
  const Result<Caller> caller = tokens_.of_bearer(request);
  if (!caller.is_ok()) return token_failure(caller.status());
  const char* other_method = nullptr;
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  for (const ApiRoute& route : kApiRoutes) {
    const auto arguments = match_route(route.path, path);
    if (!arguments) continue;
    if (route.method != method) {
      other_method = route.method.data();
      continue;
    }
    if (method == "POST" && !request.body.empty() && !request.content_type.starts_with("application/json")) {
      return json_failure(415, "invalid_argument", "expected a body of application/json");
    }
    return route.handle({farm_, caller.value(), path, *arguments, query, request.body, method == "POST"});
  }
  if (other_method == nullptr) return json_failure(404, "not_found", "there is no such path");
  HttpResponse response = json_failure(405, "unsupported", std::string("expected the method ") + other_method);
  response.headers.emplace_back("Allow", other_method);
  return response;
}

}  // namespace ferry::farm::http
