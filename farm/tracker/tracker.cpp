#include "farm/tracker/tracker.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "farm/protocol/lease_id.h"
#include "farm/tracker/board_connections.h"
#include "farm/tracker/client_connections.h"
#include "farm/tracker/farm_facade.h"
#include "farm/tracker/farm_numbers.h"
#include "farm/tracker/health_rounds.h"
#include "farm/tracker/maintenance.h"
#include "farm/tracker/peer_listener.h"
#include "farm/tracker/query_service.h"
#include "farm/tracker/ssh_boards.h"
#include "farm/tracker/takeover.h"

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPeriod{1};                // between two checks of the term, and two rounds of maintenance
constexpr milliseconds kStandbyPeriod{250};  // between a standby's tries to get the right to schedule
// A tracker that has not reached a shared database for so long takes it that another one schedules.
constexpr seconds kDatabaseSilence{6};
static_assert(kDatabaseSilence < Store::kRightLasts);

class TrackerProcess final : public Tracker, PeerHandler {
 public:
  TrackerProcess(server::EventLoop& loop, std::unique_ptr<Store> store, TrackerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        max_connections_(allow_connections(options_.max_connections, kMaxPending)),
        secrets_(max_connections_ + kMaxPending),
        log_(options_.log),
        keys_(options_.master),
        peers_(loop, *this),
        database_(loop, std::move(store),
                  [this](TrackerTerm term, const Result<CommitOutcome>& outcome) { on_committed(term, outcome); }),
        boards_(scheduler_),
        audit_(scheduler_, boards_, database_, log_),
        sessions_(scheduler_, boards_, database_, log_),
        credentials_(scheduler_, boards_, keys_, peers_, database_, options_.note_revocation, log_),
        board_connections_(scheduler_, boards_, peers_, credentials_, sessions_,
                           {log_, options_.on_state, [this] { facade_.has_changed(); }}),
        clients_(scheduler_, boards_, keys_, peers_, audit_),
        modules_(clients_, peers_, audit_),
        relays_(scheduler_, peers_, audit_, log_),
        listings_(scheduler_, boards_),
        past_listings_(boards_, database_),
        commands_(scheduler_, boards_, credentials_, audit_, database_, [this] { facade_.has_changed(); }),
        queries_(listings_, past_listings_, commands_, clients_, peers_, modules_, relays_),
        facade_(loop, scheduler_, keys_, queries_, listings_, [this] { return count(); }),
        peer_listener_(loop, scheduler_, keys_, peers_, secrets_, max_connections_,
                       {[this](auto& client, auto& credential) { return board_connections_.admit(client, credential); },
                        [this](auto& client, auto& credential) { return clients_.admit(client, credential); },
                        [this](Descriptor end, auto& ticket) { relays_.accept_end(std::move(end), ticket); }}),
        maintenance_(scheduler_, database_, sessions_, relays_),
        timer_(loop) {}
  ~TrackerProcess() override { stop(); }
  TrackerProcess(const TrackerProcess&) = delete;
  TrackerProcess& operator=(const TrackerProcess&) = delete;

  Status start() {
    FERRY_TRY(peer_listener_.bind(options_.host, options_.port));
    if (options_.relay.relays > 0) FERRY_TRY(relays_.start(options_.relay));
    if (!options_.modules.empty()) modules_.open(loop_, options_.modules, options_.module_quota);
    poll();
    return {};
  }

  const std::string& address() const override { return peer_listener_.address(); }
  Farm& farm() override { return facade_; }

  void checked(const CheckedBoard& checked) override {
    if (rounds_) rounds_->checked(checked);
  }
  void term_may_have_changed() override {
    if (!is_stopping_) poll();
  }
  void set_health_idle(milliseconds idle) override {
    options_.health_idle = idle;
    if (rounds_) rounds_->set_idle(idle);
  }
  void probed(const ProbedBoard& probed) override {
    if (ssh_boards_) ssh_boards_->probed(probed);
  }
  bool describe_board(const BoardSetting& setting) override {
    if (!scheduler_) return true;
    auto board = boards_.find(setting.name);
    if (!board && setting.address.empty()) return false;
    if (!board) {
      board = BoardId{random_id()};
      boards_.set_name(setting.name, *board);
      log_("board " + setting.name + " is enrolled: it is reached at " + setting.address);
    }
    scheduler_.handle(BoardEnrolled{*board, setting.name, setting.tags, setting.machine, setting.shares_machine});
    if (ssh_boards_) ssh_boards_->set_address(*board, setting.address);
    facade_.has_changed();
    return true;
  }
  void set_weight(const std::string& holder, double weight) override {
    scheduler_.handle(HolderWeighted{holder, weight});
  }

  void stop() override {
    if (std::exchange(is_stopping_, true)) return;
    timer_.cancel();
    peer_listener_.close();
    peers_.close_all();
    relays_.stop();
    sessions_.write();
    ssh_boards_.reset();
    modules_.close();
    database_.close();
    scheduler_.end();
  }

 private:
  // The scheduler may be what calls this, so it is destroyed later.
  void poll() {
    timer_.start(scheduler_ ? milliseconds(kPeriod) : kStandbyPeriod, [this] { poll(); });
    if (scheduler_) {
      if (options_.is_shared) check_term();
      return tick();
    }
    retired_.reset();
    retired_rounds_.reset();
    retired_ssh_boards_.reset();
    if (std::exchange(is_asking_, true)) return;
    database_.ask(take_over, [this](const Result<Takeover>& takeover) {
      is_asking_ = false;
      if (takeover.is_ok()) return begin(takeover.value());
      // Boards and clients are to go to the other one at once, instead of waiting here.
      peer_listener_.close();
      if (std::exchange(why_not_, takeover.status().message()) != takeover.status().message())
        log_("standing by: " + takeover.status().message());
    });
  }

  // Another tracker may schedule now, whose boards and clients must not stay here. While the database cannot be asked,
  // nobody can say.
  void check_term() {
    if (std::exchange(is_asking_, true)) {
      if (std::chrono::steady_clock::now() - asked_at_ > kDatabaseSilence)
        step_down({ErrorCode::unavailable, "the database has not answered for too long"});
      return;
    }
    database_.ask([](Store& store) { return store.current_term(); },
                  [this](const Result<TrackerTerm>& term) {
                    is_asking_ = false;
                    if (term.is_ok()) asked_at_ = std::chrono::steady_clock::now();
                    if (!scheduler_) return;
                    if (term.is_ok() && term.value() != scheduler_->term())
                      return step_down({ErrorCode::aborted, "another tracker schedules now"});
                    if (std::chrono::steady_clock::now() - asked_at_ > kDatabaseSilence) step_down(term.status());
                  });
  }

  void begin(const Takeover& takeover) {
    asked_at_ = std::chrono::steady_clock::now();
    why_not_.clear();
    keys_.load(takeover.credentials);
    boards_.load(takeover.snapshot.boards);
    scheduler_.begin(std::make_unique<Scheduler>(
        loop_, database_, takeover.snapshot, takeover.term, Options{options_.health != nullptr}, takeover.now,
        Scheduler::Callbacks{[this](const Action& action) { carry_out_any(action); },
                             [this](const Status& why) { step_down(why); }}));
    if (const Status opened = peer_listener_.open(); !opened.is_ok()) return step_down(opened);
    log_(format("scheduling %zu boards at %s, term %llu", takeover.snapshot.boards.size(), address().c_str(),
                static_cast<unsigned long long>(takeover.term)));
    if (options_.health != nullptr) {
      options_.health->load(takeover.health);
      rounds_ = std::make_unique<HealthRounds>(scheduler_, boards_, keys_, database_, *options_.health,
                                               peer_listener_.own_address(), options_.health_idle, log_);
    }
    if (options_.prober != nullptr)
      ssh_boards_ = std::make_unique<SshBoards>(
          scheduler_, boards_, board_connections_, *options_.prober, [this] { facade_.has_changed(); }, log_);
    modules_.begin();
    add_first_admin();
    options_.on_begin();
    facade_.has_changed();
  }

  void step_down(const Status& why) {
    log_("standing by: " + why.message());
    if (scheduler_) scheduler_->stop();
    peer_listener_.close();
    peers_.close_all();
    clients_.forget_all();
    board_connections_.forget_all();
    retired_rounds_ = std::move(rounds_);
    retired_ssh_boards_ = std::move(ssh_boards_);
    retired_ = scheduler_.end();
    facade_.has_changed();
  }

  void on_committed(TrackerTerm term, const Result<CommitOutcome>& outcome) {
    const std::string failure = outcome.is_ok() ? std::string() : outcome.status().message();
    if (std::exchange(database_failure_, failure) != failure)
      log_("the database: " + (failure.empty() ? "it answers again" : failure));
    if (scheduler_) scheduler_->on_committed(term, outcome);
  }

  FarmNumbers count() const {
    FarmNumbers numbers;
    numbers.boards_connected = boards_.connected();
    numbers.clients_connected = clients_.connected();
    numbers.leases_granted = clients_.leases_granted();
    numbers.refused_connections = peer_listener_.refused();
    numbers.relayed_bytes = relays_.relayed_bytes();
    numbers.read_only_reason = options_.read_only_reason;
    count_scheduled(scheduler_, numbers);
    return numbers;
  }

  void add_first_admin() {
    const auto is_admin = [](const Credential* one) {
      return one->kind == CredentialKind::client && one->role == wire::Role::admin && !one->revoked;
    };
    if (std::ranges::any_of(keys_.all(), is_admin)) return;
    const Credential made = KeyDirectory::make(CredentialKind::client, random_id(), "admin", wire::Role::admin);
    database_.ask([made](Store& store) { return store.replace_credential(made); },
                  [this, made](const Status& written) {
                    if (!written.is_ok()) return log_("no admin could be added: " + written.message());
                    keys_.put(made);
                    options_.on_first_admin(keys_.key_of(made));
                  });
  }

  void tick() {
    peers_.close_silent();
    if (rounds_) rounds_->tick();
    if (scheduler_ && ssh_boards_) ssh_boards_->tick();
    if (scheduler_) maintenance_.tick();
  }

  Status on_board_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return board_connections_.handle_event(from, tag, body);
  }
  Status on_client_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return clients_.handle_event(from, tag, body);
  }
  Status on_query(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    return queries_.answer_frame(from, header, body);
  }
  bool is_congested() const override { return database_.is_congested(); }
  void on_left(ConnectionNumber number) override {
    board_connections_.left(number);
    if (clients_.find(number) != nullptr) modules_.forget(number);
    clients_.left(number);
  }

  void carry_out_any(const Action& action) {
    if (rounds_ && rounds_->handle(action)) return;
    if (ssh_boards_ && ssh_boards_->handle(action)) return;
    std::visit(
        [this](const auto& one) {
          using Kind = std::decay_t<decltype(one)>;
          if constexpr (requires { one.client; }) {
            clients_.carry_out(one);
          } else if constexpr (!std::is_same_v<Kind, Persist>) {
            board_connections_.carry_out(one);
          }
        },
        action);
    facade_.has_changed();
  }

  server::EventLoop& loop_;
  TrackerOptions options_;
  const std::size_t max_connections_;
  server::SecretMemory secrets_;
  const Log log_;
  KeyDirectory keys_;
  Peers peers_;
  ActiveScheduler scheduler_;
  Database database_;
  BoardRegistry boards_;
  AuditLog audit_;
  SessionLog sessions_;
  CredentialService credentials_;
  BoardConnections board_connections_;
  ClientConnections clients_;
  ModuleService modules_;
  RelayService relays_;
  Listings listings_;
  PastListings past_listings_;
  AdminCommands commands_;
  QueryService queries_;
  FarmFacade facade_;
  PeerListener peer_listener_;
  Maintenance maintenance_;
  server::Timer timer_;
  std::unique_ptr<HealthRounds> rounds_, retired_rounds_;
  std::unique_ptr<SshBoards> ssh_boards_, retired_ssh_boards_;
  std::unique_ptr<Scheduler> retired_;
  std::string why_not_;                               // it stands by; so that each reason is logged once
  std::string database_failure_;                      // the database's last failure, logged once too
  std::chrono::steady_clock::time_point asked_at_{};  // when the database last confirmed the term
  bool is_asking_ = false;
  bool is_stopping_ = false;
};

}  // namespace

Result<std::unique_ptr<Tracker>> Tracker::open(server::EventLoop& loop, std::unique_ptr<Store> store,
                                               TrackerOptions options) {
  auto tracker = std::make_unique<TrackerProcess>(loop, std::move(store), std::move(options));
  FERRY_TRY(tracker->start());
  return std::unique_ptr<Tracker>(std::move(tracker));
}

}  // namespace ferry::farm
