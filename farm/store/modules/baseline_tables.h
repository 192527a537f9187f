// The baselines of suites, and the verdicts of earlier runs.
#pragma once

#include <cstdint>
#include <vector>

#include "farm/protocol/modules.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// The verdicts of a farm, of all suites together.
inline constexpr std::uint64_t kMostVerdicts = 200'000;
// So many are deleted together, at least.
inline constexpr std::uint64_t kVerdictsDeleted = 100;
// The modules of all baselines of a farm.
inline constexpr std::uint64_t kMostBaselineModules = 100'000;
// Their objects, each counted as often as a module needs it.
inline constexpr std::uint64_t kMostBaselineObjects = 300'000;
// The names in the rows of all baselines, in bytes. Their objects count towards the quota.
inline constexpr std::uint64_t kMostBaselineBytes = std::uint64_t{256} << 20;
// A verdict that is one of so many newest ones already is not added again.
inline constexpr std::uint64_t kComparedVerdicts = 1'000;

// All of them require a transaction, and those that change something a writing one.

// Returns at most `limit` entries, by name and target, without the first `after`.
Result<std::vector<wire::BaselineListing>> read_baseline(SqlConnection& connection, const wire::ListBaseline& query,
                                                         std::size_t limit);
// Returns at most `limit` names, sorted.
Result<wire::BaselineNames> read_baseline_names(SqlConnection& connection, const std::string& suite, std::size_t limit);
// Replaces the entry, as the request says; `holder` is who does so. Its objects count as used now. Fails with
// resource_exhausted if the farm has kMostBaselineModules others, kMostBaselineObjects or kMostBaselineBytes.
Result<wire::BaselineSet> write_baseline(SqlConnection& connection, const wire::SetBaseline& request,
                                         const std::string& holder, Time now);
Result<wire::BaselineDeleted> delete_baseline(SqlConnection& connection, const wire::DeleteBaseline& request);
Result<wire::CasesDeleted> delete_cases(SqlConnection& connection, const wire::DeleteCases& request);

// Returns at most `limit` verdicts, newest first.
Result<std::vector<wire::VerdictListing>> read_verdicts(SqlConnection& connection, const wire::ListVerdicts& query,
                                                        std::size_t limit);
// Does nothing if the verdict is one of the kComparedVerdicts newest. Makes room for those to come if there are
// kMostVerdicts, or more than `most_bytes` of them. Then whoever has most of them, by the names of holders, loses some,
// the oldest ones of the suite of which he has most.
Status write_verdict(SqlConnection& connection, const wire::AddVerdict& request, const std::string& holder,
                     std::uint64_t most_bytes);
// Returns what all verdicts take.
Result<std::uint64_t> bytes_of_verdicts(SqlConnection& connection);

}  // namespace ferry::farm
