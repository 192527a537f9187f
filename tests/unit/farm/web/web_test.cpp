// The pages: logging in, forms, and what they show.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/farm/web/site_fixture.h"

using namespace ferry;
using namespace ferry::farm;
using namespace ferry::farm::http;
using ferry::test::ScriptedFarm;
using ferry::test::SiteFixture;

namespace {

const std::vector<std::string> kPages = {"/", "/board?name=rpi4-01", "/queue", "/history", "/audit"};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("nobody sees a page without logging in") {
  SiteFixture fixture;
  for (const std::string& page : kPages) {
    CAPTURE(page);
    const auto response = fixture.get(page);
    CHECK(response.status == 303);
    CHECK(SiteFixture::header(response, "Location") == "/login");
    CHECK(response.body.empty());
  }
  CHECK(fixture.get("/events").status == 401);
  // Neither does a token elsewhere than in the form help.
  fixture.request.authorization = std::string("Bearer ") + ScriptedFarm::kAdmin;
  CHECK(fixture.get("/?token=token-of-an-admin").status == 303);
}

TEST_CASE("a right token leads to the boards, with a cookie that only this site reads") {
  SiteFixture fixture;
  const auto response = fixture.log_in(ScriptedFarm::kUser);
  CHECK(response.status == 303);
  const std::string cookie = SiteFixture::header(response, "Set-Cookie");
  CHECK(contains(cookie, "ferry_session="));
  CHECK(contains(cookie, "; HttpOnly"));
  CHECK(contains(cookie, "; SameSite=Strict"));
  CHECK_FALSE(contains(cookie, "Secure"));
  CHECK(cookie.find(';') == std::string("ferry_session=").size() + 64);
  const auto boards = fixture.get("/");
  CHECK(boards.status == 200);
  CHECK(contains(boards.body, "rpi4-01"));
  CHECK(contains(boards.body, "uwe (user)"));
  CHECK_FALSE(contains(boards.body, ScriptedFarm::kUser));
}

TEST_CASE("behind a proxy cookies are sent over TLS alone and forms come from https") {
  SiteFixture fixture(true);
  const auto response = fixture.log_in(ScriptedFarm::kUser);
  CHECK(response.status == 303);
  CHECK(contains(SiteFixture::header(response, "Set-Cookie"), "__Host-ferry_session="));
  CHECK(contains(SiteFixture::header(response, "Set-Cookie"), "; Secure"));
  fixture.request.origin = "http://farm.example";
  CHECK(fixture.post("/logout", "csrf=" + fixture.csrf()).status == 403);
}

TEST_CASE("wrong tokens are refused, at first by word and then by rate") {
  SiteFixture fixture;
  for (int i = 0; i < 5; ++i) {
    const auto response = fixture.log_in("wrong");
    CHECK(response.status == 403);
    CHECK(contains(response.body, "unknown or revoked"));
    CHECK(SiteFixture::header(response, "Set-Cookie").empty());
  }
  CHECK(fixture.log_in("wrong").status == 429);
  fixture.request.peer = "127.0.0.2";
  CHECK(fixture.log_in("wrong").status == 403);
  fixture.request.peer = "127.0.0.1";
  fixture.request.cookie.clear();
  fixture.passed += std::chrono::seconds(11);
  CHECK(fixture.log_in("wrong").status == 403);
  CHECK(fixture.log_in("wrong").status == 429);
  // Whoever knows a token may share the address of those who do not.
  CHECK(fixture.log_in(ScriptedFarm::kUser).status == 303);
}

TEST_CASE("behind a proxy the rate is that of the address that the proxy names last") {
  SiteFixture fixture(true);
  fixture.request.forwarded_for = "192.0.2.1, 198.51.100.7";
  for (int i = 0; i < 5; ++i) CHECK(fixture.log_in("wrong").status == 403);
  fixture.request.forwarded_for = "203.0.113.99, 198.51.100.7";
  CHECK(fixture.log_in("wrong").status == 429);
  fixture.request.forwarded_for = "198.51.100.7, 192.0.2.1";
  CHECK(fixture.log_in("wrong").status == 403);
}

TEST_CASE("a login form from elsewhere is refused before its token is looked at") {
  SiteFixture fixture;
  const std::string cookie = SiteFixture::cookie_of(fixture.get("/login"));
  const std::string form = "csrf=" + cookie.substr(cookie.find('=') + 1) + "&token=" + ScriptedFarm::kUser;
  SUBCASE("without the cookie of the form") { CHECK(fixture.post("/login", form).status == 403); }
  SUBCASE("with another cookie") {
    fixture.request.cookie = SiteFixture::cookie_of(fixture.get("/login"));
    CHECK(fixture.post("/login", form).status == 403);
  }
  SUBCASE("with an empty cookie and an empty value") {
    fixture.request.cookie = "ferry_login=";
    CHECK(fixture.post("/login", std::string("csrf=&token=") + ScriptedFarm::kUser).status == 403);
  }
  SUBCASE("with another origin") {
    fixture.request.cookie = cookie;
    for (const char* origin : {"http://evil.example", "null", "http://localhost:8081", "https://localhost:8080"}) {
      CAPTURE(origin);
      fixture.request.origin = origin;
      CHECK(fixture.post("/login", form).status == 403);
    }
  }
  SUBCASE("from another site, as the browser says") {
    fixture.request.cookie = cookie;
    fixture.request.fetch_site = "cross-site";
    CHECK(fixture.post("/login", form).status == 403);
  }
  SUBCASE("with the token in the URL") {
    fixture.request.cookie = cookie;
    CHECK(fixture.post(std::string("/login?token=") + ScriptedFarm::kUser, form.substr(0, 69)).status == 403);
  }
  SUBCASE("as JSON") {
    fixture.request.cookie = cookie;
    fixture.request.content_type = "text/plain";
    CHECK(fixture.post("/login", form).status == 400);
  }
  CHECK(fixture.farm.token_lookups() == 0);
}

TEST_CASE("an admin's form orders a board and the page says what was done") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  const auto response = fixture.post("/order", "csrf=" + fixture.csrf() + "&board=rpi4-01&order=maintain");
  CHECK(response.status == 303);
  CHECK(SiteFixture::header(response, "Location") == "/board?name=rpi4-01&done=maintain");
  CHECK(fixture.farm.board("rpi4-01").state == "maintenance");
  CHECK(fixture.farm.audit().back().actor == "ada");
  CHECK(contains(fixture.get("/board?name=rpi4-01&done=maintain").body, "The board is drained"));
  // A link can not make the page say something else.
  CHECK_FALSE(contains(fixture.get("/board?name=rpi4-01&done=%3Cb%3Epurple").body, "purple"));
}

TEST_CASE("a form needs the value of its own session, the own origin and a form's type") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  const std::string other_csrf = fixture.csrf();
  fixture.log_in(ScriptedFarm::kAdmin);
  const std::string order = "&board=rpi4-01&order=retire";
  CHECK(fixture.post("/order", "csrf=" + other_csrf + order).status == 403);
  CHECK(fixture.post("/order", "csrf=" + order).status == 403);
  CHECK(fixture.post("/order?csrf=" + fixture.csrf(), order.substr(1)).status == 403);
  fixture.request.origin = "http://evil.example";
  CHECK(fixture.post("/order", "csrf=" + fixture.csrf() + order).status == 403);
  fixture.request.origin.clear();
  fixture.request.fetch_site = "same-site";
  CHECK(fixture.post("/order", "csrf=" + fixture.csrf() + order).status == 403);
  fixture.request.fetch_site = "same-origin";
  fixture.request.content_type = "text/plain";
  CHECK(fixture.post("/order", "csrf=" + fixture.csrf() + order).status == 400);
  CHECK(fixture.send("POST", "/order").status == 403);
  CHECK(fixture.get("/order?csrf=" + fixture.csrf() + order).status == 405);
  CHECK(fixture.farm.board("rpi4-01").state == "good");
  fixture.request.content_type.clear();
  CHECK(fixture.post("/order", "csrf=" + fixture.csrf() + order).status == 303);
  CHECK(fixture.farm.board("rpi4-01").state == "retired");
}

TEST_CASE("orders that are not allowed, unknown or too long are refused with a page that says why") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kUser);
  const std::string csrf = "csrf=" + fixture.csrf();
  CHECK(fixture.post("/order", csrf + "&board=rpi4-01&order=retire").status == 403);
  CHECK(fixture.post("/end-lease", csrf + "&lease=8").status == 403);
  CHECK(fixture.post("/end-lease", csrf + "&lease=404").status == 404);
  CHECK(fixture.post("/end-lease", csrf + "&lease=x").status == 400);
  CHECK(fixture.post("/order", csrf + "&board=rpi4-01&order=explode").status == 400);
  CHECK(contains(fixture.post("/order", csrf + "&board=rpi4-01&order=%3Cb%3E").body, "&lt;b&gt;"));
  CHECK(fixture.post("/order", csrf + "&order=retire&board=" + std::string(65, 'b')).status == 400);
  const auto own = fixture.post("/end-lease", csrf + "&lease=7");
  CHECK(own.status == 303);
  CHECK(fixture.farm.board("rpi4-01").lease == 0);
}

TEST_CASE("only those who may act see buttons") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kViewer);
  CHECK_FALSE(contains(fixture.get("/board?name=rpi4-01").body, "/order"));
  CHECK_FALSE(contains(fixture.get("/board?name=rpi4-01").body, "/end-lease"));
  // Vera has a request in the queue, which is hers.
  CHECK(contains(fixture.get("/queue").body, "Cancel the request of vera"));
  CHECK_FALSE(contains(fixture.get("/queue").body, "Release"));
  fixture.log_in(ScriptedFarm::kAdmin);
  CHECK(contains(fixture.get("/board?name=rpi4-01").body, "action=\"/order\""));
  CHECK(contains(fixture.get("/board?name=rpi4-01").body, "action=\"/end-lease\""));
}

TEST_CASE("logging out ends the session, and so does revoking its token") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kUser);
  const std::string first = fixture.request.cookie;
  CHECK(fixture.post("/logout", "csrf=" + fixture.csrf()).status == 303);
  CHECK(fixture.get("/").status == 303);
  fixture.log_in(ScriptedFarm::kUser);
  CHECK(fixture.request.cookie != first);
  const auto events = fixture.get("/events");
  REQUIRE(events.events != nullptr);
  CHECK(events.events->is_allowed());
  fixture.farm.revoke_token(ScriptedFarm::kUser);
  CHECK_FALSE(events.events->is_allowed());
  CHECK(fixture.get("/").status == 303);
  CHECK(SiteFixture::header(fixture.get("/"), "Location") == "/login");
}

TEST_CASE("a session that is not used expires, and events alone do not use it") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kUser);
  const auto events = fixture.get("/events");
  for (int i = 0; i < 4; ++i) {
    fixture.passed += std::chrono::minutes(29);
    CHECK(events.events->is_allowed());
  }
  fixture.passed += std::chrono::minutes(5);
  CHECK_FALSE(events.events->is_allowed());
  CHECK(fixture.get("/").status == 303);
}

TEST_CASE("no more than so many streams run at a time") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kUser);
  std::vector<HttpResponse> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(fixture.get("/events"));
  CHECK(streams.back().status == 200);
  CHECK(fixture.get("/events").status == 503);
  streams.pop_back();
  CHECK(fixture.get("/events").status == 200);
}

TEST_CASE("every response says what browsers may do with it") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  for (const std::string target : {"/", "/login", "/missing", "/board?name=missing", "/healthz", "/metrics",
                                   "/api/v1/boards", "/events", "/?a=%", "/assets/x"}) {
    CAPTURE(target);
    const auto response = fixture.get(target);
    const std::string policy = SiteFixture::header(response, "Content-Security-Policy");
    CHECK(contains(policy, "default-src 'none'"));
    CHECK(contains(policy, "frame-ancestors 'none'"));
    CHECK(contains(policy, "base-uri 'none'"));
    CHECK_FALSE(contains(policy, "unsafe"));
    CHECK_FALSE(contains(policy, "*"));
    CHECK(SiteFixture::header(response, "X-Content-Type-Options") == "nosniff");
    CHECK(SiteFixture::header(response, "Referrer-Policy") == "same-origin");
    CHECK(SiteFixture::header(response, "Cache-Control") == "no-store");
    CHECK(SiteFixture::header(response, "Access-Control-Allow-Origin").empty());
  }
}

TEST_CASE("pages refer to nothing but this site and have no styles or scripts of their own") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  for (const std::string& page : kPages) {
    CAPTURE(page);
    const std::string body = fixture.get(page).body;
    for (const char* part : {"http:", "https:", "=\"//", " style=", "<style", " onclick", "javascript:\""}) {
      CAPTURE(part);
      CHECK_FALSE(contains(body, part));
    }
    // The one script is the asset, which is served with its own type.
    const std::size_t script = body.find("<script");
    CHECK(body.find("<script", script + 1) == std::string::npos);
    const std::size_t at = body.find("/assets/", script);
    const auto asset = fixture.get(body.substr(at, body.find('"', at) - at));
    CHECK(asset.status == 200);
    CHECK(contains(asset.content_type, "text/javascript"));
    CHECK(contains(SiteFixture::header(asset, "Cache-Control"), "immutable"));
  }
}

TEST_CASE("every hostile name is shown on every page as text") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  for (const std::string& name : test::hostile_names()) {
    const auto page = fixture.get(link("/board", {{"name", name}}));
    CAPTURE(name);
    CHECK(page.status == 200);
    for (const std::string& other : kPages) {
      const std::string body = other == "/" ? page.body : fixture.get(other).body;
      for (const char* part :
           {"<img", "<h1>owned", "<b>", "<i>", "</script>window", "onmouseover='", "\x1b", "\u202e"}) {
        CAPTURE(part);
        CHECK_FALSE(contains(body, part));
      }
    }
    // What the viewer typed is repeated in filters.
    for (const char* target : {"/history", "/audit"}) {
      const std::string body = fixture.get(link(target, {{"board", name}, {"holder", name}})).body;
      CHECK_FALSE(contains(body, "<img"));
      CHECK_FALSE(contains(body, "\" onerror"));
    }
  }
}

TEST_CASE("a selector that is wrong is explained beside the field that has it") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kViewer);
  const auto response = fixture.get("/?selector=memory%3E%3Dmuch%22%3E");
  CHECK(response.status == 400);
  CHECK(contains(response.body, "value=\"memory&gt;=much&quot;&gt;\""));
  CHECK(contains(response.body, "class=\"failure\""));
  const auto boards = fixture.get("/?selector=tag:rack%3D2,arch%3Driscv64").body;
  CHECK(contains(boards, "visionfive"));
  CHECK_FALSE(contains(boards, "rpi4-01"));
  CHECK(fixture.get("/?selector=" + std::string(1025, 'a')).status == 400);
}

TEST_CASE("a board that the tracker reaches by ssh is shown as such") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kViewer);
  CHECK_FALSE(contains(fixture.get("/").body, ">ssh<"));
  wire::DeviceListing board;
  board.name = "old-pi";
  board.state = "good";
  board.is_connected = true;
  board.transport = "ssh";
  fixture.farm.add_board(board);
  CHECK(contains(fixture.get("/").body, ">ssh<"));
  CHECK(contains(fixture.get("/board?name=old-pi").body, "connected; the tracker reaches it by ssh"));
  CHECK_FALSE(contains(fixture.get("/board?name=rpi4-01").body, "by ssh"));
}

TEST_CASE("pages say which boards are on one machine, and that a board is free but blocked by another one") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kViewer);
  CHECK_FALSE(contains(fixture.get("/").body, "pi-4 of the same machine is leased"));
  wire::DeviceListing board;
  board.name = "pi-3";
  board.state = "good";
  board.is_connected = true;
  board.same_machine = {"pi-4", "pi-5"};
  fixture.farm.add_board(board);
  CHECK(contains(fixture.get("/board?name=pi-3").body, "<dd>pi-4, pi-5</dd>"));
  board.blocked_by = "pi-4";
  fixture.farm.add_board(board);
  CHECK(contains(fixture.get("/").body, "pi-4 of the same machine is leased"));
  CHECK(contains(fixture.get("/board?name=pi-3").body, "<dd>pi-4, pi-5; pi-4 is leased</dd>"));
}

TEST_CASE("long listings continue on further pages") {
  SiteFixture fixture;
  for (int i = 0; i < 150; ++i) {
    wire::DeviceListing board;
    board.name = "zz-" + std::to_string(1000 + i);
    board.state = "good";
    fixture.farm.add_board(board);
  }
  fixture.log_in(ScriptedFarm::kViewer);
  std::string target = "/";
  int pages = 0;
  std::size_t boards = 0;
  while (!target.empty() && pages < 5) {
    const std::string body = fixture.get(target).body;
    ++pages;
    for (std::size_t at = 0; (at = body.find("scope=\"row\"", at)) != std::string::npos; ++at) ++boards;
    const std::size_t next = body.find("/?after=");
    target = next == std::string::npos ? "" : body.substr(next, body.find('"', next) - next);
  }
  CHECK(pages == 2);
  CHECK(boards == 150 + 21);
}

TEST_CASE("a farm that does not answer is a page that says so") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  fixture.farm.set_available(false);
  for (const std::string& page : kPages) CHECK(fixture.get(page).status == 503);
  CHECK(fixture.get("/events").status == 503);
  fixture.farm.set_available(true);
  CHECK(fixture.get("/").status == 200);
}

TEST_CASE("without a proxy only names of this machine are answered to") {
  SiteFixture fixture;
  for (const char* host : {"localhost", "localhost:9", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]"}) {
    CAPTURE(host);
    fixture.request.host = host;
    CHECK(fixture.get("/login").status == 200);
  }
  for (const char* host : {"evil.example", "evil.example:8080", "", "127.0.0.1.evil.example", "localhost.evil", "[::1",
                           "localhost:x", "10.0.0.1", "[::2]"}) {
    CAPTURE(host);
    fixture.request.host = host;
    CHECK(fixture.get("/login").status == 421);
    CHECK(fixture.get("/api/v1/boards").status == 421);
    CHECK(fixture.get("/metrics").status == 421);
  }
}
