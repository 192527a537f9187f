#include "host/gate/suite/read_suite.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/quantity_text.h"
#include "base/suggest.h"
#include "ferry/error.h"
#include "host/gate/suite/case_reader.h"
#include "host/gate/suite/suite_files.h"
#include "host/gate/verdict/decide.h"
#include "host/measure/compare.h"
#include "host/toml/toml_file.h"
#include "host/toml/toml_reader.h"

namespace ferry::gate {
namespace {

constexpr std::int64_t kMostPairs = bench::kMostProcesses;
constexpr double kMaxErrorLevel = 0.5;
constexpr std::size_t kMaxRemote = 1024;

// A table of tables, in the order of the file, which the parser does not keep.
struct NamedTable {
  std::string name;
  const toml::key* key;
  const toml::table* table;
};

Status check_name(const std::string& path, const toml::source_region& where, const std::string& name) {
  if (!name.empty() && name.size() <= kMaxCaseName && printable(name) == name && name.front() != ' ' &&
      name.back() != ' ')
    return {};
  return toml_failure(path, where,
                      format("expected a name of 1 to %zu printable bytes, without spaces around it, got '%s'",
                             kMaxCaseName, printable(name.substr(0, kMaxCaseName)).c_str()));
}

Result<std::vector<NamedTable>> tables_of(const std::string& path, const std::string& kind, const toml::table& all,
                                          std::size_t most) {
  if (all.size() > most)
    return toml_failure(path, all.source(),
                        format("%s: expected at most %zu, got %zu", kind.c_str(), most, all.size()));
  std::vector<NamedTable> tables;
  for (const auto& [key, node] : all) {
    const std::string name(key.str());
    FERRY_TRY(check_name(path, key.source(), name));
    if (!node.is_table())
      return toml_failure(path, key.source(), "expected a table, as in [" + kind + "." + name + "], got a value");
    tables.push_back({name, &key, node.as_table()});
  }
  std::ranges::stable_sort(tables, {}, [](const NamedTable& one) {
    const toml::source_position at = one.key->source().begin;
    return std::pair(at.line, at.column);
  });
  return tables;
}

void check_remote(TomlReader& reader, const session::Schemes& schemes, const std::string& remote) {
  const session::Scheme* scheme = schemes.find(remote);
  if (scheme == nullptr) {
    reader.refuse("remote",
                  "expected a name in devices.toml, HOST:PORT, ssh://USER@HOST or farm://FARM/SELECTOR, got '" +
                      printable(remote) + "'");
  }
  if (scheme == nullptr || !scheme->check) return;
  try {
    scheme->check(remote);
  } catch (const Error& error) {
    reader.refuse("remote", printable(error.what()));
  }
}

Status read_boards(const std::string& path, const toml::table& all, const session::Schemes& schemes, Suite& suite) {
  FERRY_ASSIGN(const auto tables, tables_of(path, "boards", all, kMaxBoards));
  for (const NamedTable& one : tables) {
    TomlReader reader(path, "boards." + one.name, *one.table);
    SuiteBoard board{one.name, ""};
    reader.read("remote", kMaxRemote, board.remote);
    check_remote(reader, schemes, board.remote);
    std::int64_t count = board.count;
    reader.read("count", 1, kMaxBoards, count);
    board.count = static_cast<std::uint32_t>(count);
    FERRY_TRY(reader.finish());
    if (board.remote.empty())
      return toml_failure(path, one.key->source(),
                          "boards." + one.name + ": expected a remote, as in remote = \"farm://lab/rpi4\"");
    suite.boards.push_back(std::move(board));
  }
  return {};
}

// Fails for names of boards that the suite does not define.
Status check_boards(const std::string& path, const NamedTable& table, const Suite& suite, const SuiteCase& one) {
  std::vector<std::string> known;
  for (const SuiteBoard& board : suite.boards) known.push_back(board.name);
  for (auto name = one.boards.begin(); name != one.boards.end(); ++name) {
    const toml::source_region& where = table.table->get("boards")->source();
    const std::string key = "cases." + table.name + ".boards: ";
    if (std::find(one.boards.begin(), name, *name) != name)
      return toml_failure(path, where, key + "expected each board once, got " + printable(*name) + " twice");
    if (std::ranges::find(known, *name) != known.end()) continue;
    if (known.empty())
      return toml_failure(path, where, key + "expected a table [boards." + printable(*name) + "] with its remote");
    return toml_failure(path, where, key + unknown_name("board", printable(*name), known));
  }
  return {};
}

// Fails for an earlier name of a case that is the name of a case now: its baseline belongs to that one.
Status check_earlier_name(const std::string& path, const NamedTable& table, const toml::table& all,
                          const SuiteCase& one) {
  if (one.was.empty() || !all.contains(one.was)) return {};
  return toml_failure(path, table.table->get("was")->source(),
                      "cases." + table.name + ".was: expected a name that no case of the suite has any more, got '" +
                          printable(one.was) + "'" + (one.was == one.name ? ", its own" : ""));
}

Status read_cases(const std::string& path, const toml::table& all, const SuiteCase& shared, Suite& suite) {
  FERRY_ASSIGN(const auto tables, tables_of(path, "cases", all, kMaxCases));
  for (const NamedTable& one : tables) {
    SuiteCase read = shared;
    read.name = one.name;
    read.line = one.key->source().begin.line;
    TomlReader reader(path, "cases." + one.name, *one.table);
    read_case(reader, read);
    FERRY_TRY(reader.finish());
    if (read.kernel.file.empty())
      return toml_failure(path, one.key->source(),
                          "cases." + one.name + ": expected a kernel, as in kernel = \"kernels/mm.tc\"");
    FERRY_TRY(check_boards(path, one, suite, read));
    FERRY_TRY(check_earlier_name(path, one, all, read));
    resolve_files(suite.folder, read);
    suite.cases.push_back(std::move(read));
  }
  return {};
}

void read_options(TomlReader& reader, Suite& suite) {
  reader.read("name", kMaxCaseName, suite.name);
  reader.read("error-level", "a probability above 0% and up to 50%, such as 1%", [&suite](const std::string& text) {
    suite.error_level = parse_percent(text).value_or(0);
    return suite.error_level > 0 && suite.error_level <= kMaxErrorLevel;
  });
  std::int64_t pairs = suite.most_pairs;
  reader.read("pairs", 1, kMostPairs, pairs);
  suite.most_pairs = static_cast<std::uint32_t>(pairs);
  reader.read("cannot-tell", "fail or pass", [&suite](const std::string& text) {
    suite.unknown = text == "pass" ? UnknownPolicy::pass : UnknownPolicy::fail;
    return text == "pass" || text == "fail";
  });
}

// Fails if so few pairs cannot decide at the level that the suite's number of cases and boards leaves to each of them.
Status check_pairs(const std::string& path, const toml::table& root, const Suite& suite) {
  const std::size_t boards = std::max<std::size_t>(suite.boards.size(), 1);
  const std::uint32_t least = least_pairs(level_of_case(suite.error_level, suite.cases.size(), boards));
  if (suite.most_pairs >= least) return {};
  const auto count = [](std::size_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  const std::string why = format(
      "pairs: expected at least %u, without which no verdict is possible for %s on %s at an error level of %s, "
      "got %u",
      least, count(suite.cases.size(), "case").c_str(), count(boards, "board").c_str(),
      percent_text(suite.error_level).c_str(), suite.most_pairs);
  for (const char* key : {"pairs", "error-level"})
    if (const toml::node* node = root.get(key)) return toml_failure(path, node->source(), why);
  return {ErrorCode::invalid_argument, printable(path) + ": " + why};
}

// Returns the name of the suite's folder, or "suite" if it has none that can be a name.
std::string default_name(const std::string& folder) {
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(folder, failure);
  const std::string name = failure ? std::string() : printable(absolute.filename().string());
  return name.empty() || name.size() > kMaxCaseName ? "suite" : name;
}

Result<Suite> read_table(const std::string& path, const toml::table& root, const session::Schemes& schemes,
                         std::uint64_t seed) {
  Suite suite;
  suite.file = path;
  suite.folder = folder_of(path);
  SuiteCase shared;
  shared.call.seed = seed;
  shared.sampling = bench::CompareOptions().sampling;
  TomlReader reader(path, "", root);
  read_options(reader, suite);
  read_shared(reader, shared);
  const toml::table *boards = reader.table("boards"), *cases = reader.table("cases");
  FERRY_TRY(reader.finish());
  if (suite.name.empty()) suite.name = default_name(suite.folder);
  if (const toml::node* name = root.get("name")) FERRY_TRY(check_name(path, name->source(), suite.name));
  if (boards != nullptr) FERRY_TRY(read_boards(path, *boards, schemes, suite));
  if (cases != nullptr) FERRY_TRY(read_cases(path, *cases, shared, suite));
  if (suite.cases.empty())
    return Status(ErrorCode::invalid_argument,
                  printable(path) + ": expected a case, as in [cases.mm] with kernel = \"kernels/mm.tc\"");
  FERRY_TRY(check_pairs(path, root, suite));
  return suite;
}

Suite usable(const Result<Suite>& suite) {
  if (!suite.is_ok()) throw UsageError(suite.status().message());
  return suite.value();
}

Result<Suite> parse(std::string_view text, const std::string& path, const session::Schemes& schemes,
                    std::uint64_t seed) {
  FERRY_ASSIGN(const toml::table root, parse_toml(text, path, kMaxSuiteBytes));
  return read_table(path, root, schemes, seed);
}

Result<Suite> read_file(const std::string& path, const session::Schemes& schemes, std::uint64_t seed) {
  FERRY_ASSIGN(const std::string text, read_toml_text(path, kMaxSuiteBytes));
  FERRY_ASSIGN(Suite suite, parse(text, path, schemes, seed));
  for (SuiteCase& one : suite.cases) one.missing_file = check_files(path, one).message();
  return suite;
}

}  // namespace

Suite parse_suite(std::string_view text, const std::string& path, const session::Schemes& schemes) {
  return usable(parse(text, path, schemes, 0));
}

Suite read_suite(const std::string& path, const session::Schemes& schemes, std::uint64_t seed) {
  return usable(read_file(path, schemes, seed));
}

}  // namespace ferry::gate
