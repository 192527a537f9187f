#include "farm/web/request_head.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace ferry::farm::http {
namespace {

// Ranges of responses and their compression would only cost us; a proxy can do both. What a client expects it has got
// before the library sees the head.
constexpr std::array<std::string_view, 6> kDropped = {"range", "if-range", "accept-encoding",
                                                      "te",    "upgrade",  "expect"};
// Headers that decide something must not contradict themselves.
constexpr std::array<std::string_view, 8> kSingle = {"host",   "authorization",  "content-length", "content-type",
                                                     "origin", "sec-fetch-site", "cookie",         "expect"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

CheckedHead refuse(int status, const char* reason) {
  CheckedHead head;
  head.status = status;
  head.reason = reason;
  return head;
}

// Takes a line without its end; returns false if there is none that ends in CR LF.
bool take_line(std::string_view& text, std::string_view& line) {
  const std::size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

CheckedHead check_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refuse(400, "expected METHOD TARGET HTTP/1.1");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "expected HTTP/1.1");
  const bool is_method = !method.empty() && method.size() <= 16 &&
                         std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!is_method) return refuse(400, "expected a method in capital letters");
  if (target.size() > kMaxTarget || target.substr(0, target.find('?')).size() > kMaxPath) {
    return refuse(414, "the target is too long");
  }
  if (!target.starts_with('/') ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; })) {
    return refuse(400, "expected a target that starts with a slash");
  }
  return {};
}

struct HeaderLine {
  std::string name;  // in lower case
  std::string_view value;
};

bool parse_header(std::string_view line, HeaderLine& header) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  if (!std::all_of(name.begin(), name.end(), is_token_char)) return false;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f; };
  if (std::any_of(value.begin(), value.end(), is_control)) return false;
  header = {lower(name), value};
  return true;
}

// Refuses a request for which this header alone is reason enough.
CheckedHead check_header(const HeaderLine& header) {
  if (header.name == "transfer-encoding") return refuse(411, "expected a body with Content-Length");
  if (header.name == "content-encoding" && lower(header.value) != "identity") {
    return refuse(415, "expected a body without compression");
  }
  if (header.name == "content-type" && lower(header.value).starts_with("multipart/")) {
    return refuse(415, "expected no multipart body");
  }
  if (header.name == "expect" && lower(header.value) != "100-continue") return refuse(417, "expected 100-continue");
  return {};
}

bool parse_length(std::string_view text, std::size_t& length) {
  if (text.empty() || text.size() > 12) return false;
  length = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    length = length * 10 + static_cast<std::size_t>(c - '0');
  }
  return true;
}

}  // namespace

CheckedHead check_head(std::string_view head) {
  std::string_view line;
  if (!take_line(head, line)) return refuse(400, "expected lines that end in CR LF");
  CheckedHead result = check_request_line(line);
  if (result.status != 0) return result;
  const bool is_http_1_1 = line.ends_with("1.1"), is_post = line.starts_with("POST ");
  result.text = std::string(line) + "\r\n";
  std::set<std::string> seen;
  std::size_t count = 0;
  while (true) {
    if (!take_line(head, line)) return refuse(400, "expected lines that end in CR LF");
    if (line.empty()) break;
    HeaderLine header;
    if (line.size() > kMaxHeaderLine || ++count > kMaxHeaders) return refuse(431, "the headers are too large");
    if (!parse_header(line, header)) return refuse(400, "expected NAME: VALUE");
    if (!seen.insert(header.name).second && is_one_of(kSingle, header.name)) {
      return refuse(400, "expected each header once that decides something");
    }
    if (CheckedHead refused = check_header(header); refused.status != 0) return refused;
    if (header.name == "content-length" && !parse_length(header.value, result.body_bytes)) {
      return refuse(400, "expected a number as Content-Length");
    }
    if (header.name == "authorization") result.authorization = std::string(header.value);
    if (header.name == "cookie") result.cookie = std::string(header.value);
    if (header.name == "expect") result.expects_continue = is_http_1_1;
    // Underscores stand for hyphens in some programs' eyes, and for the library's own entries.
    if (is_one_of(kDropped, header.name) || header.name.find('_') != std::string::npos) continue;
    result.text += header.name + ": " + std::string(header.value) + "\r\n";
  }
  if (!head.empty()) return refuse(400, "expected the end of the head");
  if (is_http_1_1 && !seen.contains("host")) return refuse(400, "expected the header Host");
  if (is_post && !seen.contains("content-length")) return refuse(411, "expected the header Content-Length");
  if (result.body_bytes > kMaxRequestBody) return refuse(413, "the body is too large");
  if (!is_post && result.body_bytes > 0) return refuse(400, "expected no body with this method");
  result.text += "\r\n";
  return result;
}

}  // namespace ferry::farm::http
