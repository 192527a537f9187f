#include "farm/web/pages/listings.h"

#include "base/quantity_text.h"
#include "farm/web/pages/reading.h"
#include "farm/web/pages/url.h"

namespace ferry::farm::http {
namespace {

void write_board_links(html::Html& html, const std::vector<std::string>& boards) {
  const auto cell = html.open("td");
  bool is_first = true;
  for (const std::string& board : boards) {
    if (!is_first) html.text(", ");
    is_first = false;
    write_link(html, board, board_link(board));
  }
  if (boards.empty()) html.element("span", "none", {{"class", "quiet"}});
}

// Who has or wants the boards, and what for.
void write_holder(html::Html& html, const std::string& holder, const std::string& job) {
  const auto head = html.open("th", {{"scope", "row"}});
  html.text(holder);
  if (!job.empty()) html.element("span", job, {{"class", "note"}});
}

void write_end_button(html::Html& html, const Viewer& viewer, std::uint64_t lease, const std::string& holder,
                      const char* label, const std::string& description) {
  const auto cell = html.open("td");
  if (viewer.role != wire::Role::admin && viewer.holder != holder) return;
  write_button(html, viewer, "/end-lease", {{"lease", std::to_string(lease)}}, label, description);
}

void write_current_leases(html::Html& html, const Viewer& viewer, const QueueView& view) {
  const auto section = html.open("section", {{"id", "leases"}, {"data-live", ""}, {"aria-labelledby", "leases-title"}});
  html.element("h2", "Leases", {{"id", "leases-title"}});
  const std::vector<wire::LeaseListing>& leases = view.leases.leases;
  if (leases.empty()) {
    html.element("p", "No board is leased.");
    return;
  }
  {
    const Table table(html, "Leases that are running", {"Holder", "Boards", "Kind", "#Remaining", "Action"});
    const auto body = html.open("tbody");
    for (const wire::LeaseListing& lease : leases) {
      const auto row = html.open("tr");
      write_holder(html, lease.holder, lease.job);
      write_board_links(html, lease.boards);
      write_cell(html, std::string(word_of(wire::kLeaseKinds, lease.kind)));
      write_number(html, span_text(lease.remaining_ms));
      write_end_button(html, viewer, lease.lease, lease.holder, "Release",
                       "Release the lease of " + lease.holder + " on " + join(", ", lease.boards));
    }
  }
  if (view.leases.has_more) {
    write_more(html, link("/queue", {{"leases", std::to_string(leases.back().lease)}}));
  }
}

void write_waiting(html::Html& html, const Viewer& viewer, const QueueView& view) {
  const auto section = html.open("section", {{"id", "queue"}, {"data-live", ""}, {"aria-labelledby", "queue-title"}});
  html.element("h2", "Queue", {{"id", "queue-title"}});
  const std::vector<wire::QueueListing>& requests = view.queue.requests;
  if (requests.empty()) {
    html.element("p", "Nobody is waiting.");
    return;
  }
  {
    const Table table(html, "Requests that wait, in the order in which they are considered",
                      {"Holder", "Wanted", "#Place", "#Priority", "#Waited", "#Estimate", "Action"});
    const auto body = html.open("tbody");
    for (const wire::QueueListing& request : requests) {
      const auto row = html.open("tr");
      write_holder(html, request.holder, request.job);
      {
        const auto cell = html.open("td");
        html.text(join("; ", request.selectors));
        if (!request.blocked_by.empty())
          html.element("span", "waits for " + request.blocked_by + " of the same machine", {{"class", "note"}});
      }
      write_number(html, std::to_string(request.place));
      write_number(html, std::to_string(request.priority));
      write_number(html, span_text(request.waited_ms));
      write_number(html, request.expected_ms ? span_text(*request.expected_ms) : "unknown");
      write_end_button(html, viewer, request.request, request.holder, "Cancel",
                       "Cancel the request of " + request.holder + " for " + join("; ", request.selectors));
    }
  }
  if (view.queue.has_more) {
    write_more(html, link("/queue", {{"requests", std::to_string(requests.back().request)}}));
  }
}

void write_filter(html::Html& html, const char* action, std::initializer_list<std::array<std::string, 3>> fields) {
  const auto form = html.open("form", {{"method", "get"}, {"action", action}, {"class", "search"}, {"role", "search"}});
  for (const auto& [name, label, value] : fields) write_text_field(html, name, label, value);
  html.element("button", "Show", {{"type", "submit"}});
}

}  // namespace

std::string write_queue_page(const Viewer& viewer, const QueueView& view) {
  return write_page(viewer, "Leases and queue", "/queue", [&](html::Html& html) {
    write_current_leases(html, viewer, view);
    write_waiting(html, viewer, view);
  });
}

void write_history_table(html::Html& html, const wire::HistoryPage& history) {
  if (history.leases.empty()) {
    html.element("p", "No lease has ended yet.");
    return;
  }
  const Table table(html, "Leases and requests that have ended, newest first",
                    {"End (UTC)", "Holder", "Boards", "Wanted", "#Waited", "#Length", "End", "Class", "Remarks"});
  const auto body = html.open("tbody");
  for (const wire::HistoryListing& lease : history.leases) {
    const auto row = html.open("tr");
    {
      const auto head = html.open("th", {{"scope", "row"}});
      write_time(html, lease.ended_ms);
    }
    const std::uint64_t start = lease.started_ms.value_or(lease.ended_ms);
    {
      const auto cell = html.open("td");
      html.text(lease.holder);
      if (!lease.job.empty()) html.element("span", lease.job, {{"class", "note"}});
    }
    write_board_links(html, lease.boards);
    write_cell(html, join("; ", lease.selectors));
    write_number(html, span_text(start < lease.submitted_ms ? 0 : start - lease.submitted_ms));
    write_number(html, !lease.started_ms ? "-" : span_text(lease.ended_ms < start ? 0 : lease.ended_ms - start));
    html.element("td", lease.reason, {{"class", "word"}});
    html.element("td", lease.failure_class, {{"class", "word"}});
    write_cell(html, lease.text);
  }
}

std::string write_history_page(const Viewer& viewer, const std::string& board, const std::string& holder,
                               const wire::HistoryPage& history) {
  return write_page(viewer, "History", "/history", [&](html::Html& html) {
    write_filter(html, "/history", {{"board", "Board", board}, {"holder", "Holder", holder}});
    const auto section = html.open("section", {{"id", "history"}, {"data-live", ""}});
    write_history_table(html, history);
    if (history.has_more && !history.leases.empty()) {
      const wire::HistoryListing& last = history.leases.back();
      write_more(html, link("/history", {{"board", board},
                                         {"holder", holder},
                                         {"before_ended", std::to_string(last.ended_ms)},
                                         {"before_lease", std::to_string(last.lease)}}));
    }
  });
}

std::string write_audit_page(const Viewer& viewer, const std::string& board, const wire::AuditPage& audit) {
  return write_page(viewer, "Audit log", "/audit", [&](html::Html& html) {
    write_filter(html, "/audit", {{"board", "Board", board}});
    const auto section = html.open("section", {{"id", "audit"}, {"data-live", ""}});
    if (audit.entries.empty()) {
      html.element("p", "There are no entries.");
      return;
    }
    {
      const Table table(html, "What people did to the farm, newest first",
                        {"Time (UTC)", "Who", "Action", "Board", "Remarks"});
      const auto body = html.open("tbody");
      for (const wire::AuditListing& entry : audit.entries) {
        const auto row = html.open("tr");
        {
          const auto head = html.open("th", {{"scope", "row"}});
          write_time(html, entry.at_ms);
        }
        write_cell(html, entry.actor);
        write_cell(html, entry.action);
        {
          const auto cell = html.open("td");
          if (!entry.board.empty()) write_link(html, entry.board, board_link(entry.board));
        }
        write_cell(html, entry.text);
      }
    }
    if (audit.has_more) {
      write_more(html, link("/audit", {{"board", board}, {"before", std::to_string(audit.entries.back().number)}}));
    }
  });
}

}  // namespace ferry::farm::http
