// The JSON interface, metrics and health.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "farm/json/pages.h"
#include "tests/paths.h"
#include "tests/unit/farm/web/site_fixture.h"

using namespace ferry;
using namespace ferry::farm;
using namespace ferry::farm::http;
using ferry::test::ScriptedFarm;
using ferry::test::SiteFixture;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> kListings = {
    "boards", "boards/rpi4-01", "boards/rpi4-01/health", "boards/rpi4-01/sessions", "queue", "leases", "history",
    "audit",  "status"};

Json json_of(const HttpResponse& response) {
  CHECK(response.content_type == "application/json");
  return Json::parse(response.body);
}

void check_failure(const HttpResponse& response, int status, const std::string& code) {
  CHECK(response.status == status);
  const Json json = json_of(response);
  CHECK(json["error"]["code"] == code);
  CHECK_FALSE(json["error"]["message"].get<std::string>().empty());
}

}  // namespace

TEST_CASE("the JSON interface takes Bearer tokens and nothing else") {
  SiteFixture fixture;
  fixture.log_in(ScriptedFarm::kAdmin);  // the cookie must not help
  for (const std::string& listing : kListings) {
    CAPTURE(listing);
    const auto response = fixture.get("/api/v1/" + listing);
    check_failure(response, 401, "unauthenticated");
    CHECK(SiteFixture::header(response, "WWW-Authenticate") == "Bearer realm=\"ferry farm\"");
    CHECK(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/" + listing).status == 200);
  }
  check_failure(fixture.get(std::string("/api/v1/boards?token=") + ScriptedFarm::kViewer), 401, "unauthenticated");
  check_failure(fixture.call("wrong", "GET", "/api/v1/boards"), 401, "unauthenticated");
  check_failure(fixture.call("", "GET", "/api/v1/boards"), 401, "unauthenticated");
  fixture.request.authorization = "Basic YTpi";
  check_failure(fixture.get("/api/v1/boards"), 401, "unauthenticated");
}

TEST_CASE("many wrong tokens of one address are refused, and right ones of the same address are not") {
  SiteFixture fixture;
  for (int i = 0; i < 20; ++i) CHECK(fixture.call("wrong", "GET", "/api/v1/boards").status == 401);
  check_failure(fixture.call("wrong", "GET", "/api/v1/boards"), 429, "busy");
  CHECK(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards").status == 200);
  check_failure(fixture.call("wrong", "GET", "/api/v1/boards"), 429, "busy");
  fixture.request.peer = "127.0.0.9";
  check_failure(fixture.call("wrong", "GET", "/api/v1/boards"), 401, "unauthenticated");
  // Right tokens are not counted, however many.
  for (int i = 0; i < 100; ++i) CHECK(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/queue").status == 200);
}

TEST_CASE("a browser is known by the cookie of its session") {
  SiteFixture fixture;
  const std::string before = SiteFixture::cookie_of(fixture.get("/login"));
  CHECK_FALSE(fixture.site.is_known("", before));
  CHECK_FALSE(fixture.site.is_known("", "ferry_session=" + std::string(64, '0')));
  fixture.log_in(ScriptedFarm::kUser);
  CHECK(fixture.site.is_known("", fixture.request.cookie));
  CHECK(fixture.post("/logout", "csrf=" + fixture.csrf()).status == 303);
  CHECK_FALSE(fixture.site.is_known("", fixture.request.cookie));
}

TEST_CASE("a client is known once its token was right, until it is wrong") {
  SiteFixture fixture;
  const std::string header = std::string("Bearer ") + ScriptedFarm::kUser;
  CHECK_FALSE(fixture.site.is_known(header, ""));
  CHECK_FALSE(fixture.site.is_known("", ""));
  CHECK(fixture.call("wrong", "GET", "/api/v1/boards").status == 401);
  CHECK_FALSE(fixture.site.is_known("Bearer wrong", ""));
  CHECK(fixture.call(ScriptedFarm::kUser, "GET", "/api/v1/boards").status == 200);
  CHECK(fixture.site.is_known(header, ""));
  CHECK_FALSE(fixture.site.is_known(ScriptedFarm::kUser, ""));
  CHECK_FALSE(fixture.site.is_known(std::string("Basic ") + ScriptedFarm::kUser, ""));
  fixture.farm.revoke_token(ScriptedFarm::kUser);
  CHECK(fixture.call(ScriptedFarm::kUser, "GET", "/api/v1/boards").status == 401);
  CHECK_FALSE(fixture.site.is_known(header, ""));
}

TEST_CASE("listings have all fields, ids of 64 bits, and null for what there is not") {
  SiteFixture fixture;
  const Json boards = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards?selector=name%3Djetson"));
  CHECK(boards["schema"] == "ferry.farm.devices/1");
  REQUIRE(boards["devices"].size() == 1);
  CHECK(boards["next"].is_null());
  const Json& jetson = boards["devices"][0];
  CHECK(jetson["holder"] == "ci <b>nightly</b>");
  CHECK(jetson["lease"] == "0000000000000008");
  CHECK(jetson["accelerators"] == Json::parse(R"([{"kind": "cuda", "arch": "sm_87"}])"));
  CHECK(jetson["tags"] == Json::parse(R"({"bench": "", "rack": "2"})"));
  const Json free = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards/rpi4-06"));
  CHECK(free["lease"].is_null());
  CHECK(free["holder"].is_null());
  CHECK(free["celsius"] == 48.91);
  const Json leases = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/leases?after=8"));
  REQUIRE(leases["leases"].size() == 1);
  CHECK(leases["leases"][0]["lease"] == "fedcba9876543210");
  const Json queue = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/queue?after=15"));
  REQUIRE(queue["requests"].size() == 2);
  CHECK(queue["requests"][0]["expected_seconds"].is_null());
  const Json history = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/history?holder=uwe"));
  REQUIRE(history["leases"].size() == 3);
  CHECK(history["leases"][2]["started"].is_null());
  const Json health = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards/rpi4-01/health?before=4"));
  CHECK(health["checks"].size() == 3);
  const Json sessions = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards/rpi4-01/sessions"));
  CHECK(sessions["sessions"][1]["failure"].get<std::string>().find("SIGSEGV") != std::string::npos);
  const Json audit = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/audit?board=beagle"));
  CHECK(audit["entries"].size() == 1);
}

TEST_CASE("each page of a listing names the request of the next one, until all have come") {
  SiteFixture fixture;
  const auto count = [&](std::string target, const char* list) {
    std::size_t elements = 0;
    for (int pages = 0; pages < 50; ++pages) {
      const Json page = json_of(fixture.call(ScriptedFarm::kAdmin, "GET", "/api/v1/" + target));
      elements += page[list].size();
      if (page["next"].is_null()) return elements;
      target = page["next"];
    }
    FAIL("expected a last page");
    return elements;
  };
  const auto size_of = [&](const auto& query, auto elements) {
    std::size_t size = 0;
    auto next = std::optional(query);
    while (next) {
      const auto page = fixture.farm.ask({"ada", wire::Role::admin}, *next).value();
      size += (page.*elements).size();
      next = next_page(*next, page);
    }
    return size;
  };
  CHECK(count("boards", "devices") == size_of(wire::ListDevices(), &wire::DevicePage::devices));
  CHECK(count("queue", "requests") == size_of(wire::ListQueue(), &wire::QueuePage::requests));
  CHECK(count("history?holder=uwe", "leases") ==
        size_of(wire::ListHistory{"", "uwe", 0, 0}, &wire::HistoryPage::leases));
  CHECK(count("boards/rpi4-01/health", "checks") == size_of(wire::ListHealth{"rpi4-01", 0}, &wire::HealthPage::checks));
  CHECK(count("audit", "entries") == size_of(wire::ListAudit(), &wire::AuditPage::entries));
  CHECK(size_of(wire::ListAudit(), &wire::AuditPage::entries) > 0);
}

TEST_CASE("names that are not UTF-8 still make valid JSON, and all others arrive unchanged") {
  SiteFixture fixture;
  const Json boards = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards"));
  std::set<std::string> names;
  for (const Json& board : boards["devices"]) names.insert(board["name"].get<std::string>());
  std::size_t found = 0;
  for (const std::string& name : test::hostile_names()) found += names.count(name);
  CHECK(found == test::hostile_names().size() - 1);
  CHECK(names.count("\ufffd\ufffd not UTF-8 \ufffd") == 1);
  // A board is found by its name as a segment of the path, slashes escaped.
  for (const std::string& name : test::hostile_names()) {
    CAPTURE(name);
    CHECK(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards/" + percent_encode(name)).status == 200);
  }
}

TEST_CASE("what a role may not ask is forbidden, and nothing happens") {
  SiteFixture fixture;
  const std::string order = R"({"order": "retire"})";
  for (const char* token : {ScriptedFarm::kViewer, ScriptedFarm::kUser}) {
    check_failure(fixture.call(token, "POST", "/api/v1/boards/rpi4-01/order", order), 403, "unauthenticated");
    check_failure(fixture.call(token, "GET", "/api/v1/credentials"), 403, "unauthenticated");
    check_failure(fixture.call(token, "POST", "/api/v1/leases/8/end"), 403, "unauthenticated");
    check_failure(fixture.call(token, "POST", "/api/v1/tokens", R"({"holder": "x", "role": "admin"})"), 403,
                  "unauthenticated");
  }
  CHECK(fixture.farm.board("rpi4-01").state == "good");
  CHECK(fixture.call(ScriptedFarm::kUser, "POST", "/api/v1/leases/7/end").status == 200);
  CHECK(fixture.farm.board("rpi4-01").lease == 0);
}

TEST_CASE("an admin orders boards, enrols them and manages credentials") {
  SiteFixture fixture;
  const auto post = [&](const std::string& path, const std::string& body) {
    return fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/" + path, body);
  };
  CHECK(post("boards/rpi4-01/order", R"({"order": "maintain"})").body == "{}");
  CHECK(fixture.farm.board("rpi4-01").state == "maintenance");
  const Json enrolled = json_of(post("boards", R"({"name": "new", "tags": {"rack": "9", "bench": ""}, "machine": "m",
                                                    "shares_machine": true})"));
  CHECK(enrolled["psk"].get<std::string>().substr(0, 8) == "01080f16");
  CHECK(enrolled["psk"].get<std::string>().size() == 64);
  CHECK(fixture.farm.board("new").description.tags.size() == 2);
  CHECK(json_of(post("clients", R"({"holder": "ci", "role": "user"})"))["psk"].get<std::string>().size() == 64);
  const std::string token = json_of(post("tokens", R"({"holder": "bot", "role": "viewer"})"))["token"];
  CHECK(fixture.call(token, "GET", "/api/v1/boards").status == 200);
  CHECK(post("credentials/revoke", R"({"kind": "token", "name": "bot"})").status == 200);
  CHECK(fixture.call(token, "GET", "/api/v1/boards").status == 401);
  const Json credentials = json_of(fixture.call(ScriptedFarm::kAdmin, "GET", "/api/v1/credentials"));
  CHECK(credentials["credentials"].back()["revoked"].is_string());
  check_failure(post("credentials/revoke", R"({"kind": "client", "name": "nobody"})"), 404, "not_found");
}

TEST_CASE("names that are kept become printable, as in the farm's protocol") {
  SiteFixture fixture;
  const std::string body = R"({"name": "a\u001b[31m\u202eb"})";
  CHECK(fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/boards", body).status == 200);
  CHECK(fixture.farm.board("a\\x1b[31m\\xe2\\x80\\xaeb").state == "unknown");
}

TEST_CASE("bodies that are not what is expected are refused with the field's name") {
  SiteFixture fixture;
  const auto refused = [&](const std::string& path, const std::string& body, const std::string& expected) {
    CAPTURE(body);
    const auto response = fixture.call(ScriptedFarm::kAdmin, "POST", "/api/v1/" + path, body);
    check_failure(response, 400, "invalid_argument");
    CAPTURE(response.body);
    CHECK(response.body.find(expected) != std::string::npos);
  };
  const std::string order = "boards/rpi4-01/order";
  refused(order, "", "JSON object");
  refused(order, "[]", "JSON object");
  refused(order, "{\"order\": \"retire\"", "JSON object");
  refused(order, "{}", "order: expected a text, got nothing");
  refused(order, R"({"order": 1})", "order: expected a text, got number");
  refused(order, R"({"order": "explode"})", "maintain, retire, return");
  refused(order, R"({"order": "retire", "colour": 1})", "expected no field 'colour'");
  refused("boards", R"({"name": ")" + std::string(65, 'x') + R"("})", "name: expected at most 64 bytes");
  refused("boards", R"({"name": "x", "tags": ["a"]})", "tags: expected an object");
  refused("boards", R"({"name": "x", "tags": {"a": 1}})", "tags: expected an object of texts");
  refused("boards", R"({"name": "x", "shares_machine": "yes"})", "shares_machine: expected true or false");
  std::string many = R"({"name": "x", "tags": {)";
  for (int i = 0; i < 33; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + "\": \"\"";
  refused("boards", many + "}}", "at most 32 entries");
  refused("tokens", R"({"holder": "x", "role": "god"})", "viewer, user, admin");
  refused("leases/x/end", "", "hexadecimal digits");
  refused("leases/7/end", R"({"now": true})", "expected no field 'now'");
  // Deep nesting costs nothing.
  refused(order, std::string(30'000, '['), "JSON object");
}

TEST_CASE("parameters that are no numbers or too long are refused") {
  SiteFixture fixture;
  for (const char* target : {"queue?after=x", "leases?after=-1", "history?before_ended_ms=1e3",
                             "boards/rpi4-01/health?before=99999999999999999999", "audit?before=%20"}) {
    CAPTURE(target);
    check_failure(fixture.call(ScriptedFarm::kViewer, "GET", std::string("/api/v1/") + target), 400,
                  "invalid_argument");
  }
  check_failure(fixture.call(ScriptedFarm::kAdmin, "GET", "/api/v1/credentials?after=4294967296"), 400,
                "invalid_argument");
  const std::string name(65, 'n');
  check_failure(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/audit?board=" + name), 400, "invalid_argument");
  check_failure(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards?after=" + name), 400, "invalid_argument");
}

TEST_CASE("paths and methods that do not exist are told apart") {
  SiteFixture fixture;
  for (const char* path :
       {"", "board", "boards/", "boards//order", "boards/a/b/c", "leases/7", "boards/%00", "boards/%"}) {
    CAPTURE(path);
    check_failure(fixture.call(ScriptedFarm::kAdmin, "GET", std::string("/api/v1/") + path), 404, "not_found");
  }
  const auto response = fixture.call(ScriptedFarm::kAdmin, "GET", "/api/v1/tokens");
  check_failure(response, 405, "unsupported");
  CHECK(SiteFixture::header(response, "Allow") == "POST");
  CHECK(fixture.call(ScriptedFarm::kAdmin, "DELETE", "/api/v1/boards").status == 405);
  CHECK(fixture.call(ScriptedFarm::kAdmin, "HEAD", "/api/v1/boards").status == 200);
}

TEST_CASE("a body of another type is refused, so that no form of elsewhere is one") {
  SiteFixture fixture;
  HttpRequest request = fixture.request;
  request.method = "POST";
  request.target = "/api/v1/boards/rpi4-01/order";
  request.authorization = std::string("Bearer ") + ScriptedFarm::kAdmin;
  request.body = R"({"order": "retire"})";
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded"}) {
    request.content_type = type;
    CHECK(fixture.site.handle(request).status == 415);
  }
  CHECK(fixture.farm.board("rpi4-01").state == "good");
}

TEST_CASE("a farm that does not answer is unavailable, not unauthenticated") {
  SiteFixture fixture;
  fixture.farm.set_available(false);
  const auto response = fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/boards");
  check_failure(response, 503, "unavailable");
  CHECK(SiteFixture::header(response, "Retry-After") == "10");
  CHECK(fixture.get("/healthz").status == 503);
  CHECK(fixture.get("/metrics").status == 503);
}

TEST_CASE("health tells apart serving, standing by and a database that cannot be written") {
  SiteFixture fixture;
  fixture.request.host = "monitor.example";  // health is for anybody
  CHECK(fixture.get("/healthz").body == "ok\n");
  FarmNumbers numbers;
  fixture.farm.set_numbers(numbers);
  CHECK(fixture.get("/healthz").status == 200);
  CHECK(fixture.get("/healthz").body == "ok, standing by\n");
  numbers.read_only_reason = "the disk is full: /secret/path";
  fixture.farm.set_numbers(numbers);
  CHECK(fixture.get("/healthz").status == 503);
  CHECK(fixture.get("/healthz").body.find("secret") == std::string::npos);
}

TEST_CASE("metrics want a token from other machines and behind a proxy") {
  SiteFixture fixture;
  CHECK(fixture.get("/metrics").status == 200);
  SiteFixture proxied(true);
  check_failure(proxied.get("/metrics"), 401, "unauthenticated");
  CHECK(proxied.call(ScriptedFarm::kViewer, "GET", "/metrics").status == 200);
}

TEST_CASE("metrics are in Prometheus's text format") {
  SiteFixture fixture;
  const auto response = fixture.get("/metrics");
  CHECK(response.content_type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(response.body.back() == '\n');
  const std::regex help("# HELP (ferry_farm_[a-z_]+) .+"), type("# TYPE (ferry_farm_[a-z_]+) (gauge|counter)");
  const std::regex sample(R"re((ferry_farm_[a-z_]+)(\{[a-z]+="([^"\\\n]|\\\\|\\"|\\n)*"\})? [0-9.]+)re");
  std::istringstream lines(response.body);
  std::string line, current;
  std::set<std::string> types, samples;
  while (std::getline(lines, line)) {
    CAPTURE(line);
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      current = match[1];
    } else if (std::regex_match(line, match, type)) {
      CHECK(match[1] == current);
      CHECK(types.insert(current).second);
      CHECK((match[2] == "counter") == current.ends_with("_total"));
    } else {
      REQUIRE(std::regex_match(line, match, sample));
      CHECK(match[1] == current);
      CHECK(samples.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
  CHECK(types.size() == 12);
  CHECK(samples.count("ferry_farm_boards{state=\"good\"}") == 1);
  CHECK(response.body.find("ferry_farm_boards{state=\"good\"} 16\n") != std::string::npos);
  CHECK(response.body.find("ferry_farm_leases_ended_total{reason=\"lease_expired\"} 3\n") != std::string::npos);
  CHECK(response.body.find("ferry_farm_longest_commit_seconds 0.012300\n") != std::string::npos);
}

TEST_CASE("how busy the farm is, is the same document as the command's") {
  SiteFixture fixture;
  const Json status = json_of(fixture.call(ScriptedFarm::kViewer, "GET", "/api/v1/status"));
  const Json expected = {
      {"schema", "ferry.farm.status/1"}, {"boards", 12}, {"connected", 11}, {"leased", 3}, {"waiting", 2},
      {"longest_wait_seconds", 60.0}};
  CHECK(status == expected);
}

TEST_CASE("the page about the interface lists its paths, and the examples in it are accepted") {
  SiteFixture fixture;
  std::ifstream page(FERRY_SOURCE_DIR "/docs/farm/http.md");
  const std::regex row(R"re(\| `(GET|POST) ([a-zA-Z/]+)(\?[^`]*)?`( `([^`]+)`)? \|.*)re");
  const std::vector<std::pair<std::string, std::string>> values = {{"NAME", "rpi4-01"}, {"LEASE", "7"}};
  std::string line;
  int rows = 0;
  while (std::getline(page, line)) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    CAPTURE(line);
    ++rows;
    std::string path = match[2], body = match[5];
    for (const auto& [name, value] : values) {
      if (const std::size_t at = path.find(name); at != std::string::npos) path.replace(at, name.size(), value);
    }
    body = std::regex_replace(body, std::regex("([:{] ?)([A-Z])(?=[,}:])"), "$1\"uwe\"");
    const auto response = fixture.call(ScriptedFarm::kAdmin, match[1], "/api/v1/" + path, body);
    CAPTURE(response.body);
    CHECK(response.status == 200);
  }
  CHECK(rows == 16);
}
