#include "farm/web/pages/tokens_page.h"

#include "farm/web/pages/reading.h"
#include "farm/web/pages/url.h"

namespace ferry::farm::http {
namespace {

void write_form(html::Html& html, const Viewer& viewer) {
  const auto form = html.open("form", {{"method", "post"}, {"action", "/make-token"}, {"class", "search"}});
  html.single("input", {{"type", "hidden"}, {"name", "csrf"}, {"value", viewer.csrf}});
  write_text_field(html, "holder", "Whose", "");
  html.element("label", "Role", {{"for", "role"}});
  {
    const auto select = html.open("select", {{"id", "role"}, {"name", "role"}});
    for (const char* role : {"viewer", "user", "admin"}) html.element("option", role, {{"value", role}});
  }
  write_text_field(html, "days", "Days", "90");
  html.element("button", "Make a token", {{"type", "submit"}});
}

std::string state_of(const wire::CredentialListing& token, std::uint64_t now_ms) {
  if (token.revoked_ms) return "revoked";
  return token.expires_ms && *token.expires_ms <= now_ms ? "expired" : "valid";
}

void write_tokens(html::Html& html, const Viewer& viewer, const TokensView& view) {
  const Table table(html, "Tokens", {"Holder", "Role", "State", "Expires (UTC)", "Revoked (UTC)", "Action"});
  const auto body = html.open("tbody");
  for (const wire::CredentialListing& token : view.credentials.credentials) {
    if (token.kind != wire::CredentialKind::token) continue;
    const std::string state = state_of(token, view.now_ms);
    const auto row = html.open("tr");
    write_row_head(html, token.name, "");
    html.element("td", std::string(word_of(wire::kRoles, token.role)), {{"class", "word"}});
    html.element("td", state, {{"class", "word"}});
    for (const auto& time : {token.expires_ms, token.revoked_ms}) {
      const auto cell = html.open("td");
      if (time) {
        write_time(html, *time);
      } else {
        html.element("span", "never", {{"class", "quiet"}});
      }
    }
    const auto cell = html.open("td");
    if (state != "valid") continue;
    write_button(html, viewer, "/revoke-token", {{"holder", token.name}}, "Revoke",
                 "Revoke all tokens of " + token.name);
  }
}

}  // namespace

std::string write_tokens_page(const Viewer& viewer, const TokensView& view) {
  return write_page(viewer, "Tokens", "/tokens", [&](html::Html& html) {
    if (!view.made.empty()) {
      const auto made = html.open("p", {{"role", "status"}, {"class", "alert"}});
      html.text("The new token, which is never shown again: ");
      html.element("code", view.made);
    }
    write_form(html, viewer);
    const auto section = html.open("section", {{"id", "tokens"}});
    write_tokens(html, viewer, view);
    if (view.credentials.has_more) {
      const std::uint64_t next = view.after + view.credentials.credentials.size();
      write_more(html, link("/tokens", {{"after", std::to_string(next)}}));
    }
  });
}

}  // namespace ferry::farm::http
