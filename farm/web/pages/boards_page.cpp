#include "farm/web/pages/boards_page.h"

#include <map>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/protocol/shown_state.h"
#include "farm/web/pages/reading.h"
#include "farm/web/pages/url.h"
#include "farm/web/pages/waiting_count.h"

namespace ferry::farm::http {
namespace {

void write_search(html::Html& html, const std::string& selector) {
  const auto form = html.open("form", {{"method", "get"}, {"action", "/"}, {"class", "search"}, {"role", "search"}});
  html.element("label", "Selector", {{"for", "selector"}});
  html.single("input", {{"id", "selector"},
                        {"name", "selector"},
                        {"type", "text"},
                        {"maxlength", std::to_string(wire::kMaxSelector)},
                        {"placeholder", "arch=aarch64,memory>=2G"},
                        {"autocomplete", "off"},
                        {"spellcheck", "false"},
                        {"value", selector}});
  html.element("button", "Show", {{"type", "submit"}});
  if (!selector.empty()) write_link(html, "All boards", "/");
}

// One sentence, which screen readers announce whenever it changes.
std::string summary(const BoardsView& view) {
  std::map<std::string, std::size_t> states;
  std::size_t leased = 0;
  for (const wire::DeviceListing& board : view.boards.devices) {
    ++states[shown_state(board.state, board.is_connected)];
    leased += board.lease != 0;
  }
  const std::size_t count = view.boards.devices.size(), waiting = view.queue.requests.size();
  std::string text =
      format("%s%zu %s", view.boards.has_more ? "The first " : "", count, count == 1 ? "board" : "boards");
  for (const auto& [state, number] : states)
    text += format("%s%zu %s", state == states.begin()->first ? ": " : ", ", number, state.c_str());
  return text + format("; %zu leased; %zu%s %s waiting", leased, waiting, view.queue.has_more ? "+" : "",
                       waiting == 1 ? "request" : "requests");
}

std::string hardware(const wire::Description& board) {
  std::string text = board.model;
  if (!board.arch.empty()) text += (text.empty() ? "" : ", ") + board.arch;
  for (const wire::Accelerator& device : board.accelerators) {
    text += ", " + device.kind + (device.arch.empty() ? "" : " " + device.arch);
  }
  return text;
}

void write_board(html::Html& html, const Viewer& viewer, const wire::DeviceListing& board,
                 const WaitingCount& waiting) {
  const auto row = html.open("tr");
  write_row_head(html, board.name, board_link(board.name));
  {
    const auto cell = html.open("td");
    const std::string shown = shown_state(board.state, board.is_connected);
    write_state(html, shown);
    if (!board.is_connected)
      html.element("span", "not connected" + (shown == board.state ? "" : "; it was " + board.state),
                   {{"class", "note"}});
  }
  if (board.lease == 0) {
    const auto cell = html.open("td", {{"class", "quiet"}});
    html.text("free");
    if (!board.blocked_by.empty())
      html.element("span", board.blocked_by + " of the same machine is leased", {{"class", "note"}});
  } else {
    const auto cell = html.open("td");
    html.text(board.holder);
    if (board.holder == viewer.holder) html.element("span", "you", {{"class", "note"}});
  }
  write_number(html, waiting.of(board));
  {
    const auto cell = html.open("td", {{"class", "number"}});
    html.text(board.is_connected ? temperature_text(board.millidegrees) : "-");
    if (board.is_connected && board.is_throttled) html.element("span", "throttled", {{"class", "note warning"}});
  }
  write_number(html, board.is_connected ? load_text(board.load_permille) : "-");
  {
    const auto cell = html.open("td");
    html.text(hardware(board.description));
    if (!board.transport.empty()) html.element("span", board.transport, {{"class", "note"}});
  }
}

}  // namespace

std::string write_boards_page(const Viewer& viewer, const BoardsView& view) {
  return write_page(viewer, "Boards", "/", [&](html::Html& html) {
    write_search(html, view.selector);
    if (!view.failure.empty()) return write_failure(html, view.failure);
    html.element("p", summary(view), {{"id", "summary"}, {"role", "status"}, {"data-live-text", ""}});
    const auto section = html.open("section", {{"id", "boards"}, {"data-live", ""}});
    if (view.boards.devices.empty()) {
      html.element("p", view.selector.empty() ? "No board has joined yet." : "No board matches this selector.");
      return;
    }
    {
      const Table table(html, "Boards of the farm",
                        {"Board", "State", "Holder", "#Waiting", "#Temperature", "#Load", "Hardware"});
      const auto body = html.open("tbody");
      const WaitingCount waiting(view.queue);
      for (const wire::DeviceListing& board : view.boards.devices) write_board(html, viewer, board, waiting);
    }
    if (view.boards.has_more) {
      write_more(html, link("/", {{"selector", view.selector}, {"after", view.boards.devices.back().name}}));
    }
  });
}

}  // namespace ferry::farm::http
