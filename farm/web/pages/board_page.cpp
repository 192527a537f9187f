#include "farm/web/pages/board_page.h"

#include "base/quantity_text.h"
#include "farm/protocol/shown_state.h"
#include "farm/web/pages/health_chart.h"
#include "farm/web/pages/listings.h"
#include "farm/web/pages/reading.h"
#include "farm/web/pages/url.h"
#include "farm/web/pages/waiting_count.h"

namespace ferry::farm::http {
namespace {

void write_fact(html::Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  const auto pair = html.open("div");
  html.element("dt", name);
  html.element("dd", value);
}

std::string tags_text(const std::vector<wire::Label>& tags) {
  std::vector<std::string> texts;
  for (const wire::Label& tag : tags) texts.push_back(tag.name + (tag.value.empty() ? "" : "=" + tag.value));
  return join(", ", texts);
}

void write_now(html::Html& html, const Viewer& viewer, const BoardView& view) {
  const wire::DeviceListing& board = view.board;
  const auto section = html.open("section", {{"id", "now"}, {"data-live", ""}, {"aria-labelledby", "now-title"}});
  html.element("h2", "Now", {{"id", "now-title"}});
  {
    const auto facts = html.open("dl", {{"class", "facts"}});
    {
      const auto pair = html.open("div");
      html.element("dt", "State");
      const auto state = html.open("dd");
      write_state(html, shown_state(board.state, board.is_connected));
    }
    write_fact(html, "Connection",
               (board.is_connected ? std::string("connected") : std::string("not connected")) +
                   (board.transport.empty() ? "" : "; the tracker reaches it by " + board.transport));
    write_fact(html, "Holder", board.lease == 0 ? "free" : board.holder);
    write_fact(
        html, "On the same machine",
        join(", ", board.same_machine) + (board.blocked_by.empty() ? "" : "; " + board.blocked_by + " is leased"));
    write_fact(html, "Waiting", WaitingCount(view.queue).of(board));
    if (board.is_connected) {
      write_fact(html, "Temperature", temperature_text(board.millidegrees) + (board.is_throttled ? ", throttled" : ""));
      write_fact(html, "Load", load_text(board.load_permille));
    }
  }
  if (board.lease != 0 && (viewer.role == wire::Role::admin || viewer.holder == board.holder)) {
    write_button(html, viewer, "/end-lease", {{"lease", std::to_string(board.lease)}, {"board", board.name}},
                 "Release the lease", "Release the lease of " + board.holder + " on " + board.name);
  }
}

void write_hardware(html::Html& html, const wire::Description& description) {
  const auto section = html.open("section", {{"aria-labelledby", "hardware-title"}});
  html.element("h2", "Hardware", {{"id", "hardware-title"}});
  std::vector<std::string> devices;
  for (const wire::Accelerator& device : description.accelerators) {
    devices.push_back(device.kind + (device.arch.empty() ? "" : " " + device.arch));
  }
  const auto facts = html.open("dl", {{"class", "facts"}});
  write_fact(html, "Model", description.model);
  write_fact(html, "Architecture", description.arch);
  write_fact(html, "CPU", description.cpu);
  write_fact(html, "Cores", std::to_string(description.cores));
  write_fact(html, "Memory", bytes_text(description.memory_bytes));
  write_fact(html, "Devices", join(", ", devices));
  write_fact(html, "Features", join(", ", description.features));
  write_fact(html, "Tags", tags_text(description.tags));
  write_fact(html, "rpc_server", description.server_version);
}

void write_orders(html::Html& html, const Viewer& viewer, const wire::DeviceListing& board) {
  if (viewer.role != wire::Role::admin) return;
  const auto section = html.open(
      "section", {{"id", "orders"}, {"data-live", ""}, {"class", "orders"}, {"aria-labelledby", "orders-title"}});
  html.element("h2", "Orders", {{"id", "orders-title"}});
  html.element("p", "A lease that is running goes on.");
  const auto button = [&](const char* order, const char* label) {
    write_button(html, viewer, "/order", {{"board", board.name}, {"order", order}}, label,
                 std::string(label) + ": " + board.name);
  };
  if (board.state == "maintenance" || board.state == "retired" || board.state == "bad" || board.state == "suspect") {
    button("return", "Return to service");
  }
  if (board.state != "maintenance" && board.state != "retired") button("maintain", "Drain for maintenance");
  if (board.state != "retired") {
    const auto details = html.open("details", {{"id", "retire"}});
    html.element("summary", "Retire");
    html.element("p", "No lease gets a retired board until it is returned to service.");
    button("retire", "Retire the board");
  }
}

void write_health(html::Html& html, const Result<wire::HealthPage>& health) {
  const auto section = html.open("section", {{"id", "health"}, {"data-live", ""}, {"aria-labelledby", "health-title"}});
  html.element("h2", "Health", {{"id", "health-title"}});
  if (!health.is_ok()) return write_failure(html, health.status().message());
  if (health.value().checks.empty()) {
    html.element("p", "No check has run yet.");
    return;
  }
  write_health_chart(html, health.value().checks);
  const auto details = html.open("details", {{"id", "health-table"}});
  html.element("summary", "All checks as a table");
  const Table table(html, "Health checks, newest first",
                    {"Time (UTC)", "Check", "#Median", "#Baseline", "Verdict", "#Temperature", "Remarks"});
  const auto body = html.open("tbody");
  for (const wire::HealthListing& check : health.value().checks) {
    const auto row = html.open("tr");
    {
      const auto head = html.open("th", {{"scope", "row"}});
      write_time(html, check.at_ms);
    }
    write_cell(html, check.job);
    write_number(html, picoseconds_text(check.picoseconds));
    write_number(html, check.baseline_picoseconds == 0 ? "none yet" : picoseconds_text(check.baseline_picoseconds));
    html.element("td", check.verdict, {{"class", check.verdict == "failed" ? "warning" : "quiet"}});
    write_number(html, temperature_text(check.millidegrees));
    write_cell(html, check.text);
  }
}

void write_sessions(html::Html& html, const Result<wire::SessionPage>& sessions) {
  const auto section =
      html.open("section", {{"id", "sessions"}, {"data-live", ""}, {"aria-labelledby", "sessions-title"}});
  html.element("h2", "Sessions", {{"id", "sessions-title"}});
  if (!sessions.is_ok()) return write_failure(html, sessions.status().message());
  if (sessions.value().sessions.empty()) {
    html.element("p", "No session has ended on this board yet.");
    return;
  }
  const Table table(html, "Sessions that have ended, newest first",
                    {"End (UTC)", "Holder", "Client", "#Length", "Result"});
  const auto body = html.open("tbody");
  for (const wire::SessionListing& session : sessions.value().sessions) {
    const auto row = html.open("tr");
    {
      const auto head = html.open("th", {{"scope", "row"}});
      write_time(html, session.ended_ms);
    }
    write_cell(html, session.holder);
    write_cell(html, session.client);
    write_number(html, span_text(session.length_ms));
    const auto cell = html.open("td");
    if (session.failure.empty()) {
      html.element("span", "completed", {{"class", "quiet"}});
      continue;
    }
    const auto details = html.open("details", {{"id", "session-" + std::to_string(session.number)}});
    html.element("summary", "crash report", {{"class", "warning"}});
    const auto report = html.open("pre");
    html.lines(session.failure);
  }
}

void write_leases(html::Html& html, const Viewer& viewer, const std::string& board,
                  const Result<wire::HistoryPage>& leases) {
  const auto section = html.open("section", {{"id", "leases"}, {"data-live", ""}, {"aria-labelledby", "leases-title"}});
  html.element("h2", "Past leases", {{"id", "leases-title"}});
  if (!leases.is_ok()) return write_failure(html, leases.status().message());
  write_history_table(html, leases.value());
  const auto links = html.open("p");
  write_link(html, "All leases of this board", link("/history", {{"board", board}}));
  if (viewer.role != wire::Role::admin) return;
  html.text(" · ");
  write_link(html, "Orders to this board in the audit log", link("/audit", {{"board", board}}));
}

}  // namespace

std::string write_board_page(const Viewer& viewer, const BoardView& view) {
  return write_page(viewer, view.board.name, "/board", [&](html::Html& html) {
    write_now(html, viewer, view);
    write_orders(html, viewer, view.board);
    write_hardware(html, view.board.description);
    write_health(html, view.health);
    write_sessions(html, view.sessions);
    write_leases(html, viewer, view.board.name, view.leases);
  });
}

}  // namespace ferry::farm::http
