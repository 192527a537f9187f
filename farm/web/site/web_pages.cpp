// The pages, and their requests to the farm.
#include <algorithm>

#include "base/unix_time.h"
#include "farm/web/pages/board_page.h"
#include "farm/web/pages/boards_page.h"
#include "farm/web/pages/listings.h"
#include "farm/web/pages/tokens_page.h"
#include "farm/web/site/ask.h"
#include "farm/web/site/failure_page.h"
#include "farm/web/site/read_record.h"
#include "farm/web/site/web.h"

namespace ferry::farm::http {
namespace {

HttpResponse page(std::string html) {
  HttpResponse response;
  response.body = std::move(html);
  return response;
}

// The number in a link that one of our pages has made; a listing starts at its first element for anything else.
std::uint64_t start_of(const Parameters& query, std::string_view name) {
  return parse_decimal(parameter(query, name)).value_or(0);
}

}  // namespace

HttpResponse Web::show_boards(const Visit& visit) {
  const std::string& selector = parameter(visit.query, "selector");
  const auto boards =
      ask_within_limits(farm_, visit.caller, wire::ListDevices{selector, parameter(visit.query, "after")});
  const auto queue = ask_within_limits(farm_, visit.caller, wire::ListQueue{});
  if (!queue.is_ok()) return failure_page(queue.status(), visit.viewer);
  if (boards.is_ok()) {
    return page(write_boards_page(visit.viewer, {selector, boards.value(), queue.value(), ""}));
  }
  if (boards.status().code() != ErrorCode::invalid_argument) return failure_page(boards.status(), visit.viewer);
  HttpResponse response =
      page(write_boards_page(visit.viewer, {selector, {}, queue.value(), boards.status().message()}));
  response.status = 400;
  return response;
}

HttpResponse Web::show_board(const Visit& visit) {
  const std::string& name = parameter(visit.query, "name");
  auto board = farm_.find_board(visit.caller, name);
  if (!board.is_ok()) return failure_page(board.status(), visit.viewer);
  auto queue = ask_within_limits(farm_, visit.caller, wire::ListQueue{});
  if (!queue.is_ok()) return failure_page(queue.status(), visit.viewer);
  return page(
      write_board_page(visit.viewer, {std::move(board.value()), std::move(queue.value()),
                                      ask_within_limits(farm_, visit.caller, wire::ListHealth{name, 0}),
                                      ask_within_limits(farm_, visit.caller, wire::ListSessions{name, 0}),
                                      ask_within_limits(farm_, visit.caller, wire::ListHistory{name, "", 0, 0})}));
}

HttpResponse Web::show_queue(const Visit& visit) {
  QueueView view{start_of(visit.query, "leases"), start_of(visit.query, "requests"), {}, {}};
  auto leases = ask_within_limits(farm_, visit.caller, wire::ListLeases{view.leases_after});
  if (!leases.is_ok()) return failure_page(leases.status(), visit.viewer);
  auto queue = ask_within_limits(farm_, visit.caller, wire::ListQueue{view.requests_after});
  if (!queue.is_ok()) return failure_page(queue.status(), visit.viewer);
  view.leases = std::move(leases.value());
  view.queue = std::move(queue.value());
  return page(write_queue_page(visit.viewer, view));
}

HttpResponse Web::show_history(const Visit& visit) {
  const wire::ListHistory query{parameter(visit.query, "board"), parameter(visit.query, "holder"),
                                start_of(visit.query, "before_ended"), start_of(visit.query, "before_lease")};
  const auto history = ask_within_limits(farm_, visit.caller, query);
  if (!history.is_ok()) return failure_page(history.status(), visit.viewer);
  return page(write_history_page(visit.viewer, query.board, query.holder, history.value()));
}

HttpResponse Web::show_audit(const Visit& visit) {
  const wire::ListAudit query{parameter(visit.query, "board"), start_of(visit.query, "before")};
  const auto audit = ask_within_limits(farm_, visit.caller, query);
  if (!audit.is_ok()) return failure_page(audit.status(), visit.viewer);
  return page(write_audit_page(visit.viewer, query.board, audit.value()));
}

HttpResponse Web::show_tokens(const Visit& visit) { return tokens_page(visit, ""); }

HttpResponse Web::tokens_page(const Visit& visit, const std::string& made) {
  TokensView view;
  view.after = start_of(visit.query, "after");
  view.made = made;
  view.now_ms = static_cast<std::uint64_t>(unix_milliseconds());
  const wire::ListCredentials query{static_cast<std::uint32_t>(std::min<std::uint64_t>(view.after, UINT32_MAX))};
  auto credentials = ask_within_limits(farm_, visit.caller, query);
  if (!credentials.is_ok()) return failure_page(credentials.status(), visit.viewer);
  view.credentials = std::move(credentials.value());
  return page(write_tokens_page(visit.viewer, view));
}

HttpResponse Web::make_token(const Visit& visit) {
  constexpr std::uint64_t kDayMs = 86'400'000, kMostDays = 36'500;
  wire::AddToken token;
  token.holder = parameter(visit.form, "holder");
  const auto role = read_word<wire::Role>("role", parameter(visit.form, "role"), wire::kRole);
  if (!role.is_ok()) return failure_page(role.status(), visit.viewer);
  token.role = role.value();
  const auto days = parse_decimal(parameter(visit.form, "days"));
  if (!days || *days == 0 || *days > kMostDays)
    return failure_page(400, visit.viewer, "days: expected a number from 1 to " + std::to_string(kMostDays));
  token.lasts_ms = *days * kDayMs;
  const auto made = ask_within_limits(farm_, visit.caller, token);
  if (!made.is_ok()) return failure_page(made.status(), visit.viewer);
  return tokens_page(visit, made.value().token);
}

HttpResponse Web::revoke_token(const Visit& visit) {
  const wire::RevokeCredential revoke{wire::CredentialKind::token, parameter(visit.form, "holder")};
  const auto done = ask_within_limits(farm_, visit.caller, revoke);
  if (!done.is_ok()) return failure_page(done.status(), visit.viewer);
  return redirect("/tokens?done=revoke-token");
}

HttpResponse Web::order_board(const Visit& visit) {
  const std::string& board = parameter(visit.form, "board");
  const std::string& word = parameter(visit.form, "order");
  const auto order = read_word<wire::BoardOrder>("order", word, wire::kOrder);
  if (!order.is_ok()) return failure_page(order.status(), visit.viewer);
  const auto done = ask_within_limits(farm_, visit.caller, wire::OrderBoard{board, order.value()});
  if (!done.is_ok()) return failure_page(done.status(), visit.viewer);
  return redirect(link("/board", {{"name", board}, {"done", word}}));
}

HttpResponse Web::end_lease(const Visit& visit) {
  const auto lease = parse_decimal(parameter(visit.form, "lease"));
  if (!lease) return failure_page(400, visit.viewer, "lease: expected a decimal number");
  const auto done = ask_within_limits(farm_, visit.caller, wire::EndLease{*lease});
  if (!done.is_ok()) return failure_page(done.status(), visit.viewer);
  const std::string& board = parameter(visit.form, "board");
  if (board.empty()) return redirect("/queue?done=end");
  return redirect(link("/board", {{"name", board}, {"done", "end"}}));
}

}  // namespace ferry::farm::http
