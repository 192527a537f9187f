#include "farm/checkup/health_check.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <exception>

#include "base/format.h"
#include "base/printable.h"
#include "base/throw_status.h"
#include "host/client/connect_to.h"

namespace ferry::farm {
namespace {

// Keeps a lying board from filling logs and database.
constexpr std::size_t kMaxText = 512;

// Until then a board that is reached by ssh must have answered, with each login.
constexpr std::chrono::seconds kLoginTimeout{30};

session::Destination destination_of(const HealthJob& job, double limit_s) {
  if (!job.psk) return session::find_destination(job.address, "");
  session::Destination to;
  if (job.address.starts_with("ssh://")) {
    const auto limit = std::chrono::duration<double>(limit_s);
    const auto remaining = std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    to = session::board_destination({job.address, job.address, job.epoch, job.psk->bytes}, remaining, "health check");
    to.ssh_options = {true, kLoginTimeout, -1};
    return to;
  }
  to.tcp = take(parse_tcp_address(job.address, 0));
  to.name = to_text(to.tcp);
  to.key = *job.psk;
  to.relay = job.relay;
  return to;
}

Device connect(const HealthJob& job, const HealthOptions& options, CheckControl& control) {
  ConnectOptions connection;
  connection.deadlines.session = connection.deadlines.call = options.limit_s;
  connection.deadlines.queue = options.limit_s;
  return session::connect_to(destination_of(job, options.limit_s), connection,
                             [&](int socket) { control.watch(socket); });
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

// Returns whether the check goes on.
bool run_session(const HealthJob& job, ReferenceModules& modules, const HealthOptions& options, CheckControl& control,
                 HealthOutcome& outcome) {
  outcome.job = HealthMetric::ping;
  bool is_connected = false;
  try {
    const Device device = connect(job, options, control);
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
  bool goes_on = true;
  while (goes_on && outcome.check.sessions.size() < kHealthSessions && !control.ended())
    goes_on = run_session(job, modules, options, control, outcome);
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
