// A site in front of a scripted farm, and requests to it without sockets.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "farm/web/site/site.h"
#include "tests/support/farm/scripted_farm.h"

namespace ferry::test {

class SiteFixture {
 public:
  explicit SiteFixture(bool behind_proxy = false) : site(farm, options_of(behind_proxy)) {
    farm.add_sample();
    request.host = behind_proxy ? "farm.example" : "localhost:8080";
    request.peer = "127.0.0.1";
  }

  farm::http::HttpResponse send(const std::string& method, const std::string& target) {
    farm::http::HttpRequest sent = request;
    sent.method = method;
    sent.target = target;
    return site.handle(sent);
  }
  farm::http::HttpResponse get(const std::string& target) { return send("GET", target); }

  // With the JSON interface's token in the header.
  farm::http::HttpResponse call(const std::string& token, const std::string& method, const std::string& target,
                                const std::string& body = "") {
    farm::http::HttpRequest sent = request;
    sent.method = method;
    sent.target = target;
    sent.authorization = "Bearer " + token;
    sent.content_type = "application/json";
    sent.body = body;
    return site.handle(sent);
  }

  // As a browser sends a form of a page.
  farm::http::HttpResponse post(const std::string& target, const std::string& form) {
    farm::http::HttpRequest sent = request;
    sent.method = "POST";
    sent.target = target;
    if (sent.origin.empty()) sent.origin = (site.options().behind_proxy ? "https://" : "http://") + sent.host;
    if (sent.content_type.empty()) sent.content_type = "application/x-www-form-urlencoded";
    sent.body = form;
    return site.handle(sent);
  }

  // Returns the response to a login; after a successful one `request` has the session's cookie and csrf() its value.
  farm::http::HttpResponse log_in(const std::string& token) {
    request.cookie.clear();
    const std::string cookie = cookie_of(get("/login"));
    request.cookie = cookie;
    const auto response = post("/login", "csrf=" + cookie.substr(cookie.find('=') + 1) + "&token=" + token);
    if (response.status == 303) request.cookie = cookie_of(response);
    return response;
  }
  std::string csrf() {
    const std::string page = get("/").body;
    const std::string before = "name=\"csrf\" value=\"";
    const std::size_t at = page.find(before);
    return at == std::string::npos ? "" : page.substr(at + before.size(), 64);
  }

  static std::string header(const farm::http::HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return {};
  }
  // "NAME=VALUE" of the first cookie that a response sets.
  static std::string cookie_of(const farm::http::HttpResponse& response) {
    const std::string cookie = header(response, "Set-Cookie");
    return cookie.substr(0, cookie.find(';'));
  }

  std::chrono::seconds passed{0};  // since the start, by the site's clock
  ScriptedFarm farm;
  farm::http::HttpRequest request;
  farm::http::Site site;

 private:
  farm::http::HttpOptions options_of(bool behind_proxy) {
    farm::http::HttpOptions options;
    options.behind_proxy = behind_proxy;
    options.streams = 3;
    options.now = [this] { return farm::http::TimePoint(std::chrono::hours(1000) + passed); };
    return options;
  }
};

}  // namespace ferry::test
