#include "farm/web/pages/page.h"

#include <algorithm>
#include <array>

#include "base/quantity_text.h"
#include "base/unix_time.h"
#include "farm/web/pages/assets.h"
#include "farm/web/pages/reading.h"
#include "farm/web/pages/url.h"

namespace ferry::farm::http {
namespace {

struct Place {
  const char* path;
  const char* label;
  bool is_for_admins = false;
};
constexpr std::array kPlaces = {Place{"/", "Boards"}, Place{"/queue", "Leases and queue"}, Place{"/history", "History"},
                                Place{"/audit", "Audit log", true}, Place{"/tokens", "Tokens", true}};

void write_head(html::Html& html, std::string_view title) {
  const auto head = html.open("head");
  html.single("meta", {{"charset", "utf-8"}});
  html.single("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.single("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.element("title", std::string(title) + " - ferry farm");
  html.single("link", {{"rel", "icon"}, {"href", asset_path("icon.svg")}, {"type", "image/svg+xml"}});
  html.single("link", {{"rel", "stylesheet"}, {"href", asset_path("farm.css")}});
  html.element("script", "", {{"src", asset_path("farm.js")}, {"defer", ""}});
}

void write_navigation(html::Html& html, const Viewer& viewer, std::string_view path) {
  const auto navigation = html.open("nav", {{"aria-label", "Pages"}});
  const auto list = html.open("ul");
  for (const Place& place : kPlaces) {
    if (place.is_for_admins && viewer.role != wire::Role::admin) continue;
    const auto item = html.open("li");
    if (path == place.path) {
      html.element("a", place.label, {{"href", place.path}, {"aria-current", "page"}});
    } else {
      html.element("a", place.label, {{"href", place.path}});
    }
  }
}

void write_header(html::Html& html, const Viewer& viewer, std::string_view path) {
  const auto header = html.open("header");
  html.element("a", "ferry farm", {{"class", "brand"}, {"href", "/"}});
  if (viewer.holder.empty()) return;
  write_navigation(html, viewer, path);
  const auto who = html.open("div", {{"class", "who"}});
  html.element("span", viewer.holder + " (" + std::string(word_of(wire::kRoles, viewer.role)) + ")");
  write_button(html, viewer, "/logout", {}, "Log out", "");
}

}  // namespace

std::string write_page(const Viewer& viewer, std::string_view title, std::string_view path,
                       const std::function<void(html::Html&)>& body) {
  html::Html html;
  {
    const auto root = html.open("html", {{"lang", "en"}});
    write_head(html, title);
    // Says to the script whether there are events to listen to.
    const auto page = html.open("body", {{"data-live-page", viewer.holder.empty() ? "no" : "yes"}});
    html.element("a", "Skip to the content", {{"class", "skip"}, {"href", "#content"}});
    write_header(html, viewer, path);
    {
      const auto content = html.open("main", {{"id", "content"}, {"tabindex", "-1"}});
      if (!viewer.alert.empty()) html.element("p", viewer.alert, {{"role", "alert"}, {"class", "alert"}});
      html.element("h1", title);
      body(html);
    }
    const auto footer = html.open("footer");
    html.text("As of ");
    const auto time = html.open("span", {{"id", "as-of"}, {"data-live", ""}});
    write_time(html, static_cast<std::uint64_t>(unix_milliseconds()));
    html.text(" UTC");
  }
  return html.take();
}

void write_button(html::Html& html, const Viewer& viewer, const std::string& action, const HiddenFields& fields,
                  std::string_view label, const std::string& description) {
  const auto form = html.open("form", {{"method", "post"}, {"action", action}, {"class", "button"}});
  html.single("input", {{"type", "hidden"}, {"name", "csrf"}, {"value", viewer.csrf}});
  for (const auto& [name, value] : fields) {
    html.single("input", {{"type", "hidden"}, {"name", name}, {"value", value}});
  }
  if (description.empty()) {
    html.element("button", label, {{"type", "submit"}});
  } else {
    html.element("button", label, {{"type", "submit"}, {"aria-label", description}});
  }
}

void write_text_field(html::Html& html, const std::string& name, std::string_view label, const std::string& value) {
  html.element("label", label, {{"for", name}});
  html.single("input", {{"id", name},
                        {"name", name},
                        {"type", "text"},
                        {"maxlength", std::to_string(wire::kMaxText)},
                        {"autocomplete", "off"},
                        {"spellcheck", "false"},
                        {"value", value}});
}

void write_row_head(html::Html& html, std::string_view text, const std::string& href) {
  const auto head = html.open("th", {{"scope", "row"}});
  if (href.empty()) {
    html.text(text);
  } else {
    write_link(html, text, href);
  }
}

void write_cell(html::Html& html, std::string_view text) { html.element("td", text); }

void write_number(html::Html& html, std::string_view text) { html.element("td", text, {{"class", "number"}}); }

void write_time(html::Html& html, std::uint64_t milliseconds) {
  html.element("time", time_text(milliseconds), {{"datetime", iso_time_text(milliseconds)}});
}

void write_link(html::Html& html, std::string_view text, const std::string& href) {
  html.element("a", text.empty() ? "(no name)" : text, {{"href", href}});
}

void write_state(html::Html& html, std::string_view state) {
  constexpr std::array<std::string_view, 7> kStates = {"good", "away",        "unknown", "suspect",
                                                       "bad",  "maintenance", "retired"};
  const bool is_known = std::find(kStates.begin(), kStates.end(), state) != kStates.end();
  html.element("span", state, {{"class", "state state-" + std::string(is_known ? state : "other")}});
}

void write_more(html::Html& html, const std::string& href) {
  const auto paragraph = html.open("p");
  html.element("a", "Next page", {{"href", href}, {"rel", "next"}});
}

void write_failure(html::Html& html, std::string_view message) { html.element("p", message, {{"class", "failure"}}); }

std::string board_link(std::string_view name) { return link("/board", {{"name", name}}); }

}  // namespace ferry::farm::http
