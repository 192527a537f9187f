// A trial of tuning: it says which kernel was measured where, under which schedule, and how fast it was.
#pragma once

#include "ferry/hash.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// The kind of device that a schedule was measured on. Devices of one kind share records.
struct DeviceKey {
  std::string arch;                   // "x86_64", or "sm_90" if it is a GPU
  std::string cpu;                    // as the compiler calls it; empty for a GPU
  std::vector<std::string> features;  // sorted; none for a GPU
  std::uint32_t threads = 0;          // parallel loops may have so many; 0 for a GPU
  auto operator<=>(const DeviceKey&) const = default;
};

// Says what a record is about. Records with equal keys compete.
struct TaskKey {
  // Hashes the program with canonical names, its types and sizes, and which of the sizes are fixed in the code.
  Hash program{};
  // Hashes the text of the user's own schedule, if its knobs are the space.
  std::optional<Hash> schedule = {};
  DeviceKey device;
  auto operator<=>(const TaskKey&) const = default;
};

enum class Outcome : std::uint8_t {
  measured,
  refused,   // it could not be compiled
  crashed,   // in the compiler or on the device
  hung,      // it took longer than it may
  wrong,     // it computed something else than the default schedule
  too_slow,  // stopped before it was measured, because it could not win
};

// The time of a call in seconds.
struct MeasuredTime {
  double seconds = 0;
  double low = 0, high = 0;  // the 95% interval
  bool operator==(const MeasuredTime&) const = default;
};

struct TuneRecord {
  TaskKey key;
  // For people: they do not tell tasks apart.
  std::string function;
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::string> fixed;  // names of the sizes that are fixed in the code
  std::string device;              // its address or name
  std::uint64_t l1_bytes = 0, l2_bytes = 0;

  Outcome outcome = Outcome::measured;
  std::string reason;  // why there is no time; empty if there is one
  // By which the program was computed in place of its own: "winograd2". The point and the code are of the program with
  // this algorithm, and the default is that of the key's program. Empty: its own.
  std::string algorithm;
  std::string point;                      // docs/autoschedule.md
  std::vector<std::string> values;        // the same in the order of the decisions, without names
  std::string directives;                 // the schedule with canonical names, one directive a line
  Hash code{};                            // identity of the code
  std::optional<MeasuredTime> time = {};  // if it was measured
  bool confirmed = false;                 // it was compared with the default in processes of their own, in turns

  // The default schedule, in the same run.
  Hash default_code{};
  std::optional<MeasuredTime> default_time = {};

  std::string version;                             // ferry's
  std::map<std::string, std::string> environment;  // in which it was measured
  std::int64_t unix_ms = 0;

  bool operator==(const TuneRecord&) const = default;
};

// Where a kernel was compared: in a network, or by itself.
struct Place {
  std::string network = {};  // its name; empty: by itself
  std::string graph = {};    // hash of its operators, hexadecimal; empty: another version of ferry noted the name alone
  auto operator<=>(const Place&) const = default;
};

// Returns where a record was confirmed.
Place place_of(const TuneRecord& record);
// Notes where a record was confirmed, which is not by itself.
void set_place(TuneRecord& record, const Place& place);

// Returns the time as a share of the default's in the same run; nothing unless both were measured.
std::optional<double> share_of_default(const TuneRecord& record);
// Whether it took less time than the default in the same run, wherever in its interval the time lies.
bool is_faster_than_default(const TuneRecord& record);

}  // namespace ferry::tune
