// The figures of a farm, each a row of the report.
#pragma once

#include <chrono>

#include "bench/farm/bench_farm.h"
#include "bench/rpc/report.h"

namespace ferry::bench {

struct Programs {
  std::string ferry, rpc_server, slow_fsync;
  std::chrono::seconds duration{5};  // of each figure
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
