#include "farm/web/site/api.h"

#include <optional>
#include <vector>

#include "farm/protocol/lease_id.h"
#include "farm/web/site/ask.h"
#include "farm/web/site/errors.h"
#include "farm/web/site/json.h"

namespace ferry::farm::http {
namespace {

struct ApiCall {
  Farm& farm;
  const Caller& caller;
  const std::vector<std::string>& arguments;  // what stands for the '*' of the route, decoded
  const Parameters& query;
  std::string_view body;
};

template <class Q>
HttpResponse answer(const ApiCall& call, const Result<Q>& query) {
  if (!query.is_ok()) return json_failure(query.status());
  const auto reply = ask_within_limits(call.farm, call.caller, query.value());
  return reply.is_ok() ? json_response(to_json(reply.value())) : json_failure(reply.status());
}

Result<std::uint64_t> number(const ApiCall& call, std::string_view name) {
  const std::string& text = parameter(call.query, name);
  const auto value = text.empty() ? std::optional<std::uint64_t>(0) : parse_decimal(text);
  if (value) return *value;
  return Status(ErrorCode::invalid_argument,
                std::string(name) + ": expected a decimal number, got '" + text.substr(0, wire::kMaxName) + "'");
}

// 0 if it is not given.
Result<std::uint64_t> lease(const ApiCall& call, std::string_view name) {
  const std::string& text = parameter(call.query, name);
  return text.empty() ? Result<std::uint64_t>(0) : parse_lease(text.substr(0, wire::kMaxName));
}

// A listing that has only a lease or a request to start at.
template <class Q>
Result<Q> query_after(const ApiCall& call, const char* name) {
  FERRY_ASSIGN(const std::uint64_t after, lease(call, name));
  return Q{after};
}

// A listing of one board, whose name is `board`.
template <class Q>
Result<Q> query_of_board(const ApiCall& call, const std::string& board) {
  FERRY_ASSIGN(const std::uint64_t before, number(call, "before"));
  return Q{board, before};
}

HttpResponse list_boards(const ApiCall& call) {
  return answer<wire::ListDevices>(
      call, wire::ListDevices{parameter(call.query, "selector"), parameter(call.query, "after")});
}

HttpResponse show_board(const ApiCall& call) {
  const auto board = call.farm.find_board(call.caller, call.arguments[0]);
  return board.is_ok() ? json_response(to_json(board.value())) : json_failure(board.status());
}

HttpResponse list_queue(const ApiCall& call) { return answer(call, query_after<wire::ListQueue>(call, "after")); }
HttpResponse list_leases(const ApiCall& call) { return answer(call, query_after<wire::ListLeases>(call, "after")); }

Result<wire::ListHistory> history_query(const ApiCall& call) {
  wire::ListHistory query{parameter(call.query, "board"), parameter(call.query, "holder"), 0, 0};
  FERRY_ASSIGN(query.before_ended_ms, number(call, "before_ended_ms"));
  FERRY_ASSIGN(query.before_lease, lease(call, "before_lease"));
  return query;
}
HttpResponse list_history(const ApiCall& call) { return answer(call, history_query(call)); }

HttpResponse list_audit(const ApiCall& call) {
  return answer(call, query_of_board<wire::ListAudit>(call, parameter(call.query, "board")));
}
HttpResponse list_health(const ApiCall& call) {
  return answer(call, query_of_board<wire::ListHealth>(call, call.arguments[0]));
}
HttpResponse list_sessions(const ApiCall& call) {
  return answer(call, query_of_board<wire::ListSessions>(call, call.arguments[0]));
}

Result<wire::ListCredentials> credentials_query(const ApiCall& call) {
  FERRY_ASSIGN(const std::uint64_t after, number(call, "after"));
  if (after > UINT32_MAX) return Status(ErrorCode::invalid_argument, "after: expected a number of 32 bits");
  return wire::ListCredentials{static_cast<std::uint32_t>(after)};
}
HttpResponse list_credentials(const ApiCall& call) { return answer(call, credentials_query(call)); }

HttpResponse order_board(const ApiCall& call) { return answer(call, parse_order_board(call.body, call.arguments[0])); }

Result<wire::EndLease> end_lease_query(const ApiCall& call) {
  FERRY_TRY(parse_nothing(call.body));
  FERRY_ASSIGN(const std::uint64_t ended, parse_lease(call.arguments[0].substr(0, wire::kMaxName)));
  return wire::EndLease{ended};
}
HttpResponse end_lease(const ApiCall& call) { return answer(call, end_lease_query(call)); }

HttpResponse enrol_board(const ApiCall& call) { return answer(call, parse_enrol_board(call.body)); }
HttpResponse add_client(const ApiCall& call) { return answer(call, parse_add_client(call.body)); }
HttpResponse add_token(const ApiCall& call) { return answer(call, parse_add_token(call.body)); }
HttpResponse revoke(const ApiCall& call) { return answer(call, parse_revoke_credential(call.body)); }

struct ApiRoute {
  std::string_view method;
  std::string_view path;  // '*' stands for any one segment
  HttpResponse (*handle)(const ApiCall& call);
};

constexpr ApiRoute kApiRoutes[] = {
    {"GET", "boards", list_boards},
    {"POST", "boards", enrol_board},
    {"GET", "boards/*", show_board},
    {"GET", "boards/*/health", list_health},
    {"GET", "boards/*/sessions", list_sessions},
    {"POST", "boards/*/order", order_board},
    {"GET", "queue", list_queue},
    {"GET", "leases", list_leases},
    {"POST", "leases/*/end", end_lease},
    {"GET", "history", list_history},
    {"GET", "audit", list_audit},
    {"GET", "credentials", list_credentials},
    {"POST", "credentials/revoke", revoke},
    {"POST", "clients", add_client},
    {"POST", "tokens", add_token},
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
    return route.handle({farm_, caller.value(), *arguments, query, request.body});
  }
  if (other_method == nullptr) return json_failure(404, "not_found", "there is no such path");
  HttpResponse response = json_failure(405, "unsupported", std::string("expected the method ") + other_method);
  response.headers.emplace_back("Allow", other_method);
  return response;
}

}  // namespace ferry::farm::http
