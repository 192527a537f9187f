#include "farm/tracker/listings.h"

#include <algorithm>

#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

// A page that is larger is cut; frames may have four times as much.
constexpr std::size_t kPageBytes = std::size_t{256} << 10;

std::size_t bytes_of(const wire::Description& description) {
  std::size_t bytes = 256 + description.model.size() + description.cpu.size();
  for (const std::string& feature : description.features) bytes += 8 + feature.size();
  for (const wire::Accelerator& one : description.accelerators) bytes += 24 + one.kind.size() + one.arch.size();
  for (const wire::Label& tag : description.tags) bytes += 24 + tag.name.size() + tag.value.size();
  return bytes;
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += 8 + text.size();
  return bytes;
}

// Whether so many elements of so many bytes fill a page.
bool is_full(std::size_t elements, std::size_t bytes) { return elements >= wire::kMaxPage || bytes >= kPageBytes; }

}  // namespace

wire::DeviceListing Listings::listing_of(const BoardView& board) const {
  wire::DeviceListing listing;
  const BoardFacts* const facts = boards_.facts_of(board);
  listing.name = fit(board.record->description.name, wire::kMaxName);
  listing.description = to_wire(board.record->description, facts == nullptr ? std::string() : facts->server_version);
  listing.state = board_state_name(board.record->state);
  if (facts != nullptr && facts->address.starts_with("ssh://")) listing.transport = "ssh";
  listing.is_connected = board.connection.has_value();
  if (board.lease) {
    listing.lease = static_cast<std::uint64_t>(*board.lease);
    if (const auto request = scheduler_.machine().find_request(*board.lease)) {
      listing.holder = fit(request->request->holder, wire::kMaxText);
      listing.remaining_ms = to_wire(request->end - scheduler_.now());
    }
  }
  if (facts != nullptr && listing.is_connected) {
    listing.millidegrees = facts->heartbeat.millidegrees;
    listing.is_throttled = facts->heartbeat.is_throttled;
    listing.load_permille = facts->heartbeat.load_permille;
  }
  for (const BoardId other : scheduler_.machine().boards_on_same_machine(board.record->id, wire::kMaxSameMachine))
    listing.same_machine.push_back(fit(boards_.name_of(other), wire::kMaxName));
  if (board.leased_neighbour) listing.blocked_by = fit(boards_.name_of(*board.leased_neighbour), wire::kMaxName);
  return listing;
}

Result<wire::DeviceListing> Listings::find_board(const std::string& name) const {
  const auto id = boards_.find(name);
  const auto board = id ? scheduler_.machine().find_board(*id) : std::nullopt;
  if (!board) return Status(ErrorCode::not_found, "the farm has no board '" + name + "'");
  return listing_of(*board);
}

void Listings::answer(const Caller&, const wire::ListDevices& query, const Answer<wire::DevicePage>& then) const {
  std::optional<Selector> selector;
  if (!query.selector.empty()) {
    Result<Selector> parsed = parse_selector(query.selector);
    if (!parsed.is_ok()) return then(parsed.status());
    selector = std::move(parsed.value());
  }
  wire::DevicePage page;
  std::size_t bytes = 0;
  for (auto next = boards_.by_name().upper_bound(query.after); next != boards_.by_name().end(); ++next) {
    const auto board = scheduler_.machine().find_board(next->second);
    if (!board || (selector && !matches(*selector, board->record->description))) continue;
    if (is_full(page.devices.size(), bytes)) {
      page.has_more = true;
      break;
    }
    page.devices.push_back(listing_of(*board));
    bytes += bytes_of(page.devices.back().description) + bytes_of(page.devices.back().same_machine);
  }
  then(std::move(page));
}

void Listings::answer(const Caller&, const wire::ListQueue& query, const Answer<wire::QueuePage>& then) const {
  const Time now = scheduler_.now();
  const std::vector<QueuedRequest> queue = scheduler_.machine().queue(now);
  auto next = queue.begin();
  if (query.after != 0) {
    const auto is_last = [&](const QueuedRequest& one) { return one.id == LeaseId{query.after}; };
    next = std::find_if(queue.begin(), queue.end(), is_last);
    // It does not wait any more: the listing starts again.
    next = next == queue.end() ? queue.begin() : std::next(next);
  }
  wire::QueuePage page;
  std::size_t bytes = 0;
  for (; next != queue.end() && !is_full(page.requests.size(), bytes); ++next) {
    const auto view = scheduler_.machine().find_request(next->id);
    if (!view) continue;
    page.requests.push_back({static_cast<std::uint64_t>(next->id), fit(next->holder, wire::kMaxText),
                             slot_texts(*view->request), view->request->priority, to_wire(now - view->submitted),
                             static_cast<std::uint32_t>(next->place), to_wire(next->estimate),
                             next->blocked_by ? fit(boards_.name_of(*next->blocked_by), wire::kMaxName) : std::string(),
                             fit(view->request->job, wire::kMaxText)});
    bytes += 700 + bytes_of(page.requests.back().selectors);
  }
  page.has_more = next != queue.end();
  then(std::move(page));
}

void Listings::answer(const Caller&, const wire::ListLeases& query, const Answer<wire::LeasePage>& then) const {
  const Time now = scheduler_.now();
  std::vector<RequestView> leases = scheduler_.machine().leases();
  const auto is_before = [&](const RequestView& one) {
    return static_cast<std::uint64_t>(one.request->id) <= query.after;
  };
  std::erase_if(leases, is_before);
  std::sort(leases.begin(), leases.end(),
            [](const RequestView& a, const RequestView& b) { return a.request->id < b.request->id; });
  wire::LeasePage page;
  page.has_more = leases.size() > wire::kMaxPage;
  leases.resize(std::min(leases.size(), wire::kMaxPage));
  for (const RequestView& lease : leases) {
    wire::LeaseListing listing{static_cast<std::uint64_t>(lease.request->id),
                               fit(lease.request->holder, wire::kMaxText),
                               {},
                               to_wire(lease.request->kind),
                               to_wire(lease.end - now)};
    listing.job = fit(lease.request->job, wire::kMaxText);
    for (const LeasePart& part : lease.parts)
      listing.boards.push_back(fit(boards_.name_of(part.board), wire::kMaxName));
    page.leases.push_back(std::move(listing));
  }
  then(std::move(page));
}

void Listings::answer(const Caller&, const wire::Summarize&, const Answer<wire::FarmSummary>& then) const {
  const LeaseMachine& machine = scheduler_.machine();
  const Time now = scheduler_.now();
  wire::FarmSummary summary;
  for (const BoardView& board : machine.boards()) {
    if (board.record->state == BoardState::retired) continue;
    ++summary.boards;
    if (board.connection) ++summary.connected;
    if (board.lease) ++summary.leased;
  }
  for (const QueuedRequest& waiting : machine.queue(now)) {
    ++summary.waiting;
    if (const auto view = machine.find_request(waiting.id))
      summary.longest_wait_ms = std::max(summary.longest_wait_ms, to_wire(now - view->submitted));
  }
  then(summary);
}

}  // namespace ferry::farm
