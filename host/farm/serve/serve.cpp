#include "host/farm/serve/serve.h"

#include <signal.h>

#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/printable.h"
#include "host/farm/keys/master_key.h"
#include "host/farm/keys/revocation_file.h"
#include "host/farm/serve/farm_files.h"
#include "host/farm/store/missing_revocations.h"
#include "host/farm/tracker/tracker.h"
#include "rpc/server/host_name.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {
namespace {

constexpr std::uint16_t kPort = 9191;

void log_line(const std::string& line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char time[32];
  strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &parts);
  fprintf(stderr, "%s.%03ldZ %s\n", time, now.tv_nsec / 1'000'000, printable(line).c_str());
}

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

Result<bool> has_credentials(Store& store) {
  FERRY_ASSIGN(const std::vector<Credential> credentials, store.credentials());
  return !credentials.empty();
}

// After a backup was restored, revokes again what had been revoked since.
Status repeat_revocations(Store& store, const RevocationFile& file) {
  FERRY_ASSIGN(const std::vector<Credential> credentials, store.credentials());
  for (const Revocation& one : missing_revocations(file.revocations(), credentials)) {
    log_line(format("the database does not know that credential %s was revoked: revoking it again", one.id.c_str()));
    FERRY_TRY(store.revoke_credential(one.kind, one.id, Time(Duration(one.at_ms))));
  }
  return {};
}

}  // namespace

Status serve(const ServeOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  FERRY_ASSIGN(const TcpAddress listen, parse_tcp_address(options.listen, kPort));
  FERRY_ASSIGN(const std::string host, server::find_address(listen.host, "--listen"));
  FERRY_ASSIGN(FarmStore opened, open_store(options));
  const FarmFiles files = files_of(options);
  FERRY_ASSIGN(const bool has_users, has_credentials(*opened.store));
  FERRY_ASSIGN(const secure::Key master,
               open_master_key(files.master_key, is_postgres(options.database) ? std::string() : options.database,
                               has_users ? IfMissing::refuse : IfMissing::make));
  FERRY_ASSIGN(RevocationFile revocations, RevocationFile::open(files.revocations));
  if (opened.read_only_reason.empty()) FERRY_TRY(repeat_revocations(*opened.store, revocations));

  server::EventLoop loop;
  TrackerOptions tracker_options;
  tracker_options.host = host;
  tracker_options.port = listen.port;
  tracker_options.master = master;
  tracker_options.read_only_reason = opened.read_only_reason;
  tracker_options.log = log_line;
  tracker_options.note_revocation = [&revocations](const Credential& credential) {
    return revocations.add({credential.kind, credential.id, credential.salt, now_ms()});
  };
  tracker_options.on_first_admin = [&files](const secure::Key& key) {
    const Status written = secure::write_key_file(files.first_admin, key);
    log_line(written.is_ok() ? "the first admin's key is in " + files.first_admin
                             : "the first admin's key could not be written: " + written.message());
  };
  FERRY_ASSIGN(const std::unique_ptr<Tracker> tracker,
               Tracker::open(loop, std::move(opened.store), std::move(tracker_options)));
  if (!opened.read_only_reason.empty()) log_line("read-only: " + opened.read_only_reason);
  log_line("tracker at " + tracker->address() + ", database " + options.database);
  FERRY_TRY(loop.handle_signals({SIGINT, SIGTERM}, [&](int) {
    log_line("stopping; leases go on");
    tracker->stop();
    loop.no_more_signals();
  }));
  loop.run();
  return {};
}

}  // namespace ferry::farm
