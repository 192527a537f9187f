// Tests that FARM.md matches the code, since other implementations are written from that page.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <type_traits>
#include <vector>

#include "farm/protocol/codec.h"
#include "tests/paths.h"

namespace ferry::farm::wire {
namespace {

std::string page() {
  std::ifstream file(FERRY_SOURCE_DIR "/farm/FARM.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number as the page writes it: 16,384.
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// The struct's name on the page.
template <class T>
const char* const kStruct = nullptr;
#define FERRY_STRUCT(type, name) \
  template <>                    \
  const char* const kStruct<type> = name;
#define FERRY_STRUCTS(X)               \
  X(lease::LeaseKey, "key")            \
  X(Description, "description")        \
  X(Accelerator, "accelerator")        \
  X(Label, "tag")                      \
  X(LeaseRequest, "request")           \
  X(GrantedSlot, "slot")               \
  X(DeviceListing, "device")           \
  X(QueueListing, "waiting request")   \
  X(LeaseListing, "lease")             \
  X(HistoryListing, "ended lease")     \
  X(AuditListing, "audit entry")       \
  X(HealthListing, "health check")     \
  X(SessionListing, "session")         \
  X(BaselineListing, "baseline entry") \
  X(VerdictListing, "verdict")         \
  X(CredentialListing, "credential")
FERRY_STRUCTS(FERRY_STRUCT)
#undef FERRY_STRUCT

template <class T>
std::string number_type() {
  if (std::is_same_v<T, bool>) return "bool";
  return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
}

std::string text_type(std::size_t most) {
  if (most == kMaxName) return "string";
  return most == kMaxText ? "text" : most == kMaxSelector ? "selector" : most == kMaxReport ? "report" : "unknown";
}

std::string limit(std::size_t most) { return " (" + with_commas(most) + ")"; }

// A field as the page writes it, without remarks.
struct FieldOnPage {
  std::vector<std::string>& fields;

  void operator()(std::string_view name, const auto& value, const auto&... kind) const {
    fields.push_back(text(std::string(name), value, kind...));
  }
  template <class T>
  static std::string text(const std::string& name, const T&, const auto&...) {
    if constexpr (std::is_enum_v<T>) return number_type<std::underlying_type_t<T>>() + " " + name;
    if constexpr (std::is_arithmetic_v<T>) return number_type<T>() + " " + name;
    return std::is_same_v<T, Hash> ? "hash " + name : "unknown " + name;
  }
  template <class T>
  static std::string text(const std::string& name, const std::optional<T>&, const auto&...) {
    return "optional " + number_type<T>() + " " + name;
  }
  static std::string text(const std::string& name, const std::string&, fields::Text kind) {
    return text_type(kind.most) + " " + name;
  }
  static std::string text(const std::string& name, const std::vector<std::string>&, fields::Texts kind) {
    return "list of " + text_type(kind.most_bytes) + " " + name + limit(kind.most);
  }
  static std::string text(const std::string& name, const std::vector<std::uint8_t>&, fields::List kind) {
    return "bytes " + name + limit(kind.most);
  }
  static std::string text(const std::string& name, const std::vector<Hash>&, fields::List kind) {
    return "list of hash " + name + limit(kind.most);
  }
  static std::string text(const std::string& name, const auto& value, fields::Bytes) {
    return std::to_string(value.size()) + " bytes " + name;
  }
  template <class T>
  static std::string text(const std::string& name, const T&, fields::Nested) {
    return "*" + std::string(kStruct<T>) + "*" + (name == kStruct<T> ? "" : " " + name);
  }
  template <class T>
  static std::string text(const std::string& name, const std::vector<T>&, fields::NestedList kind) {
    return "list of *" + std::string(kStruct<T>) + "* " + name + limit(kind.most);
  }
  static std::string text(const std::string& name, const std::vector<Label>& value, fields::Labels kind) {
    return text(name, value, fields::NestedList(kind));
  }
  template <class T, class Kind>
  static std::string text(const std::string& name, const T& value, fields::Added<Kind> added) {
    return text(name, value, added.kind);
  }
};

template <class T>
std::string fields_of() {
  std::vector<std::string> fields;
  T record{};
  if constexpr (HasFields<T>) T::visit_fields(record, FieldOnPage{fields});
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ", ") + field;
  return text;
}

// A cell without what the page says in parentheses beside limits.
std::string without_remarks(const std::string& cell) {
  const std::string limits = std::regex_replace(cell, std::regex(R"( \(([0-9,]+)(; [^)]*)?\))"), " <$1>");
  std::string plain = std::regex_replace(limits, std::regex(R"( \([^)]*\))"), "");
  plain = std::regex_replace(plain, std::regex("<([0-9,]+)>"), "($1)");
  return plain;
}

// The cells of the row that begins with these.
std::vector<std::string> cells(const std::string& page, const std::string& first) {
  const std::size_t begin = page.find("\n| " + first + " |");
  REQUIRE_MESSAGE(begin != std::string::npos, first);
  const std::string row = page.substr(begin + 3, page.find('\n', begin + 1) - begin - 3);
  std::vector<std::string> cells;
  for (std::size_t at = 0, end = 0; (end = row.find('|', at)) != std::string::npos; at = end + 1) {
    const std::string cell = row.substr(at, end - at);
    const std::size_t from = cell.find_first_not_of(' ');
    cells.push_back(from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(' ') + 1 - from));
  }
  return cells;
}

TEST_CASE("the page lists the fields of every message and struct with their types and limits") {
  const std::string text = page();
#define FERRY_ROW(number, request, reply, name, directions)    \
  {                                                            \
    const auto row = cells(text, #number " | " name);          \
    CHECK(without_remarks(row.at(2)) == fields_of<request>()); \
    CHECK(without_remarks(row.at(3)) == fields_of<reply>());   \
  }
  FERRY_FARM_REQUESTS(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(number, event, name, directions) \
  CHECK(without_remarks(cells(text, #number " | " name).at(2)) == fields_of<event>());
  FERRY_FARM_EVENTS(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(type, name) CHECK(without_remarks(cells(text, "*" name "*").at(1)) == fields_of<type>());
  FERRY_STRUCTS(FERRY_ROW)
#undef FERRY_ROW
}

TEST_CASE("the page has a row for every message, and no row for another one") {
  const std::string text = page();
  REQUIRE_FALSE(text.empty());
  std::size_t expected = 0;
  const auto expect = [&](unsigned tag, const char* name) {
    CAPTURE(name);
    CHECK(text.find("\n| " + std::to_string(tag) + " | " + name + " |") != std::string::npos);
    ++expected;
  };
#define FERRY_ROW(number, request, reply, name, directions) expect(number, name);
  FERRY_FARM_REQUESTS(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(number, event, name, directions) expect(number, name);
  FERRY_FARM_EVENTS(FERRY_ROW)
#undef FERRY_ROW
  // The rows of two digits and a name that are in the tables of messages.
  const std::string tables = text.substr(0, text.find("\n## Keys"));
  std::size_t rows = 0;
  for (std::size_t at = tables.find("\n| "); at != std::string::npos; at = tables.find("\n| ", at + 1)) {
    const std::string tag = tables.substr(at + 3, 2);
    if (tag.find_first_not_of("0123456789") == std::string::npos) ++rows;
  }
  CHECK(rows == expected);
}

TEST_CASE("the page says from whom and to whom each event goes") {
  const std::string text = page();
  const auto line_of = [&](unsigned tag) {
    const std::size_t begin = text.find("\n| " + std::to_string(tag) + " |");
    return text.substr(begin + 1, text.find('\n', begin + 1) - begin);
  };
#define FERRY_ROW(number, event, name, directions)                                            \
  {                                                                                           \
    CAPTURE(name);                                                                            \
    const bool is_sent = ((directions) & (kFromBoard | kFromClient)) != 0;                    \
    const bool is_received = ((directions) & (kToBoard | kToClient)) != 0;                    \
    CHECK((line_of(number).find("| from ") != std::string::npos) == is_sent);                 \
    CHECK((line_of(number).find("| to ") != std::string::npos) == (is_received && !is_sent)); \
  }
  FERRY_FARM_EVENTS(FERRY_ROW)
#undef FERRY_ROW
}

TEST_CASE("the page states the limits and times of the code") {
  const std::string text = page();
  for (const std::string& expected :
       {"at most " + with_commas(kMaxFirstBody) + " bytes", "at most " + with_commas(kMaxBody) + " bytes",
        "string here has at most " + std::to_string(kMaxName) + " bytes", "a text " + std::to_string(kMaxText),
        "a selector " + std::to_string(kMaxSelector),
        "heartbeat every " + std::to_string(kHeartbeatPeriod.count()) + " seconds",
        "heard nothing for " + std::to_string(kSilence.count()) + " seconds",
        "version " + std::to_string(kVersionMax) + "\n"}) {
    CAPTURE(expected);
    CHECK(text.find(expected) != std::string::npos);
  }
}

}  // namespace
}  // namespace ferry::farm::wire
