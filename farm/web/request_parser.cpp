#include "farm/web/request_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace ferry::farm::http {
namespace {

constexpr std::array<std::string_view, 9> kMethods = {"GET",    "HEAD",    "POST",  "PUT",    "PATCH",
                                                      "DELETE", "OPTIONS", "TRACE", "CONNECT"};
// Headers that decide something must not contradict themselves.
constexpr std::array<std::string_view, 8> kSingle = {"host",   "authorization",  "content-length", "content-type",
                                                     "origin", "sec-fetch-site", "cookie",         "expect"};

struct KeptHeader {
  std::string_view name;
  std::string HttpRequest::* member;
};
// Of several X-Forwarded-For the last one is the proxy's own.
constexpr KeptHeader kKept[] = {
    {"host", &HttpRequest::host},
    {"authorization", &HttpRequest::authorization},
    {"cookie", &HttpRequest::cookie},
    {"origin", &HttpRequest::origin},
    {"sec-fetch-site", &HttpRequest::fetch_site},
    {"content-type", &HttpRequest::content_type},
    {"x-forwarded-for", &HttpRequest::forwarded_for},
};

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

// Takes a line without its end; returns false if there is none that ends in CR LF.
bool take_line(std::string_view& text, std::string_view& line) {
  const std::size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
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

bool parse_length(std::string_view text, std::size_t& length) {
  if (text.empty() || text.size() > 12) return false;
  length = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    length = length * 10 + static_cast<std::size_t>(c - '0');
  }
  return true;
}

struct Refusal {
  int status = 0;  // 0: none
  const char* reason = "";
};

// Refuses a request for which this header alone is reason enough.
Refusal check_header(const HeaderLine& header) {
  if (header.name == "transfer-encoding") return {411, "expected a body with Content-Length"};
  if (header.name == "content-encoding" && lower(header.value) != "identity") {
    return {415, "expected a body without compression"};
  }
  if (header.name == "content-type" && lower(header.value).starts_with("multipart/")) {
    return {415, "expected no multipart body"};
  }
  if (header.name == "expect" && lower(header.value) != "100-continue") return {417, "expected 100-continue"};
  return {};
}

}  // namespace

RequestParser::State RequestParser::refuse(int status, const char* reason) {
  status_ = status;
  reason_ = reason;
  return state_ = State::refused;
}

RequestParser::State RequestParser::parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refuse(400, "expected METHOD TARGET HTTP/1.1");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "expected HTTP/1.1");
  if (!is_one_of(kMethods, method)) return refuse(400, "expected a method of HTTP in capital letters");
  if (target.size() > kMaxTarget || target.substr(0, target.find('?')).size() > kMaxPath) {
    return refuse(414, "the target is too long");
  }
  if (!target.starts_with('/') ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; })) {
    return refuse(400, "expected a target that starts with a slash");
  }
  request_.method = method;
  request_.target = target;
  return state_;
}

RequestParser::State RequestParser::parse_headers(std::string_view lines, bool is_http_1_1) {
  std::set<std::string> seen;
  std::size_t count = 0;
  for (std::string_view line; !lines.empty();) {
    if (!take_line(lines, line)) return refuse(400, "expected lines that end in CR LF");
    if (line.size() > kMaxHeaderLine || ++count > kMaxHeaders) return refuse(431, "the headers are too large");
    HeaderLine header;
    if (!parse_header(line, header)) return refuse(400, "expected NAME: VALUE");
    if (!seen.insert(header.name).second && is_one_of(kSingle, header.name)) {
      return refuse(400, "expected each header once that decides something");
    }
    if (const Refusal refusal = check_header(header); refusal.status != 0) {
      return refuse(refusal.status, refusal.reason);
    }
    if (header.name == "content-length" && !parse_length(header.value, body_bytes_)) {
      return refuse(400, "expected a number as Content-Length");
    }
    if (header.name == "expect") expects_continue_ = is_http_1_1;
    for (const KeptHeader& kept : kKept) {
      if (kept.name == header.name) request_.*kept.member = header.value;
    }
  }
  const bool is_post = request_.method == "POST";
  if (is_http_1_1 && !seen.contains("host")) return refuse(400, "expected the header Host");
  if (is_post && !seen.contains("content-length")) return refuse(411, "expected the header Content-Length");
  if (body_bytes_ > kMaxRequestBody) return refuse(413, "the body is too large");
  if (!is_post && body_bytes_ > 0) return refuse(400, "expected no body with this method");
  return state_ = State::body;
}

// `head` lacks the empty line at its end.
RequestParser::State RequestParser::parse_head(std::string_view head) {
  std::string_view line;
  if (!take_line(head, line)) return refuse(400, "expected lines that end in CR LF");
  if (parse_request_line(line) == State::refused) return state_;
  return parse_headers(head, line.ends_with("1.1"));
}

RequestParser::State RequestParser::add(std::string_view bytes) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  if (state_ == State::head) {
    const std::size_t from = head_.size() < kEnd.size() ? 0 : head_.size() - kEnd.size();
    head_ += bytes;
    const std::size_t end = head_.find(kEnd, from);
    const std::size_t size = end == std::string::npos ? head_.size() : end + kEnd.size();
    if (size > kMaxHead) return refuse(431, "the headers are too large");
    if (end == std::string::npos) return state_;
    if (parse_head(std::string_view(head_).substr(0, end + 2)) == State::refused) return state_;
    bytes.remove_prefix(bytes.size() - (head_.size() - size));
    head_.clear();
  }
  if (state_ != State::body) return state_;
  request_.body += bytes.substr(0, body_bytes_ - request_.body.size());
  if (request_.body.size() == body_bytes_) state_ = State::whole;
  return state_;
}

}  // namespace ferry::farm::http
