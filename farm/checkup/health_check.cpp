#include "farm/checkup/health_check.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <exception>

#include "base/format.h"
#include "base/printable.h"
#include "farm/client/farm_connector.h"
#include "host/client/connect/leased_board.h"
#include "host/client/connect_to.h"

namespace ferry::farm {
namespace {

// Keeps a lying board from filling logs and database.
constexpr std::size_t kMaxText = 512;

// Until then a board that is reached by ssh must have answered, with each login.
constexpr std::chrono::seconds kLoginTimeout{30};

std::shared_ptr<session::Connector> connector_of(const HealthJob& job, double limit_s) {
  if (!job.psk) return session::Schemes().connector(job.address, "");
  session::LeasedBoard board{job.address, job.address, job.epoch, job.psk->bytes};
  if (!job.address.starts_with(session::kSshScheme)) {
    return session::board_connector(board, job.address, job.relay ? relay_detour(*job.relay) : session::Detour());
  }
  const std::chrono::duration<double> limit(limit_s);
  board.lease = session::lease_for(std::chrono::duration_cast<std::chrono::milliseconds>(limit));
  return session::board_connector(board, job.address + " (health check)", {}, {true, kLoginTimeout, -1});
}

Device connect(session::Connector& connector, const HealthOptions& options, CheckControl& control) {
  ConnectOptions connection;
  connection.deadlines.session = connection.deadlines.call = options.limit_s;
  connection.deadlines.queue = options.limit_s;
  return session::connect_to(connector, connection, [&](int socket) { control.watch(socket); });
}

std::string place_of(const HealthOptions& options) {
  if (!options.place.empty()) return options.place;
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void fail(HealthOutcome& outcome, CheckEnd end, const std::string& why) {
  outcome.end = end;
  outcome.text = printable(why.substr(0, kMaxText));
  outcome.check = {};
}

// Whether an error while a job ran is a matter of the connection and not of the board's work.
bool is_of_connection(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::busy || code == ErrorCode::unauthenticated;
}

// Makes the connector for the first session. Returns whether the check goes on.
bool run_session(const HealthJob& job, std::shared_ptr<session::Connector>& connector, ReferenceModules& modules,
                 const HealthOptions& options, CheckControl& control, HealthOutcome& outcome) {
  outcome.job = HealthMetric::ping;
  bool is_connected = false;
  try {
    if (connector == nullptr) connector = connector_of(job, options.limit_s);
    const Device device = connect(*connector, options, control);
    const ReferenceSizes sizes = sizes_for(options.sizes, device.facts());
    const CompiledModule module = modules.module_for(device.facts(), sizes);
    is_connected = true;
    const SessionTimes session =
        take_reference_times(device, module, sizes, options.effort, place_of(options), outcome.job);
    if (outcome.check.sessions.empty()) {
      outcome.check.environment = session.environment;
      outcome.millidegrees = session.millidegrees;
    }
    if (outcome.check.environment != session.environment) {
      fail(outcome, CheckEnd::inconclusive, "the board's governor or firmware changed during the check");
      return false;
    }
    outcome.check.sessions.push_back(session.times);
    return true;
  } catch (const JobFailed& failure) {
    fail(outcome, CheckEnd::failed, failure.what());
  } catch (const Error& error) {
    const bool is_late = is_connected && error.code() == ErrorCode::deadline_exceeded;
    const bool is_inconclusive = !is_connected || is_of_connection(error.code());
    fail(outcome,
         is_late           ? CheckEnd::timed_out
         : is_inconclusive ? CheckEnd::inconclusive
                           : CheckEnd::failed,
         error.what());
  } catch (const std::exception& error) {
    fail(outcome, CheckEnd::inconclusive, error.what());
  }
  return false;
}

}  // namespace

void CheckControl::end_with(CheckEnd end) {
  const std::lock_guard lock(mutex_);
  if (end_) return;
  end_ = end;
  if (socket_.number() >= 0) shutdown(socket_.number(), SHUT_RDWR);
}

std::optional<CheckEnd> CheckControl::ended() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void CheckControl::watch(int socket) {
  const std::lock_guard lock(mutex_);
  socket_ = Descriptor(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (end_ && socket_.number() >= 0) shutdown(socket_.number(), SHUT_RDWR);
}

HealthOutcome check_health(const HealthJob& job, ReferenceModules& modules, const HealthOptions& options,
                           CheckControl& control) {
  HealthOutcome outcome;
  outcome.board = job.board;
  std::shared_ptr<session::Connector> connector;
  bool goes_on = true;
  while (goes_on && outcome.check.sessions.size() < kHealthSessions && !control.ended())
    goes_on = run_session(job, connector, modules, options, control, outcome);
  if (const auto ended = control.ended()) {
    fail(outcome, *ended,
         *ended == CheckEnd::cancelled
             ? std::string("the check was cancelled")
             : format("expected a health check within %g s, got no end by then", options.limit_s));
  } else if (goes_on) {
    outcome.end = CheckEnd::measured;
  }
  return outcome;
}

}  // namespace ferry::farm
