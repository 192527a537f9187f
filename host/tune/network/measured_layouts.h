// Which layouts of its groups make a network faster, by measured times in place of estimates where there are any.
//
// The network runs once with other layouts wherever these may be as fast. So both times of many groups are known, and
// those of conversions between layouts; all others are estimates, scaled by what the measured ones took. If a cut by
// these costs is another one than that by estimates, the network with it runs as a whole in turns with the default.
#pragma once

#include "host/tune/network/chosen_schedules.h"
#include "host/tune/network/network_turns.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Returns the layouts with those of all groups changed whose estimates for both differ by no more than 1.3 times.
// Groups with Winograd's algorithm, which only blocks have, are left as they are.
std::string layouts_to_measure(const NetworkLayouts& layouts, const std::vector<NetworkProgram>& kernels);

// The seconds of steps in a call, by the names of their nodes.
using NodeTimes = std::map<std::string, double>;

// Returns the layouts with costs in seconds, from calls with the default's layouts and with the `other` ones.
NetworkLayouts with_measured_costs(NetworkLayouts layouts, const std::string& other, const NodeTimes& by_default,
                                   const NodeTimes& with_other);

struct MeasuredLayouts {
  Hash key{};
  std::string by_default;
  std::string chosen;           // by measured costs
  std::size_t groups = 0;       // those measured in both layouts
  double default_seconds = 0;   // steps of a call
  double share_in_network = 1;  // with those chosen, if they are others
  bool is_used = false;         // they were faster
  // Returns the number of groups whose layouts are others than the default's.
  std::size_t changed() const;
};

// Returns nothing if no group may have another layout.
std::optional<MeasuredLayouts> measure_layouts(const InNetwork& in_network, const Observer& observer);

// Returns the record of layouts that are used in a network.
TuneRecord record_of(const MeasuredLayouts& layouts, const InNetwork& in_network, const std::string& function);

}  // namespace ferry::tune
