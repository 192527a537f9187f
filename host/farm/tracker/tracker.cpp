#include "host/farm/tracker/tracker.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "host/farm/tracker/board_door.h"
#include "host/farm/tracker/client_door.h"
#include "host/farm/tracker/desk.h"
#include "host/farm/tracker/farm_gate.h"
#include "host/farm/tracker/first_requests.h"
#include "host/farm/tracker/health_rounds.h"
#include "host/farm/tracker/relay_door.h"
#include "host/farm/tracker/ssh_boards.h"
#include "host/farm/tracker/takeover.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/final_frame.h"
#include "rpc/server/listen.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPeriod{1};  // of polling for the term, and of housekeeping
// A tracker that has not reached a shared database for so long takes it that another one schedules.
constexpr seconds kDatabaseSilence{6};
static_assert(kDatabaseSilence < Store::kRightLasts);
constexpr std::size_t kMaxPending = 1024;
// Nobody keeps the others out with the connections of one key: a client has at most a quarter of them, and a board a
// few, for it may not be known yet that earlier ones have ended.
constexpr std::size_t kShareOfClient = 4;
constexpr std::size_t kConnectionsOfBoard = 16;
constexpr std::size_t kPurgedAtOnce = 1000;
constexpr std::chrono::minutes kPurgePeriod{10};

class TrackerProcess final : public Tracker, PeerHandler {
 public:
  TrackerProcess(server::EventLoop& loop, TrackerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        max_connections_(allow_connections(options_.max_connections, kMaxPending)),
        secrets_(max_connections_ + kMaxPending),
        core_(loop, options_.master, *this),
        gate_(core_),
        timer_(loop) {
    core_.log = options_.log;
    core_.note_revocation = options_.note_revocation;
    core_.on_change = [this] { gate_.has_changed(); };
    core_.read_only_reason = options_.read_only_reason;
    core_.on_state = options_.on_state;
  }
  ~TrackerProcess() override { stop(); }
  TrackerProcess(const TrackerProcess&) = delete;
  TrackerProcess& operator=(const TrackerProcess&) = delete;

  Status start(std::unique_ptr<Store> store) {
    FERRY_ASSIGN(listener_, server::listen_at(options_.host, options_.port, options_.port, true));
    if (options_.relay.relays > 0) {
      FERRY_ASSIGN(core_.relay, Relay::start(options_.relay));
    }
    address_ = server::own_name(listener_.number());
    options_.port = static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
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

  const std::string& address() const override { return address_; }
  Farm& farm() override { return gate_; }

  void checked(const CheckedBoard& checked) override {
    if (rounds_) rounds_->checked(checked);
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
    acceptor_.reset();
    core_.peers.close_all();
    if (core_.relay) core_.relay->stop();
    write_sessions();
    ssh_boards_.reset();
    core_.database.reset();
    core_.scheduler.reset();
  }

 private:
  // The scheduler may be what calls this, so it is destroyed later.
  void poll() {
    timer_.start(kPeriod, [this] { poll(); });
    if (core_.scheduler) {
      if (options_.is_shared) check_term();
      return keep_house();
    }
    retired_.reset();
    retired_rounds_.reset();
    retired_ssh_boards_.reset();
    if (std::exchange(is_asking_, true)) return;
    core_.database->ask(take_over, [this](const Result<Takeover>& takeover) {
      is_asking_ = false;
      if (takeover.is_ok()) return begin(takeover.value());
      // Boards and clients are to go to the other one at once, instead of waiting here.
      listener_ = Descriptor();
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
    if (const Status listening = listen(); !listening.is_ok()) return step_down(listening);
    core_.log(format("scheduling %zu boards at %s, term %llu", takeover.snapshot.boards.size(), address_.c_str(),
                     static_cast<unsigned long long>(takeover.term)));
    if (options_.health != nullptr) {
      options_.health->load(takeover.health);
      rounds_ = std::make_unique<HealthRounds>(core_, *options_.health, own_address(), options_.health_idle);
    }
    if (options_.prober != nullptr) ssh_boards_ = std::make_unique<SshBoards>(core_, *options_.prober);
    add_first_admin();
    options_.on_begin();
    gate_.has_changed();
  }

  // As this machine reaches it.
  TcpAddress own_address() const {
    TcpAddress own = parse_tcp_address(address_, 0).value();
    if (own.host == "0.0.0.0") own.host = "127.0.0.1";
    if (own.host == "::") own.host = "::1";
    return own;
  }

  Status listen() {
    if (listener_.number() < 0) {
      FERRY_ASSIGN(listener_, server::listen_at(options_.host, options_.port, options_.port, true));
    }
    acceptor_ = std::make_unique<server::Acceptor>(
        loop_, kFarmRequests, &core_.keys, secrets_, kMaxPending,
        server::Acceptor::Callbacks{[this](server::HandshakenClient client) { admit(std::move(client)); },
                                    {},
                                    [this](Descriptor socket, const rpc::RelayTicket& ticket) {
                                      take_relay_end(core_, std::move(socket), ticket);
                                    }});
    acceptor_->listen(listener_.release());
    return {};
  }

  void step_down(const Status& why) {
    core_.log("standing by: " + why.message());
    acceptor_.reset();
    core_.peers.close_all();
    core_.clients.clear();
    core_.enrolling.clear();
    core_.board_connections.clear();
    retired_rounds_ = std::move(rounds_);
    retired_ssh_boards_ = std::move(ssh_boards_);
    retired_ = std::move(core_.scheduler);
    gate_.has_changed();
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

  void keep_house() {
    core_.peers.close_silent();
    if (rounds_) rounds_->look();
    if (core_.scheduler && ssh_boards_) ssh_boards_->look();
    if (!core_.scheduler) return;
    write_sessions();
    keep_relays(core_);
    const auto now = std::chrono::steady_clock::now();
    if (now < purge_at_) return;
    purge_at_ = now + kPurgePeriod;
    const Time before = core_.scheduler->now() - kRetention;
    core_.database->ask([before](Store& store) { return store.purge(before, kPurgedAtOnce); },
                        [this](const Result<bool>& purged) {
                          if (purged.is_ok() && purged.value()) purge_at_ = {};
                        });
  }

  void write_sessions() {
    core_.sessions_of.clear();
    if (core_.sessions.empty()) return;
    core_.database->ask(
        [sessions = std::exchange(core_.sessions, {})](Store& store) { return store.add_sessions(sessions); },
        [this](const Status& written) {
          if (!written.is_ok()) core_.log("sessions could not be recorded: " + written.message());
        });
  }

  void admit(server::HandshakenClient client) {
    if (!core_.scheduler) return;
    const Credential* const credential = core_.keys.holder_of(client.key_id);
    const auto refused = [&]() -> Status {
      if (credential == nullptr) return {ErrorCode::unauthenticated, "this key was revoked"};
      if (core_.peers.count(Peers::Kind::board) + core_.peers.count(Peers::Kind::client) >= max_connections_)
        return {ErrorCode::busy, format("%zu connections are open already", max_connections_)};
      const bool is_board = client.header.tag == static_cast<std::uint16_t>(wire::Tag::Join);
      if (is_board != (credential->kind == CredentialKind::board || credential->kind == CredentialKind::enrolment))
        return {ErrorCode::unauthenticated, is_board ? "this key is a client's" : "this key is a board's"};
      const std::size_t most = is_board ? kConnectionsOfBoard : max_connections_ / kShareOfClient;
      if (core_.peers.count(client.key_id) >= most)
        return {ErrorCode::busy, format("%zu connections are open already with this key", most)};
      return is_board ? admit_board(core_, client, *credential) : admit_client(core_, client, *credential);
    }();
    if (refused.is_ok()) return;
    ++core_.numbers.refused_connections;
    final_frames_.refuse(client, refused);
  }

  Status on_board_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return take_board_event(core_, from, tag, body);
  }
  Status on_client_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) override {
    return take_client_event(core_, from, tag, body);
  }
  Status on_query(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    return answer_frame(core_, from, header, body);
  }
  void on_left(ConnectionNumber number) override {
    board_left(core_, number);
    client_left(core_, number);
  }

  void carry_out_any(const Action& action) {
    if (rounds_ && rounds_->take(action)) return;
    if (ssh_boards_ && ssh_boards_->take(action)) return;
    std::visit(
        [this](const auto& one) {
          using Kind = std::decay_t<decltype(one)>;
          if constexpr (!std::is_same_v<Kind, Persist>) carry_out(core_, one);
        },
        action);
    gate_.has_changed();
  }

  server::EventLoop& loop_;
  TrackerOptions options_;
  const std::size_t max_connections_;
  server::SecretMemory secrets_;
  server::FinalFrames final_frames_{loop_, kMaxPending / 4};
  Core core_;
  FarmGate gate_;
  server::Timer timer_;
  Descriptor listener_;
  std::string address_;
  std::unique_ptr<server::Acceptor> acceptor_;
  std::unique_ptr<HealthRounds> rounds_, retired_rounds_;
  std::unique_ptr<SshBoards> ssh_boards_, retired_ssh_boards_;
  std::unique_ptr<Scheduler> retired_;
  std::chrono::steady_clock::time_point purge_at_{};
  std::string why_not_;                               // it stands by; so that each reason is logged once
  std::string database_failure_;                      // likewise
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
