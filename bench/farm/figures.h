// The figures of a farm, each a row of the report.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "bench/rpc/report.h"
#include "tests/support/farm_process/real_farm.h"

namespace ferry::bench {

using test::Database;
using test::RealFarm;

inline const char* name_of(Database database) { return database == Database::sqlite ? "SQLite" : "PostgreSQL"; }

// As printf; for one number.
inline std::string text_of(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

struct Programs {
  std::string ferry, rpc_server, slow_fsync;
  std::chrono::seconds duration{5};  // to measure each figure
};

// Lease, session, a null call, release: real boards and the client that everybody uses.
void measure_cycles(const Programs& programs, Report& report);
// What a lease adds to the time of a bench of 100 ms.
void measure_overhead(const Programs& programs, Report& report);
// Leases of boards that are simulated.
void measure_leases(const Programs& programs, Report& report);
// A list of 100 boards.
void measure_query(const Programs& programs, Report& report);
// 10,000 boards.
void measure_crowd(const Programs& programs, Report& report);

}  // namespace ferry::bench
