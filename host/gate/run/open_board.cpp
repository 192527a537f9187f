#include "host/gate/run/open_board.h"

#include <utility>

#include "ferry/error.h"
#include "host/gate/run/measure_pair.h"

namespace ferry::gate {

namespace {

Device open_or_refuse(const OpenSession& open, const ConnectOptions& options) {
  try {
    return open(options);
  } catch (const Error& error) {
    // With devices, a case may ask for one that the board does not have, though others can run there.
    const bool is_refused = error.code() == ErrorCode::invalid_argument ||
                            (error.code() == ErrorCode::not_found && options.devices.empty());
    if (is_refused) throw BoardRefused(error.what());
    throw;
  }
}

}  // namespace

OpenBoard::OpenBoard(OpenSession open, bool is_here) : is_here_(is_here) {
  sessions_ = [this, open = std::move(open)](const ConnectOptions& options) {
    Device device = open_or_refuse(open, options);
    const Environment environment = environment_of(bench::ran_on(device), "");
    const auto [known, is_new] = known_.try_emplace(options.devices, BoardFacts{device.facts(), environment});
    expect_same_environment(known->second.environment, environment);
    return device;
  };
}

const BoardFacts& OpenBoard::facts(const std::vector<std::string>& devices) {
  const auto known = known_.find(devices);
  if (known != known_.end()) return known->second;
  ConnectOptions connection;
  connection.devices = devices;
  sessions_(connection);
  return known_.at(devices);
}

}  // namespace ferry::gate
