#include "host/text/report_page.h"

#include "host/text/report_style.h"

namespace ferry::html {

namespace {

void write_head(Html& html, const std::string& title) {
  const auto head = html.open("head");
  html.single("meta", {{"charset", "utf-8"}});
  html.single("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.single("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  // Says to browsers what tests say to us: nothing on this page comes from elsewhere or runs.
  html.single("meta", {{"http-equiv", "Content-Security-Policy"},
                       {"content", "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'"}});
  html.element("title", title);
  const auto style = html.open("style");
  html.lines(report_style());
}

}  // namespace

std::string write_page(const PageTexts& texts, const std::function<void(Html&)>& body) {
  Html html;
  {
    const auto root = html.open("html", {{"lang", "en"}});
    write_head(html, texts.title);
    const auto page = html.open("body");
    html.element("a", "Skip to the results", {{"class", "skip"}, {"href", "#results"}});
    html.element("header", texts.command);
    {
      const auto content = html.open("main", {{"id", "results"}, {"tabindex", "-1"}});
      html.element("h1", texts.heading);
      body(html);
    }
    html.element("footer", texts.footer);
  }
  return html.take();
}

void write_fact(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  const auto entry = html.open("div");
  html.element("dt", name);
  html.element("dd", value);
}

void write_lines(Html& html, const std::string& text, const std::string& name) {
  if (text.find('\n') == std::string::npos) return html.element("p", text);
  // Scrolls, so the keyboard must reach it.
  const auto lines =
      html.open("pre", {{"class", "lines"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", name}});
  html.lines(text);
}

}  // namespace ferry::html
