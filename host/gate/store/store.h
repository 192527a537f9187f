// The store in which the gate keeps what it compares with: the modules of earlier commits, which of them are baselines,
// and the verdicts of earlier runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/blob_source.h"
#include "ferry/error.h"
#include "ferry/hash.h"
#include "host/gate/api/report.h"

namespace ferry::gate {

// Kinds of fields (base/fields.h): another name in the file, and a text that is left out where it is empty.
struct StoredAs {
  std::string_view name;
};
struct LeftOutIfEmpty {};
// Records of earlier versions lack it: then it keeps its value.
struct AddedLater {};

// The module of a case, as one commit had it.
struct StoredModule {
  Hash module{};            // hash of its bytes: the name of the object that holds them
  Hash identity{};          // hash of its source and its compiler: equal ones compile to equal modules
  std::vector<Hash> blobs;  // objects too
  std::string label;        // the commit
  std::int64_t stored = 0;  // seconds since 1970
  std::string holder = {};  // who stored it at a farm; empty: this user
  bool operator==(const StoredModule&) const = default;

  FERRY_FIELDS((module), (identity), (blobs), (label), (stored), (holder, LeftOutIfEmpty()));
};

// A case is compiled anew for each target.
struct CaseTarget {
  std::string name, target;
  auto operator<=>(const CaseTarget&) const = default;

  FERRY_FIELDS((name, StoredAs{"case"}), (target));
};
using Baseline = std::map<CaseTarget, StoredModule>;

// A verdict of an earlier run.
struct HistoryEntry {
  std::int64_t when = 0;  // seconds since 1970
  std::string name, target, label;
  Verdict verdict = Verdict::infrastructure;
  Environment environment;
  StoredModule module;      // the current side's
  PerSide<double> seconds;  // 0: not measured
  Change change;
  double instructions = 0;  // executed by a call of the current side; 0: not counted
  bench::Method method = {};
  bool operator==(const HistoryEntry&) const;

  FERRY_FIELDS((when), (name, StoredAs{"case"}), (target), (label), (verdict), (environment), (module), (seconds),
               (change), (instructions), (method, AddedLater()));
};

// The store cannot be read or written: a mistake of the user, as with any file.
class StoreFailed : public UsageError {
 public:
  using UsageError::UsageError;
};

// Everything throws StoreFailed if something cannot be stored or read, and UsageError for contents that are damaged,
// with the file or the object. Several processes may use one store at the same time, and any of them may be killed.
class Store {
 public:
  virtual ~Store() = default;

  // Whether there is such an object, whatever its contents. It counts as used, as with all functions for objects.
  virtual bool has(const Hash& object) = 0;
  // Stores the bytes under their hash. Both functions replace an object that is damaged.
  virtual Hash put(std::span<const std::uint8_t> bytes) = 0;
  virtual void put_blob(const Hash& blob, std::uint64_t bytes, const BlobSource& from) = 0;
  // Returns nothing if there is no such object, and throws if its contents have another hash.
  virtual std::optional<std::vector<std::uint8_t>> get(const Hash& object) = 0;
  // Returns the contents of those of the blobs that are stored, and throws like get().
  virtual std::shared_ptr<const BlobSource> blobs(std::span<const Hash> blobs) = 0;

  // Returns who stored the module, for a person: "anna", "uid 1001"; empty if this user did. A module is native code:
  // whoever runs one of somebody else runs his code. To be asked once the module was read.
  virtual std::string holder_of(const StoredModule& module) = 0;

  // Returns an empty one if there is none of this name.
  virtual Baseline baseline(const std::string& suite, const std::string& name) = 0;
  // Returns the names of the suite's baselines, sorted.
  virtual std::vector<std::string> baseline_names(const std::string& suite) = 0;
  // Replaces the modules of these cases and keeps the others. Where the baseline has a module that was stored later,
  // that one stays: a run of an older commit may end after that of a newer one (merge_baseline.h). Changes nothing and
  // throws StoreFailed if an object of the modules is not stored: another process may have deleted it since it was
  // used.
  virtual void update(const std::string& suite, const std::string& name, const Baseline& changes) = 0;
  // Deletes a baseline, also a damaged one: its objects are no longer needed, and the history stays. Returns how many
  // cases it had, 0 if that cannot be read, and nothing if there was none of this name.
  virtual std::optional<std::size_t> forget(const std::string& suite, const std::string& name) = 0;

  // Deletes cases of a baseline, for all targets. Returns how many of them it had.
  virtual std::size_t forget_cases(const std::string& suite, const std::string& name,
                                   const std::set<std::string>& cases) = 0;

  virtual void add_history(const std::string& suite, std::span<const HistoryEntry> entries) = 0;
  // Returns the entries of one case, or of all for an empty name, in the order in which they were added. The oldest
  // are dropped when there are too many.
  virtual std::vector<HistoryEntry> history(const std::string& suite, const std::string& name) = 0;

  // Deletes objects until all of them are within the quota, the oldest first, but none that a baseline needs and none
  // that was used during the last hour. If a baseline cannot be read, of whatever suite, none are deleted. Returns a
  // sentence if the objects exceed the quota after that, otherwise an empty text.
  virtual std::string collect() = 0;
};

}  // namespace ferry::gate
