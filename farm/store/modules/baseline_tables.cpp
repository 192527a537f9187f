#include "farm/store/modules/baseline_tables.h"

#include <algorithm>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/store/columns.h"
#include "farm/store/modules/object_tables.h"

namespace ferry::farm {

template <>
inline constexpr std::array<RenamedColumn, 2> kRenamedColumns<wire::BaselineListing> = {
    {{"name", "case_name"}, {"stored_s", "stored"}}};
template <>
inline constexpr std::array<RenamedColumn, 1> kRenamedColumns<wire::AddVerdict> = {{{"name", "case_name"}}};

namespace {

using wire::BaselineListing;

// The first four columns are the key.
struct BaselineRow {
  wire::SetBaseline baseline;
  std::uint64_t bytes = 0;

  FERRY_FIELDS((baseline, fields::kNested), (bytes));
};
// An object of a baseline's module: at place 0 the module, then its blobs. All but the last column are the key.
struct BaselineObject {
  std::string suite, name, case_name, target;
  std::size_t place = 0;
  Hash object{};

  FERRY_FIELDS((suite), (name), (case_name), (target), (place), (object));
};
struct VerdictRow {
  wire::AddVerdict verdict;
  std::string holder;
  std::uint64_t bytes = 0;

  FERRY_FIELDS((verdict, fields::kNested), (holder), (bytes));
};

Status read_blobs(SqlConnection& connection, const wire::ListBaseline& query, BaselineListing& entry) {
  FERRY_ASSIGN(const SqlResult result,
               execute(connection,
                       "SELECT object FROM baseline_objects WHERE suite = $1 AND name = $2 AND case_name = $3 "
                       "AND target = $4 AND place > 0 ORDER BY place",
                       query.suite, query.name, entry.name, entry.target));
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    FERRY_TRY(read_column(row, entry.blobs.emplace_back()));
    FERRY_TRY(row.status());
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
    const BaselineObject row{request.suite, request.name, entry.name, entry.target, place, object};
    FERRY_TRY(upsert(connection, "baseline_objects", row, 5));
  }
  return {};
}

}  // namespace

Result<std::vector<BaselineListing>> read_baseline(SqlConnection& connection, const wire::ListBaseline& query,
                                                   std::size_t limit) {
  const SqlValue parameters[] = {query.suite, query.name, sql_value(limit), sql_value(query.after)};
  FERRY_ASSIGN(std::vector<BaselineListing> entries,
               read_rows<BaselineListing>(
                   connection, "baselines",
                   " WHERE suite = $1 AND name = $2 ORDER BY case_name, target LIMIT $3 OFFSET $4", parameters));
  for (BaselineListing& entry : entries) FERRY_TRY(read_blobs(connection, query, entry));
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
  BaselineRow row{request, bytes_of(request)};
  row.baseline.entry.stored_s = stored;
  row.baseline.entry.holder = holder;
  FERRY_TRY(upsert(connection, "baselines", row, 4));
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
  return read_rows<wire::VerdictListing>(connection, "verdicts", filter);
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
  static const std::string kAppend = append_text("verdicts", column_names<VerdictRow>()) + " RETURNING number";
  FERRY_ASSIGN(const SqlResult added,
               execute_with(connection, kAppend, VerdictRow{request, holder, bytes_of(request)}));
  if (added.rows.size() != 1) return {ErrorCode::device_error, "the farm's database of modules takes no verdict"};
  RowReader row(added.rows.front());
  const auto number = row.number<std::uint64_t>();
  FERRY_TRY(row.status());
  // Counting takes time.
  if (number % kMeasured == 0) FERRY_TRY(delete_largest_verdicts(connection, most_bytes));
  return number % kVerdictsDeleted == 0 ? delete_verdicts(connection) : Status();
}

}  // namespace ferry::farm
