#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "farm/web/request_parser.h"
#include "farm/web/response_text.h"
#include "farm/web/site/site.h"
#include "tests/fuzz/inputs/targets.h"
#include "tests/support/farm/scripted_farm.h"

namespace ferry::fuzz {
namespace {

using namespace ferry::farm::http;

struct FuzzedSite {
  FuzzedSite() : site(farm, {}) {
    farm.add_sample();
    HttpRequest request;
    request.host = "localhost";
    request.peer = "127.0.0.1";
    request.method = "GET";
    request.target = "/login";
    request.cookie = cookie_of(site.handle(request));
    request.method = "POST";
    request.origin = "http://localhost";
    request.content_type = "application/x-www-form-urlencoded";
    request.body =
        "csrf=" + request.cookie.substr(request.cookie.find('=') + 1) + "&token=" + test::ScriptedFarm::kAdmin;
    cookie = cookie_of(site.handle(request));
    request.method = "GET";
    request.target = "/";
    request.cookie = cookie;
    const std::string page = site.handle(request).body, before = "name=\"csrf\" value=\"";
    csrf = page.substr(page.find(before) + before.size(), 64);
  }

  static std::string cookie_of(const HttpResponse& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "Set-Cookie") return value.substr(0, value.find(';'));
    }
    __builtin_trap();
  }

  test::ScriptedFarm farm;
  Site site;
  std::string cookie, csrf;  // an admin who has logged in
};

// The name at the start of the text; removes it.
std::string take_name(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) || text[length] == '-'))
    ++length;
  const std::string name(text.substr(0, length));
  text.remove_prefix(length);
  return name;
}

// Whether a tag, without its brackets, is one that our pages have, with attributes that they have.
bool is_known_tag(std::string_view tag) {
  static const std::set<std::string, std::less<>> kTags = {
      "a",    "body",       "button", "caption", "circle", "dd",      "desc", "details", "div",   "dl",
      "dt",   "figcaption", "figure", "footer",  "form",   "g",       "h1",   "h2",      "head",  "header",
      "html", "input",      "label",  "li",      "line",   "link",    "main", "meta",    "nav",   "p",
      "path", "pre",        "script", "section", "span",   "summary", "svg",  "table",   "tbody", "td",
      "text", "th",         "thead",  "time",    "title",  "tr",      "ul"};
  static const std::set<std::string, std::less<>> kAttributes = {"action",
                                                                 "aria-current",
                                                                 "aria-describedby",
                                                                 "aria-label",
                                                                 "aria-labelledby",
                                                                 "autocomplete",
                                                                 "charset",
                                                                 "class",
                                                                 "content",
                                                                 "cx",
                                                                 "cy",
                                                                 "d",
                                                                 "data-live",
                                                                 "data-live-page",
                                                                 "data-live-text",
                                                                 "datetime",
                                                                 "defer",
                                                                 "for",
                                                                 "href",
                                                                 "id",
                                                                 "lang",
                                                                 "maxlength",
                                                                 "method",
                                                                 "name",
                                                                 "placeholder",
                                                                 "r",
                                                                 "rel",
                                                                 "required",
                                                                 "role",
                                                                 "scope",
                                                                 "spellcheck",
                                                                 "src",
                                                                 "tabindex",
                                                                 "text-anchor",
                                                                 "type",
                                                                 "value",
                                                                 "viewBox",
                                                                 "x",
                                                                 "x1",
                                                                 "x2",
                                                                 "y",
                                                                 "y1",
                                                                 "y2"};
  const bool is_end = tag.starts_with('/');
  if (is_end) tag.remove_prefix(1);
  if (!kTags.contains(take_name(tag))) return false;
  while (!is_end && tag.starts_with(' ')) {
    tag.remove_prefix(1);
    const std::string name = take_name(tag);
    if (!kAttributes.contains(name)) return false;
    if (!tag.starts_with("=\"")) continue;
    tag.remove_prefix(2);
    const std::size_t end = tag.find('"');
    if (end == std::string_view::npos) return false;
    const bool is_reference = name == "href" || name == "src" || name == "action";
    if (is_reference && (!tag.starts_with('/') || tag.starts_with("//")) && !tag.starts_with('#')) return false;
    tag.remove_prefix(end + 1);
  }
  return tag.empty();
}

bool is_known_header(std::string_view name) {
  static const std::set<std::string_view> kHeaders = {"Allow",
                                                      "Cache-Control",
                                                      "Connection",
                                                      "Content-Length",
                                                      "Content-Security-Policy",
                                                      "Content-Type",
                                                      "Cross-Origin-Opener-Policy",
                                                      "Cross-Origin-Resource-Policy",
                                                      "Location",
                                                      "Referrer-Policy",
                                                      "Retry-After",
                                                      "Set-Cookie",
                                                      "WWW-Authenticate",
                                                      "X-Accel-Buffering",
                                                      "X-Content-Type-Options",
                                                      "X-Frame-Options"};
  return kHeaders.contains(name);
}

bool is_harmless(std::string_view html) {
  constexpr std::string_view kType = "!doctype html";
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string_view::npos;) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return false;
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    if (tag != kType && !is_known_tag(tag)) return false;
    at = end;
  }
  return true;
}

std::string with_length(const std::string& head, const std::string& body) {
  return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The first byte says whose request it is: what follows is raw, or the first line is its target and the rest its body.
std::string request_of(const FuzzedSite& fuzzed, Input input) {
  const std::string text(input.begin() + 1, input.end());
  if (input[0] % 4 == 0) return text;
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string target = text.substr(0, line), rest = text.substr(std::min(text.size(), line + 1));
  const std::string head = target + " HTTP/1.1\r\nHost: localhost\r\n";
  switch (input[0] % 4) {
    case 1: return "GET " + head + "Cookie: " + fuzzed.cookie + "\r\n\r\n";
    case 2:
      return with_length("POST " + head + "Cookie: " + fuzzed.cookie +
                             "\r\nOrigin: http://localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n",
                         "csrf=" + fuzzed.csrf + "&" + rest);
    default:
      return with_length((rest.empty() ? "GET " : "POST ") + head +
                             "Authorization: Bearer token-of-an-admin\r\nContent-Type: application/json\r\n",
                         rest);
  }
}

// Answers what is sent, which must be the same request whether it arrives in one piece or in two. Returns its method.
std::string answer(FuzzedSite& fuzzed, const std::string& sent, HttpResponse& response) {
  RequestParser parser, divided;
  parser.add(sent);
  const std::size_t cut = sent.empty() ? 0 : static_cast<std::uint8_t>(sent[sent.size() / 2]) % sent.size();
  divided.add(sent.substr(0, cut));
  divided.add(sent.substr(cut));
  HttpRequest& request = parser.request();
  const HttpRequest& other = divided.request();
  if (parser.state() != divided.state() || parser.status() != divided.status()) __builtin_trap();
  if (request.target != other.target || request.cookie != other.cookie || request.body != other.body) __builtin_trap();
  if (request.body.size() > kMaxRequestBody) __builtin_trap();
  if (parser.state() == RequestParser::State::whole) {
    request.peer = "127.0.0.1";
    response = fuzzed.site.handle(request);
    return request.method;
  }
  if (parser.state() != RequestParser::State::refused) parser.refuse(408, "the request took too long");
  if (parser.status() < 400 || parser.status() > 599) __builtin_trap();
  response = Site::refusal(parser.status(), parser.reason());
  return request.method;
}

}  // namespace

void fuzz_http(Input input) {
  if (input.empty()) return;
  // The farm changes with the requests, and is made again before it becomes large.
  static std::unique_ptr<FuzzedSite> fuzzed;
  static int left = 0;
  if (left-- == 0) {
    fuzzed = std::make_unique<FuzzedSite>();
    left = 200;
  }
  HttpResponse response;
  const std::string method = answer(*fuzzed, request_of(*fuzzed, input), response);
  const std::string text = response_text(response, method);
  const std::string_view output = text;
  const std::size_t body = output.find("\r\n\r\n");
  if (!output.starts_with("HTTP/1.1 ") || body == std::string_view::npos) __builtin_trap();
  const std::string_view headers = output.substr(0, body);
  if (headers.find("Content-Security-Policy: default-src 'none'") == std::string_view::npos) __builtin_trap();
  // Nothing that a client has said begins a header of its own.
  for (std::size_t at = 0; (at = headers.find_first_of("\r\n", at)) != std::string_view::npos; at += 2) {
    const std::string_view line = headers.substr(at + 2, headers.find('\r', at + 2) - at - 2);
    if (!headers.substr(at).starts_with("\r\n") || !is_known_header(line.substr(0, line.find(':')))) __builtin_trap();
  }
  if (headers.find("Access-Control") != std::string_view::npos) __builtin_trap();
  if (headers.find("text/html") != std::string_view::npos && !is_harmless(output.substr(body))) __builtin_trap();
}

}  // namespace ferry::fuzz
