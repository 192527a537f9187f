// The JSON of the farm's records is that of docs/json.md, and the cells of tables are for people.
#include "farm/json/shown_fields.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "farm/json/pages.h"
#include "tests/paths.h"
#include "tests/unit/farm/protocol/samples.h"

using namespace ferry;
using namespace ferry::farm;

namespace {

// The page's section without remarks in parentheses and without line breaks.
std::string section() {
  std::ifstream file(FERRY_SOURCE_DIR "/docs/json.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("\n## farm\n");
  REQUIRE(begin != std::string::npos);
  const std::string text =
      std::regex_replace(page.substr(begin, page.find("\n## ", begin + 1) - begin), std::regex("\\s+"), " ");
  return std::regex_replace(text, std::regex(R"( \([^)]*\))"), "");
}

template <class Record>
std::string names() {
  std::string text;
  for (const ShownField& field : shown_fields(Record())) text += (text.empty() ? "`" : ", `") + field.name + "`";
  return text;
}

template <class Query, class Record>
void check_listing() {
  const std::string text = section();
  const std::string schema = schema_of<Query>();
  CAPTURE(schema);
  const std::size_t begin = text.find("`" + schema + "`, the list `" + list_name<Query>() + "`");
  REQUIRE(begin != std::string::npos);
  CAPTURE(names<Record>());
  const std::size_t found = text.find(": " + names<Record>(), begin);
  // They follow the listing's schema, not that of another one.
  CHECK(found < begin + 160);
}

}  // namespace

TEST_CASE("the page lists the fields of every listing, in their order") {
  check_listing<wire::ListDevices, wire::DeviceListing>();
  check_listing<wire::ListQueue, wire::QueueListing>();
  check_listing<wire::ListLeases, wire::LeaseListing>();
  check_listing<wire::ListHistory, wire::HistoryListing>();
  check_listing<wire::ListAudit, wire::AuditListing>();
  check_listing<wire::ListHealth, wire::HealthListing>();
  check_listing<wire::ListSessions, wire::SessionListing>();
  check_listing<wire::ListCredentials, wire::CredentialListing>();
}

TEST_CASE("the page lists the fields of the farm's state") {
  CHECK(section().find("`ferry.farm.status/1`: " + names<wire::FarmSummary>() + ".") != std::string::npos);
}

TEST_CASE("quantities have their units in their names, and what there is not is null") {
  wire::QueueListing request{9, "anna", {"rpi4"}, 50, 1500, 2, {}, "", "nightly"};
  CHECK(to_json(request).dump() ==
        R"({"request":"0000000000000009","holder":"anna","selectors":["rpi4"],"priority":50,"waited_seconds":1.5,)"
        R"("place":2,"expected_seconds":null,"blocked_by":null,"job":"nightly"})");
  wire::HealthListing check{4, 1'000, "compute", 2'000'000, 0, "measuring", -5'500, ""};
  CHECK(to_json(check).dump() ==
        R"({"number":4,"at":"1970-01-01T00:00:01Z","job":"compute","seconds":2e-06,"baseline_seconds":null,)"
        R"("verdict":"measuring","celsius":-5.5,"text":null})");
  wire::DeviceListing board;
  board.name = "pi-3";
  board.description = wire::sample_description();
  const text::Json json = to_json(board);
  CHECK(json["accelerators"].dump() == R"([{"kind":"cuda","arch":"sm_53"}])");
  CHECK(json["tags"].dump() == R"({"bench":"","rack":"b2"})");
  CHECK(json["lease"].is_null());
  CHECK(json["connected"] == false);
}

TEST_CASE("an ended lease says for how long it had boards, and keys of boards have no role") {
  wire::HistoryListing lease;
  lease.started_ms = 2'000;
  lease.ended_ms = 5'500;
  CHECK(to_json(lease)["seconds"] == 3.5);
  lease.started_ms.reset();
  CHECK(to_json(lease)["seconds"].is_null());
  CHECK(to_json(wire::CredentialListing{wire::CredentialKind::token, "anna", wire::Role::admin, {}})["role"] ==
        "admin");
  CHECK(to_json(wire::CredentialListing{wire::CredentialKind::board, "pi-3", wire::Role::user, {}})["role"].is_null());
}

TEST_CASE("cells are written for people") {
  wire::QueueListing request{9, "anna", {"rpi4", "rpi5"}, 50, 125 * 60'000, 2, {}, "", ""};
  auto fields = shown_fields(request);
  CHECK(field_of(fields, "selectors").cell == "rpi4, rpi5");
  CHECK(field_of(fields, "waited_seconds").cell == "2 h 5 min");
  CHECK(field_of(fields, "expected_seconds").cell == "-");
  CHECK(field_of(fields, "job").cell == "-");
  auto lease = shown_fields(wire::HistoryListing{});
  CHECK(field_of(lease, "ended").cell == "1970-01-01 00:00:00");
}
