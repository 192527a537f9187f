#include "farm/store/modules/module_tables.h"

#include "farm/store/schema.h"

namespace ferry::farm {
namespace {

// Hashes are texts of hexadecimal digits. Times are in milliseconds since 1970, that of `stored` in seconds.
constexpr const char* kFirstVersion[] = {
    "CREATE TABLE objects (hash TEXT PRIMARY KEY, upload BIGINT NOT NULL, bytes BIGINT NOT NULL, used BIGINT NOT NULL)",
    "CREATE INDEX objects_by_use ON objects (used)",
    // The contents of an object. Those of uploads that no object has are left over from one that was cut off.
    "CREATE TABLE pieces (upload BIGINT NOT NULL, number BIGINT NOT NULL, contents BYTEA NOT NULL, "
    "PRIMARY KEY (upload, number))",

    "CREATE TABLE baselines (suite TEXT NOT NULL, name TEXT NOT NULL, case_name TEXT NOT NULL, target TEXT NOT NULL, "
    "module TEXT NOT NULL, identity TEXT NOT NULL, label TEXT NOT NULL, stored BIGINT NOT NULL, "
    "PRIMARY KEY (suite, name, case_name, target))",
    // The objects of a baseline's modules: at place 0 the module, then its blobs.
    "CREATE TABLE baseline_objects (suite TEXT NOT NULL, name TEXT NOT NULL, case_name TEXT NOT NULL, "
    "target TEXT NOT NULL, place BIGINT NOT NULL, object TEXT NOT NULL, "
    "PRIMARY KEY (suite, name, case_name, target, place))",
    "CREATE INDEX baseline_objects_by_object ON baseline_objects (object)",

    "CREATE TABLE verdicts (number BIGINT PRIMARY KEY, suite TEXT NOT NULL, case_name TEXT NOT NULL, "
    "line BYTEA NOT NULL)",
    "CREATE INDEX verdicts_by_case ON verdicts (suite, case_name, number)",
    "CREATE INDEX verdicts_by_suite ON verdicts (suite, number)",
};

// Pieces without an object are looked for by their upload.
constexpr const char* kSecondVersion[] = {
    "CREATE UNIQUE INDEX objects_by_upload ON objects (upload)",
};

// Whoever has added most of the verdicts loses the oldest of them.
constexpr const char* kThirdVersion[] = {
    "ALTER TABLE verdicts ADD COLUMN holder TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX verdicts_by_holder ON verdicts (holder, suite, number)",
};

// A module is native code: whoever runs it must know whose it is.
constexpr const char* kFourthVersion[] = {
    "ALTER TABLE baselines ADD COLUMN holder TEXT NOT NULL DEFAULT ''",
};

// Estimates how much disk space verdicts and the rows of baselines take, as bytes_of() in baseline_tables.cpp does.
constexpr const char* kFifthVersion[] = {
    "ALTER TABLE verdicts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
    "UPDATE verdicts SET bytes = 200 + LENGTH(line) + 2 * (LENGTH(suite) + LENGTH(case_name))",
    "CREATE INDEX verdicts_by_bytes ON verdicts (holder, bytes)",
    "ALTER TABLE baselines ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
    "UPDATE baselines SET bytes = 2 * (64 + LENGTH(suite) + LENGTH(name) + LENGTH(case_name) + LENGTH(target)) * "
    "(2 + (SELECT COUNT(*) FROM baseline_objects o WHERE o.suite = baselines.suite AND o.name = baselines.name AND "
    "o.case_name = baselines.case_name AND o.target = baselines.target))",
    "CREATE INDEX baselines_by_bytes ON baselines (bytes)",
};

constexpr Migration kMigrations[] = {kFirstVersion, kSecondVersion, kThirdVersion, kFourthVersion, kFifthVersion};

}  // namespace

Status migrate_modules(SqlConnection& connection) { return migrate(connection, kMigrations, "modules_version"); }

}  // namespace ferry::farm
