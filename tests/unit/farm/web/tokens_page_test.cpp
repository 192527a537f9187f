// The page on which admins make and revoke tokens.
#include <doctest/doctest.h>

#include "tests/unit/farm/web/site_fixture.h"

using ferry::test::ScriptedFarm;
using ferry::test::SiteFixture;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an admin makes a token that expires, sees it once, and revokes it") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);
  CHECK(contains(fixture.get("/").body, "href=\"/tokens\""));
  const std::string form = "csrf=" + fixture.csrf() + "&holder=guest&role=viewer&days=";
  for (const char* days : {"", "0", "36501", "-1", "x", "1e3"})
    CHECK(fixture.post("/make-token", form + days).status == 400);
  CHECK(fixture.post("/make-token", "csrf=" + fixture.csrf() + "&holder=guest&role=root&days=1").status == 400);
  const auto made = fixture.post("/make-token", form + "30");
  CHECK(made.status == 200);
  const std::size_t at = made.body.find("<code>");
  REQUIRE(at != std::string::npos);
  const std::string token = made.body.substr(at + 6, made.body.find("</code>") - at - 6);
  CHECK(fixture.call(token, "GET", "/api/v1/boards").status == 200);
  const std::string page = fixture.get("/tokens").body;
  CHECK_FALSE(contains(page, token));
  CHECK(contains(page, "guest"));
  CHECK(contains(page, "1970-01-31"));
  CHECK(contains(page, "expired"));
  CHECK(fixture.post("/revoke-token", "csrf=" + fixture.csrf() + "&holder=guest").status == 303);
  CHECK(contains(fixture.get("/tokens").body, "revoked"));
  CHECK(fixture.post("/revoke-token", "csrf=" + fixture.csrf() + "&holder=nobody").status == 404);
}

TEST_CASE("nobody but admins sees, makes or revokes tokens, and no form from elsewhere does") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kUser);
  const std::string home = fixture.get("/").body;
  CHECK_FALSE(contains(home, "href=\"/tokens\""));
  CHECK_FALSE(contains(home, "href=\"/audit\""));
  CHECK(fixture.get("/tokens").status == 403);
  CHECK(fixture.post("/make-token", "csrf=" + fixture.csrf() + "&holder=eve&role=admin&days=1").status == 403);
  CHECK(fixture.post("/revoke-token", "csrf=" + fixture.csrf() + "&holder=ada").status == 403);
  fixture.log_in(ScriptedFarm::kAdmin);
  CHECK(contains(fixture.get("/").body, "href=\"/audit\""));
  CHECK(fixture.post("/make-token", "holder=eve&role=admin&days=1").status == 403);
  CHECK(fixture.get("/make-token").status == 405);
}

TEST_CASE("a token of the JSON interface expires if it is told when") {
  SiteFixture fixture;
  const std::string role = R"({"holder": "guest", "role": "viewer")";
  CHECK(fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/tokens", role + R"(, "lasts_seconds": 1})").status == 200);
  CHECK(fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/tokens", role + "}").status == 200);
  CHECK(fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/tokens", role + R"(, "lasts_seconds": -1})").status == 400);
  const std::string listed = fixture.call(ScriptedFarm::kAdmin, "GET", "/api/v1/credentials").body;
  CHECK(contains(listed, "\"expires\":\"1970-01-01T00:00:01Z\""));
  CHECK(contains(listed, "\"expires\":null"));
}
