#include "farm/web/pages/plain_pages.h"

namespace ferry::farm::http {

std::string write_login_page(const Viewer& viewer) {
  return write_page(viewer, "Log in", "/login", [&](html::Html& html) {
    const auto form = html.open("form", {{"method", "post"}, {"action", "/login"}, {"class", "login"}});
    html.single("input", {{"type", "hidden"}, {"name", "csrf"}, {"value", viewer.csrf}});
    html.element("label", "Token", {{"for", "token"}});
    html.single("input", {{"id", "token"},
                          {"name", "token"},
                          {"type", "password"},
                          {"autocomplete", "current-password"},
                          {"required", ""},
                          {"maxlength", "256"},
                          {"aria-describedby", "token-help"}});
    html.element("p", "An admin of the farm makes tokens with: ferry farm token NAME", {{"id", "token-help"}});
    html.element("button", "Log in", {{"type", "submit"}});
  });
}

std::string write_message_page(const Viewer& viewer, std::string_view title, std::string_view text) {
  return write_page(viewer, title, "", [&](html::Html& html) {
    html.element("p", text);
    const auto paragraph = html.open("p");
    write_link(html, "All boards", "/");
  });
}

}  // namespace ferry::farm::http
