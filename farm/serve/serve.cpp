#include "farm/serve/serve.h"

#include <signal.h>

#include <asio/post.hpp>
#include <memory>
#include <thread>
#include <utility>

#include "base/format.h"
#include "base/unix_time.h"
#include "farm/keys/master_key.h"
#include "farm/keys/revocation_file.h"
#include "farm/serve/farm_files.h"
#include "farm/serve/farm_log.h"
#include "farm/serve/health_service.h"
#include "farm/serve/probe_service.h"
#include "farm/serve/settings.h"
#include "farm/store/change_watch.h"
#include "farm/store/missing_revocations.h"
#include "farm/store/open_connection.h"
#include "farm/tracker/tracker.h"
#include "farm/web/http_server.h"
#include "rpc/server/host_name.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {
namespace {

constexpr std::uint16_t kPort = 9191;
constexpr std::uint16_t kHttpPort = 8080;

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

// HOST:PORT of this machine; port 0 stands for any free one.
Result<TcpAddress> parse_own_address(const std::string& text, std::uint16_t default_port, const char* option) {
  const bool is_any = text.ends_with(":0");
  FERRY_ASSIGN(TcpAddress address, parse_tcp_address(text.substr(0, text.size() - (is_any ? 2 : 0)), default_port));
  if (is_any) address.port = 0;
  FERRY_ASSIGN(address.host, server::find_address(address.host, option));
  return address;
}

Result<std::unique_ptr<http::HttpServer>> start_http(const ServeOptions& options, Farm& farm) {
  FERRY_ASSIGN(const TcpAddress address, parse_own_address(options.http, kHttpPort, "--http"));
  http::HttpOptions http_options;
  http_options.host = address.host;
  http_options.port = address.port;
  http_options.behind_proxy = options.behind_proxy;
  return http::HttpServer::start(farm, http_options);
}

}  // namespace

Status serve(const ServeOptions& options, const Compiler& compiler) {
  signal(SIGPIPE, SIG_IGN);
  FERRY_ASSIGN(const TcpAddress listen, parse_own_address(options.listen, kPort, "--listen"));
  FERRY_ASSIGN(Settings settings, Settings::read(options.config, log_line));
  FERRY_ASSIGN(FarmStore opened, open_store(options));
  const FarmFiles files = files_of(options);
  FERRY_ASSIGN(const bool has_users, has_credentials(*opened.store));
  FERRY_ASSIGN(const secure::Key master,
               open_master_key(files.master_key, is_postgres(options.database) ? std::string() : options.database,
                               has_users ? IfMissing::refuse : IfMissing::make));
  FERRY_ASSIGN(RevocationFile revocations, RevocationFile::open(files.revocations));
  if (opened.read_only_reason.empty()) FERRY_TRY(repeat_revocations(*opened.store, revocations));

  server::EventLoop loop;
  HookRunner hooks(log_line);
  HealthService health(loop, compiler, log_line, [] { return Time(Duration(unix_milliseconds())); });
  ProbeService prober(loop);
  std::unique_ptr<Tracker> tracker;
  TrackerOptions tracker_options;
  tracker_options.host = listen.host;
  tracker_options.port = listen.port;
  tracker_options.master = master;
  tracker_options.read_only_reason = opened.read_only_reason;
  tracker_options.is_shared = is_postgres(options.database);
  if (settings.config().has_health_checks) tracker_options.health = &health;
  tracker_options.modules = files.modules;
  tracker_options.module_quota = settings.config().module_quota;
  tracker_options.prober = &prober;
  tracker_options.health_idle = settings.config().health_idle;
  tracker_options.relay = settings.config().relay;
  tracker_options.log = log_line;
  tracker_options.on_state = [&](const std::string& board, BoardState before, BoardState after,
                                 const std::string& reason) { settings.on_state(hooks, board, before, after, reason); };
  tracker_options.on_begin = [&] { settings.apply(*tracker); };
  tracker_options.note_revocation = [&](const Credential& credential) {
    return revocations.add({credential.kind, credential.id, credential.salt, unix_milliseconds()});
  };
  tracker_options.on_first_admin = [&](const secure::Key& key) {
    const Status written = secure::write_key_file(files.first_admin, key);
    log_line(written.is_ok() ? "the first admin's key is in " + files.first_admin
                             : "the first admin's key could not be written: " + written.message());
  };
  FERRY_ASSIGN(tracker, Tracker::open(loop, std::move(opened.store), std::move(tracker_options)));
  health.set_receiver([&](const CheckedBoard& checked) { tracker->checked(checked); });
  prober.set_receiver([&](const ProbedBoard& probed) { tracker->probed(probed); });
  std::unique_ptr<ChangeWatch> watch;
  if (is_postgres(options.database)) {
    watch = std::make_unique<ChangeWatch>(
        options.database, [&] { asio::post(loop.context(), [&] { tracker->term_may_have_changed(); }); });
  }
  if (!opened.read_only_reason.empty()) log_line("read-only: " + opened.read_only_reason);
  log_line("tracker at " + tracker->address() + ", database " + without_credentials(options.database));

  std::unique_ptr<http::HttpServer> http;
  if (!options.http.empty()) {
    FERRY_ASSIGN(http, start_http(options, tracker->farm()));
    log_line("page at " + http->url());
  }
  bool is_stopping = false;
  FERRY_TRY(loop.handle_signals({SIGINT, SIGTERM, SIGHUP}, [&](int number) {
    if (number == SIGHUP) return settings.reload(tracker.get());
    if (std::exchange(is_stopping, true)) return;
    log_line("stopping; leases go on");
    // Its threads may wait for answers of the loop, which they get until they have ended.
    std::thread([&] {
      if (http) http->stop();
      asio::post(loop.context(), [&] {
        tracker->stop();
        loop.no_more_signals();
      });
    }).detach();
  }));
  loop.run();
  return {};
}

}  // namespace ferry::farm
