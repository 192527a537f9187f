#include "farm/tracker/tracker.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "farm/protocol/lease_id.h"
#include "farm/tracker/board_connections.h"
#include "farm/tracker/client_connections.h"
#include "farm/tracker/farm_facade.h"
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
  TrackerProcess(server::EventLoop& loop, TrackerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        max_connections_(allow_connections(options_.max_connections, kMaxPending)),
        secrets_(max_connections_ + kMaxPending),
        core_(loop, options_.master, *this),
        peer_listener_(core_, secrets_, max_connections_),
        maintenance_(core_),
        facade_(core_),
        timer_(loop) {
    core_.log = options_.log;
    core_.note_revocation = options_.note_revocation;
    core_.on_change = [this] { facade_.has_changed(); };
    core_.read_only_reason = options_.read_only_reason;
    core_.on_state = options_.on_state;
  }
  ~TrackerProcess() override { stop(); }
  TrackerProcess(const TrackerProcess&) = delete;
  TrackerProcess& operator=(const TrackerProcess&) = delete;

  Status start(std::unique_ptr<Store> store) {
    FERRY_TRY(peer_listener_.bind(options_.host, options_.port));
    if (options_.relay.relays > 0) {
      FERRY_ASSIGN(core_.relay, Relay::start(options_.relay));
    }
    if (!options_.modules.empty())
      core_.modules = std::make_unique<ModuleThread>(loop_, options_.modules, options_.module_quota);
    core_.database = std::make_unique<Database>(
        loop_, std::move(store), [this](TrackerTerm term, const Result<CommitOutcome>& outcome) {
          const std::string failure = outcome.is_ok() ? std::string() : outcome.status().message();
          if (std::exchange(database_failure_, failure) != failure)
            core_.log("the database: " + (failure.empty() ? "it answers again" : failure));
          if (core_.scheduler) core_.scheduler->on_committed(term, outcome);
        });
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
    if (!core_.scheduler) return true;
    auto board = core_.find_board(setting.name);
    if (!board && setting.address.empty()) return false;
    if (!board) {
      board = BoardId{random_id()};
      core_.names[setting.name] = *board;
      core_.log("board " + setting.name + " is enrolled: it is reached at " + setting.address);
    }
    core_.handle(BoardEnrolled{*board, setting.name, setting.tags, setting.machine, setting.shares_machine});
    if (ssh_boards_) ssh_boards_->set_address(*board, setting.address);
    core_.on_change();
    return true;
  }
  void set_weight(const std::string& holder, double weight) override { core_.handle(HolderWeighted{holder, weight}); }

  void stop() override {
    if (std::exchange(is_stopping_, true)) return;
    timer_.cancel();
    peer_listener_.close();
    core_.peers.close_all();
    if (core_.relay) core_.relay->stop();
    maintenance_.write_sessions();
    ssh_boards_.reset();
    core_.modules.reset();
    core_.database.reset();
    core_.scheduler.reset();
  }

 private:
  // The scheduler may be what calls this, so it is destroyed later.
  void poll() {
    timer_.start(core_.scheduler ? milliseconds(kPeriod) : kStandbyPeriod, [this] { poll(); });
    if (core_.scheduler) {
      if (options_.is_shared) check_term();
      return tick();
    }
    retired_.reset();
    retired_rounds_.reset();
    retired_ssh_boards_.reset();
    if (std::exchange(is_asking_, true)) return;
    core_.database->ask(take_over, [this](const Result<Takeover>& takeover) {
      is_asking_ = false;
      if (takeover.is_ok()) return begin(takeover.value());
      // Boards and clients are to go to the other one at once, instead of waiting here.
      peer_listener_.close();
      if (std::exchange(why_not_, takeover.status().message()) != takeover.status().message())
        core_.log("standing by: " + takeover.status().message());
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
    core_.database->ask([](Store& store) { return store.current_term(); },
                        [this](const Result<TrackerTerm>& term) {
                          is_asking_ = false;
                          if (term.is_ok()) asked_at_ = std::chrono::steady_clock::now();
                          if (!core_.scheduler) return;
                          if (term.is_ok() && term.value() != core_.scheduler->term())
                            return step_down({ErrorCode::aborted, "another tracker schedules now"});
                          if (std::chrono::steady_clock::now() - asked_at_ > kDatabaseSilence) step_down(term.status());
                        });
  }

  void begin(const Takeover& takeover) {
    asked_at_ = std::chrono::steady_clock::now();
    why_not_.clear();
    core_.keys.load(takeover.credentials);
    core_.names.clear();
    for (const BoardRecord& board : takeover.snapshot.boards) core_.names[board.description.name] = board.id;
    core_.scheduler = std::make_unique<Scheduler>(
        loop_, *core_.database, takeover.snapshot, takeover.term, Options{options_.health != nullptr}, takeover.now,
        Scheduler::Callbacks{[this](const Action& action) { carry_out_any(action); },
                             [this](const Status& why) { step_down(why); }});
    if (const Status opened = peer_listener_.open(); !opened.is_ok()) return step_down(opened);
    core_.log(format("scheduling %zu boards at %s, term %llu", takeover.snapshot.boards.size(), address().c_str(),
                     static_cast<unsigned long long>(takeover.term)));
    if (options_.health != nullptr) {
      options_.health->load(takeover.health);
      rounds_ =
          std::make_unique<HealthRounds>(core_, *options_.health, peer_listener_.own_address(), options_.health_idle);
    }
    if (options_.prober != nullptr) ssh_boards_ = std::make_unique<SshBoards>(core_, *options_.prober);
    if (core_.modules) core_.modules->begin();
    add_first_admin();
    options_.on_begin();
    facade_.has_changed();
  }

  void step_down(const Status& why) {
    core_.log("standing by: " + why.message());
    if (core_.scheduler) core_.scheduler->stop();
    peer_listener_.close();
    core_.peers.close_all();
    core_.clients.clear();
    core_.enrolling.clear();
    core_.board_connections.clear();
    retired_rounds_ = std::move(rounds_);
    retired_ssh_boards_ = std::move(ssh_boards_);
    retired_ = std::move(core_.scheduler);
    facade_.has_changed();
  }

  void add_first_admin() {
    const auto is_admin = [](const Credential* one) {
      return one->kind == CredentialKind::client && one->role == wire::Role::admin && !one->revoked;
    };
    if (std::ranges::any_of(core_.keys.all(), is_admin)) return;
    const Credential made = KeyDirectory::make(CredentialKind::client, random_id(), "admin", wire::Role::admin);
    core_.database->ask([made](Store& store) { return store.replace_credential(made); },
                        [this, made](const Status& written) {
                          if (!written.is_ok()) return core_.log("no admin could be added: " + written.message());
                          core_.keys.put(made);
                          options_.on_first_admin(core_.keys.key_of(made));
                        });
  }

  void tick() {
    core_.peers.close_silent();
    if (rounds_) rounds_->tick();
    if (core_.scheduler && ssh_boards_) ssh_boards_->tick();
    if (core_.scheduler) maintenance_.tick();
  }

  Status on_board_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return handle_board_event(core_, from, tag, body);
  }
  Status on_client_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return handle_client_event(core_, from, tag, body);
  }
  Status on_query(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    return answer_frame(core_, from, header, body);
  }
  bool is_congested() const override { return core_.database->is_congested(); }
  void on_left(ConnectionNumber number) override {
    board_left(core_, number);
    client_left(core_, number);
  }

  void carry_out_any(const Action& action) {
    if (rounds_ && rounds_->handle(action)) return;
    if (ssh_boards_ && ssh_boards_->handle(action)) return;
    std::visit(
        [this](const auto& one) {
          using Kind = std::decay_t<decltype(one)>;
          if constexpr (!std::is_same_v<Kind, Persist>) carry_out(core_, one);
        },
        action);
    facade_.has_changed();
  }

  server::EventLoop& loop_;
  TrackerOptions options_;
  const std::size_t max_connections_;
  server::SecretMemory secrets_;
  Core core_;
  PeerListener peer_listener_;
  Maintenance maintenance_;
  FarmFacade facade_;
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
  auto tracker = std::make_unique<TrackerProcess>(loop, std::move(options));
  FERRY_TRY(tracker->start(std::move(store)));
  return std::unique_ptr<Tracker>(std::move(tracker));
}

}  // namespace ferry::farm
