#include "farm/store/modules/baseline_tables.h"

#include <algorithm>

#include "base/format.h"
#include "base/hex.h"
#include "base/quantity_text.h"
#include "farm/store/filter.h"
#include "farm/store/modules/object_tables.h"

namespace ferry::farm {
namespace {

using wire::BaselineListing;

Status read_hash(const std::string& text, Hash& hash) {
  if (parse_hex(text, hash)) return {};
  return {ErrorCode::device_error, "the farm's database of modules is damaged: expected a hash in a row of a baseline"};
}

Status read_blobs(SqlConnection& connection, const wire::ListBaseline& query, BaselineListing& entry) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT object FROM baseline_objects WHERE suite = $1 AND name = $2 AND case_name = $3 "
                       "AND target = $4 AND place > 0 ORDER BY place",
                       query.suite, query.name, entry.name, entry.target));
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    const std::string text = row.text();
    FERRY_TRY(row.status());
    FERRY_TRY(read_hash(text, entry.blobs.emplace_back()));
  }
  return {};
}

// How often the verdicts are measured, and how many are deleted at once because of their bytes: a few, of which one may
// be all that its holder has.
constexpr std::uint64_t kMeasured = 16;
constexpr std::uint64_t kMostDeletedByBytes = 10'000;

// With the row and what it takes in indexes.
std::uint64_t bytes_of(const wire::AddVerdict& verdict) {
  return 200 + verdict.line.size() + 2 * (verdict.suite.size() + verdict.name.size());
}

std::uint64_t bytes_of(const wire::SetBaseline& request) {
  const std::uint64_t names =
      request.suite.size() + request.name.size() + request.entry.name.size() + request.entry.target.size();
  return 2 * (64 + names) * (3 + request.entry.blobs.size());
}

// Deletes verdicts of whoever has the most bytes of them until all have `most` together.
Status delete_largest_verdicts(SqlConnection& connection, std::uint64_t most) {
  for (;;) {
    FERRY_ASSIGN(const std::uint64_t bytes, bytes_of_verdicts(connection));
    if (bytes <= most) return {};
    FERRY_ASSIGN(
        const SqlResult largest,
        execute(connection, "SELECT holder FROM verdicts GROUP BY holder ORDER BY SUM(bytes) DESC, holder LIMIT 1"));
    if (largest.rows.empty()) return {};
    RowReader row(largest.rows.front());
    const std::string holder = row.text();
    FERRY_TRY(row.status());
    const std::uint64_t count = std::clamp((bytes - most) / (2 * wire::kMaxVerdict), kMeasured, kMostDeletedByBytes);
    FERRY_ASSIGN(const SqlResult deleted,
                 execute(connection,
                         "DELETE FROM verdicts WHERE number IN (SELECT number FROM "
                         "(SELECT number, suite, SUM(bytes) OVER (PARTITION BY suite) AS of_suite FROM verdicts "
                         "WHERE holder = $1) AS counted ORDER BY of_suite DESC, suite, number LIMIT $2)",
                         holder, count));
    if (deleted.changed == 0) return {};
  }
}

// Leaves room for those that are added until it is called again.
Status delete_verdicts(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult counted, execute(connection, "SELECT COUNT(*) FROM verdicts"));
  FERRY_ASSIGN(std::uint64_t count, only_number(counted));
  while (count + kVerdictsDeleted > kMostVerdicts) {
    FERRY_ASSIGN(
        const SqlResult most,
        execute(connection, "SELECT holder FROM verdicts GROUP BY holder ORDER BY COUNT(*) DESC, holder LIMIT 1"));
    if (most.rows.empty()) break;
    RowReader row(most.rows.front());
    const std::string holder = row.text();
    FERRY_TRY(row.status());
    FERRY_ASSIGN(const SqlResult deleted,
                 execute(connection,
                         "DELETE FROM verdicts WHERE number IN (SELECT number FROM "
                         "(SELECT number, suite, COUNT(*) OVER (PARTITION BY suite) AS of_suite FROM verdicts "
                         "WHERE holder = $1) AS counted ORDER BY of_suite DESC, suite, number LIMIT $2)",
                         holder, count + kVerdictsDeleted - kMostVerdicts));
    if (deleted.changed == 0) break;
    count -= std::min(count, deleted.changed);
  }
  return {};
}

// When the entry's module was stored; nothing if there is no such entry.
Result<std::optional<std::int64_t>> stored_time(SqlConnection& connection, const wire::SetBaseline& request) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT stored FROM baselines WHERE suite = $1 AND name = $2 AND case_name = $3 AND target = $4",
                       request.suite, request.name, request.entry.name, request.entry.target));
  if (result.rows.empty()) return std::optional<std::int64_t>();
  RowReader row(result.rows.front());
  const auto stored = row.number<std::int64_t>();
  FERRY_TRY(row.status());
  return std::optional(stored);
}

Status expect_room(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult result, execute(connection, "SELECT COUNT(*) FROM baselines"));
  FERRY_ASSIGN(const std::uint64_t count, only_number(result));
  if (count < kMostBaselineModules) return {};
  return {ErrorCode::resource_exhausted, format("the farm keeps at most %llu modules of baselines",
                                                static_cast<unsigned long long>(kMostBaselineModules))};
}

Status expect_room_for_names(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult sum,
               execute(connection, "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM baselines"));
  FERRY_ASSIGN(const std::uint64_t bytes, only_number(sum));
  if (bytes <= kMostBaselineBytes) return {};
  return {ErrorCode::resource_exhausted,
          format("the farm keeps baselines with names of at most %s together", bytes_text(kMostBaselineBytes).c_str())};
}

Status expect_room_for_objects(SqlConnection& connection, std::size_t more) {
  FERRY_ASSIGN(const SqlResult result, execute(connection, "SELECT COUNT(*) FROM baseline_objects"));
  FERRY_ASSIGN(const std::uint64_t count, only_number(result));
  if (count + more <= kMostBaselineObjects) return {};
  return {ErrorCode::resource_exhausted, format("the farm keeps baselines with at most %llu objects together",
                                                static_cast<unsigned long long>(kMostBaselineObjects))};
}

Status write_objects(SqlConnection& connection, const wire::SetBaseline& request) {
  const BaselineListing& entry = request.entry;
  FERRY_TRY(execute(connection,
                    "DELETE FROM baseline_objects WHERE suite = $1 AND name = $2 AND case_name = $3 AND target = $4",
                    request.suite, request.name, entry.name, entry.target)
                .status());
  FERRY_TRY(expect_room_for_objects(connection, entry.blobs.size() + 1));
  for (std::size_t place = 0; place <= entry.blobs.size(); ++place) {
    const Hash& object = place == 0 ? entry.module : entry.blobs[place - 1];
    FERRY_TRY(execute(connection,
                      "INSERT INTO baseline_objects (suite, name, case_name, target, place, object) "
                      "VALUES ($1, $2, $3, $4, $5, $6)",
                      request.suite, request.name, entry.name, entry.target, place, to_hex(object))
                  .status());
  }
  return {};
}

}  // namespace

Result<std::vector<BaselineListing>> read_baseline(SqlConnection& connection, const wire::ListBaseline& query,
                                                   std::size_t limit) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT case_name, target, module, identity, label, stored, holder FROM baselines "
                       "WHERE suite = $1 AND name = $2 ORDER BY case_name, target LIMIT $3 OFFSET $4",
                       query.suite, query.name, limit, query.after));
  std::vector<BaselineListing> entries;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    BaselineListing& entry = entries.emplace_back();
    entry.name = row.text();
    entry.target = row.text();
    const std::string module = row.text(), identity = row.text();
    entry.label = row.text();
    entry.stored_s = row.number<std::int64_t>();
    entry.holder = row.text();
    FERRY_TRY(row.status());
    FERRY_TRY(read_hash(module, entry.module));
    FERRY_TRY(read_hash(identity, entry.identity));
    FERRY_TRY(read_blobs(connection, query, entry));
  }
  return entries;
}

Result<wire::BaselineNames> read_baseline_names(SqlConnection& connection, const std::string& suite,
                                                std::size_t limit) {
  FERRY_ASSIGN(
      const SqlResult result,
      execute(connection, "SELECT DISTINCT name FROM baselines WHERE suite = $1 ORDER BY name LIMIT $2", suite, limit));
  wire::BaselineNames answer;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    answer.names.push_back(row.text());
    FERRY_TRY(row.status());
  }
  return answer;
}

Result<wire::BaselineSet> write_baseline(SqlConnection& connection, const wire::SetBaseline& request,
                                         const std::string& holder, Time now) {
  const BaselineListing& entry = request.entry;
  wire::BaselineSet answer;
  std::vector<Hash> objects = entry.blobs;
  objects.insert(objects.begin(), entry.module);
  for (const Hash& object : objects) {
    FERRY_ASSIGN(const bool is_stored, touch_object(connection, object, now));
    if (!is_stored) answer.missing.push_back(object);
  }
  if (!answer.missing.empty()) return answer;
  // A clock that is ahead must not keep others from replacing the entry.
  const std::int64_t now_s = now.time_since_epoch().count() / 1000;
  const std::int64_t stored = std::min(entry.stored_s, now_s);
  FERRY_ASSIGN(const std::optional<std::int64_t> before, stored_time(connection, request));
  answer.is_older = before && *before > stored;
  if (answer.is_older) return answer;
  if (!before) FERRY_TRY(expect_room(connection));
  FERRY_TRY(
      execute(connection,
              "INSERT INTO baselines (suite, name, case_name, target, module, identity, label, stored, holder, bytes) "
              "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (suite, name, case_name, target) DO UPDATE "
              "SET module = excluded.module, identity = excluded.identity, label = excluded.label, "
              "stored = excluded.stored, holder = excluded.holder, bytes = excluded.bytes",
              request.suite, request.name, entry.name, entry.target, to_hex(entry.module), to_hex(entry.identity),
              entry.label, stored, holder, bytes_of(request))
          .status());
  FERRY_TRY(expect_room_for_names(connection));
  FERRY_TRY(write_objects(connection, request));
  return answer;
}

Result<wire::BaselineDeleted> delete_baseline(SqlConnection& connection, const wire::DeleteBaseline& request) {
  FERRY_ASSIGN(const SqlResult counted,
               execute(connection, "SELECT COUNT(DISTINCT case_name) FROM baselines WHERE suite = $1 AND name = $2",
                       request.suite, request.name));
  FERRY_ASSIGN(const std::uint64_t cases, only_number(counted));
  for (const char* table : {"baselines", "baseline_objects"}) {
    FERRY_TRY(execute(connection, std::string("DELETE FROM ") + table + " WHERE suite = $1 AND name = $2",
                      request.suite, request.name)
                  .status());
  }
  return wire::BaselineDeleted{static_cast<std::uint32_t>(cases)};
}

Result<wire::CasesDeleted> delete_cases(SqlConnection& connection, const wire::DeleteCases& request) {
  wire::CasesDeleted answer;
  for (const std::string& name : request.cases) {
    bool was_there = false;
    for (const char* table : {"baselines", "baseline_objects"}) {
      FERRY_ASSIGN(const SqlResult deleted,
                   execute(connection,
                           std::string("DELETE FROM ") + table + " WHERE suite = $1 AND name = $2 AND case_name = $3",
                           request.suite, request.name, name));
      was_there = was_there || deleted.changed > 0;
    }
    if (was_there) ++answer.cases;
  }
  return answer;
}

Result<std::vector<wire::VerdictListing>> read_verdicts(SqlConnection& connection, const wire::ListVerdicts& query,
                                                        std::size_t limit) {
  Filter filter;
  filter.add("suite = ?", query.suite);
  if (!query.name.empty()) filter.add("case_name = ?", query.name);
  if (query.before != 0) filter.add("number < ?", query.before);
  filter.end("number DESC", limit);
  FERRY_ASSIGN(
      const SqlResult result,
      execute_checked(connection, "SELECT number, line, holder FROM verdicts" + filter.text(), filter.parameters()));
  std::vector<wire::VerdictListing> verdicts;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    wire::VerdictListing& verdict = verdicts.emplace_back();
    verdict.number = row.number<std::uint64_t>();
    verdict.line = row.bytes();
    verdict.holder = row.text();
    FERRY_TRY(row.status());
  }
  return verdicts;
}

Result<std::uint64_t> bytes_of_verdicts(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult sum,
               execute(connection, "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM verdicts"));
  return only_number(sum);
}

Status write_verdict(SqlConnection& connection, const wire::AddVerdict& request, const std::string& holder,
                     std::uint64_t most_bytes) {
  // Whoever has lost the connection before the answer came sends the verdict again.
  FERRY_ASSIGN(const SqlResult same,
               execute(connection,
                       "SELECT number FROM verdicts WHERE suite = $1 AND case_name = $2 AND line = $3 "
                       "AND number > (SELECT MAX(number) FROM verdicts) - $4 LIMIT 1",
                       request.suite, request.name, request.line, kComparedVerdicts));
  if (!same.rows.empty()) return {};
  FERRY_ASSIGN(const SqlResult added,
               execute(connection,
                       "INSERT INTO verdicts (number, suite, case_name, line, holder, bytes) "
                       "SELECT COALESCE(MAX(number), 0) + 1, $1, $2, $3, $4, $5 FROM verdicts RETURNING number",
                       request.suite, request.name, request.line, holder, bytes_of(request)));
  if (added.rows.size() != 1) return {ErrorCode::device_error, "the farm's database of modules takes no verdict"};
  RowReader row(added.rows.front());
  const auto number = row.number<std::uint64_t>();
  FERRY_TRY(row.status());
  // Counting takes time.
  if (number % kMeasured == 0) FERRY_TRY(delete_largest_verdicts(connection, most_bytes));
  return number % kVerdictsDeleted == 0 ? delete_verdicts(connection) : Status();
}

}  // namespace ferry::farm
