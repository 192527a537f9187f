#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/client/farm_connector.h"
#include "farm/protocol/lease_id.h"
#include "host/cli/options/child_process.h"
#include "host/cli/options/program_words.h"
#include "host/text/progress.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

using std::chrono::seconds;

// How long a program may take to end after the end of its lease.
constexpr seconds kGrace{10};
// Leases are extended for longer than that.
constexpr seconds kRefreshPeriod{60};

struct ExecOptions {
  FarmOptions farm;
  LeaseFlags lease;
  std::vector<std::string> program;
};

// The file of a lease, for as long as this object exists.
class TemporaryLeaseFile {
 public:
  TemporaryLeaseFile(const farm::FarmAccess& access, const farm::BoardLease& lease)
      : farm_(access), lease_(lease), path_(lease_folder() + "/" + farm::lease_text(lease.id())) {
    session::write_lease_file(path_, farm::lease_file_of(farm_, lease_));
  }
  ~TemporaryLeaseFile() { unlink(path_.c_str()); }
  TemporaryLeaseFile(const TemporaryLeaseFile&) = delete;
  TemporaryLeaseFile& operator=(const TemporaryLeaseFile&) = delete;
  const std::string& path() const { return path_; }
  // Says when the lease ends now, for boards whose sessions must know it.
  void refresh() const {
    const auto is_by_ssh = [](const auto& board) { return board.address.starts_with("ssh://"); };
    if (std::ranges::none_of(lease_.slots(), is_by_ssh)) return;
    try {
      session::replace_lease_file(path_, farm::lease_file_of(farm_, lease_));
    } catch (const Error& error) {
      text::print_error(error.what());
    }
  }

 private:
  const farm::FarmAccess& farm_;
  const farm::BoardLease& lease_;
  std::string path_;
};

// Ends the program when the lease ends before it.
class LeaseWatch {
 public:
  LeaseWatch(farm::BoardLease& lease, const TemporaryLeaseFile& file, ChildProcess& program)
      : lease_(lease), file_(file), program_(program), thread_([this] { watch(); }) {}
  ~LeaseWatch() { stop(); }
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // Releases the lease, unless it has ended. Returns whether it had ended before the program.
  bool stop() {
    if (thread_.joinable()) {
      is_stopping_ = true;
      lease_.release();
      thread_.join();
    }
    return has_ended_;
  }

 private:
  void watch() {
    std::optional<farm::LeaseEnd> end;
    while (!(end = lease_.wait_for_end(kRefreshPeriod)) && !is_stopping_) {
      if (lease_.remaining().count() > 0) file_.refresh();
    }
    if (!end || program_.has_ended()) return;
    has_ended_ = true;
    text::Progress::clear();
    text::print_error(
        ("the lease of " + farm::boards_text(lease_.slots()) + " has ended: " + farm::to_text(*end)).c_str());
    program_.send(SIGTERM);
    for (int i = 0; i < 100 && !program_.has_ended(); ++i) std::this_thread::sleep_for(kGrace / 100.0);
    program_.send(SIGKILL);
  }

  farm::BoardLease& lease_;
  const TemporaryLeaseFile& file_;
  ChildProcess& program_;
  std::atomic<bool> is_stopping_{false};
  bool has_ended_ = false;  // the thread's until it has ended
  std::thread thread_;
};

int execute(const ExecOptions& options) {
  const std::vector<std::string> words = program_words(options.program);
  if (words.empty()) throw UsageError("expected a command after --, as in ferry farm exec rpi4 -- make test");
  const farm::FarmAccess access = access_of(options.farm);
  farm::LeaseOptions wanted = lease_options(options.lease);
  wanted.is_extended = true;
  const auto lease = request_boards(access, wanted);
  const TemporaryLeaseFile file(access, *lease);
  setenv("FERRY_REMOTE", (std::string(session::kLeaseScheme) + file.path()).c_str(), 1);
  ChildProcess program(words);
  LeaseWatch watch(*lease, file, program);
  const int code = program.wait();
  return watch.stop() ? kExitDevice : code;
}

}  // namespace

void add_farm_exec(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App& command = *farm.add_subcommand("exec", "Run a program that has boards for as long as it runs");
  add_lease_options(command, options->lease);
  add_program_option(command, options->program);
  add_farm_options(command, options->farm);
  command.footer(
      "The program follows after --. FERRY_REMOTE names the first board for the ferry commands in it; with several\n"
      "boards, --remote \"$FERRY_REMOTE#2\" is the second one. The exit code is that of the program. The lease is\n"
      "extended by 30 minutes, or --length, until the program ends, unless others wait for the boards.\n\n"
      "Examples:\n"
      "  ferry farm exec rpi4 -- ferry bench mm.ferry\n"
      "  ferry farm exec arch=aarch64 arch=armv7 --wait 10m --length 1h -- ./test_both.sh");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return execute(*options); }; });
}

}  // namespace ferry::cli
