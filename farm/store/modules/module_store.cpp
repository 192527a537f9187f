#include "farm/store/modules/module_store.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/protocol/lease_id.h"
#include "farm/protocol/queries.h"
#include "farm/store/modules/baseline_tables.h"
#include "farm/store/modules/module_tables.h"

namespace ferry::farm {
namespace {

// A page of larger elements has fewer of them.
constexpr std::size_t kPageBytes = std::size_t{256} << 10;

static_assert(kPieceBytes <= wire::kMaxPieceReceived);

// After this time, whoever sends nothing more has given up.
constexpr std::chrono::minutes kIdle{1};
// Room is made while an object arrives, so that nobody has others' objects deleted by what he only announces. A piece
// is smaller.
constexpr std::uint64_t kReservedAtOnce = std::uint64_t{16} << 20;
static_assert(wire::kMaxPieceSent < kReservedAtOnce);
// The part of the quota that verdicts may take, so that nobody displaces modules with them.
constexpr std::uint64_t kVerdictShare = 4;

std::size_t bytes_of(const wire::BaselineListing& entry) {
  return 128 + entry.name.size() + entry.target.size() + entry.label.size() + entry.holder.size() +
         entry.blobs.size() * sizeof(Hash);
}
std::size_t bytes_of(const wire::VerdictListing& verdict) { return 16 + verdict.line.size() + verdict.holder.size(); }

// Makes a page of the first elements, of which there are more if there are more than a page may have.
template <class Page, class Element>
Page page_of(std::vector<Element> all, std::vector<Element> Page::* elements) {
  Page page;
  std::size_t count = 0, bytes = 0;
  while (count < std::min(all.size(), wire::kMaxPage) && bytes < kPageBytes) bytes += bytes_of(all[count++]);
  page.has_more = count < all.size();
  all.resize(count);
  page.*elements = std::move(all);
  return page;
}

}  // namespace

ModuleStore::ModuleStore(std::unique_ptr<SqlConnection> connection, std::uint64_t quota)
    : connection_(std::move(connection)), quota_(quota) {}
ModuleStore::~ModuleStore() = default;

Result<std::unique_ptr<ModuleStore>> ModuleStore::open(std::unique_ptr<SqlConnection> connection, std::uint64_t quota) {
  FERRY_TRY(migrate_modules(*connection));
  return std::unique_ptr<ModuleStore>(new ModuleStore(std::move(connection), quota));
}

void ModuleStore::drop_uploads() { uploads_.clear(); }

Status ModuleStore::delete_left_over() {
  for (bool has_more = true; has_more;) {
    FERRY_ASSIGN(has_more,
                 in_transaction(*connection_, Access::write, [&] { return delete_some_left_over(*connection_); }));
  }
  return {};
}

Result<wire::ObjectsFound> ModuleStore::answer(Sender, const FindUnused& query) {
  return in_transaction(*connection_, Access::read, [&]() -> Result<wire::ObjectsFound> {
    wire::ObjectsFound found;
    for (const Hash& object : query.request.objects) {
      FERRY_ASSIGN(const bool is_stored, has_object(*connection_, object));
      found.is_stored.push_back(is_stored ? 1 : 0);
    }
    return found;
  });
}

Result<wire::ObjectsFound> ModuleStore::answer(Sender, const wire::FindObjects& request) {
  FERRY_ASSIGN(const Time now, connection_->now());
  return in_transaction(*connection_, Access::write, [&]() -> Result<wire::ObjectsFound> {
    wire::ObjectsFound found;
    for (const Hash& object : request.objects) {
      FERRY_ASSIGN(const bool is_stored, touch_object(*connection_, object, now));
      found.is_stored.push_back(is_stored ? 1 : 0);
    }
    return found;
  });
}

Status ModuleStore::no_room(std::uint64_t bytes, std::uint64_t taken) const {
  return {ErrorCode::resource_exhausted,
          format("expected an object for which the farm has room, got one of %s: its quota for modules is %s, of which "
                 "%s are taken by baselines, by verdicts and by what was used during the last hour",
                 bytes_text(bytes).c_str(), bytes_text(quota_).c_str(), bytes_text(taken).c_str())};
}

std::uint64_t ModuleStore::reserved_bytes() {
  const auto idle_since = std::chrono::steady_clock::now() - kIdle;
  std::vector<Sender> idle;
  for (const auto& [sender, upload] : uploads_) {
    if (upload.heard < idle_since) idle.push_back(sender);
  }
  for (const Sender sender : idle) forget(sender);
  std::uint64_t reserved = 0;
  for (const auto& [sender, upload] : uploads_) reserved += upload.reserved;
  return reserved;
}

Status ModuleStore::expect_room(std::uint64_t bytes) {
  const std::uint64_t reserved = reserved_bytes();
  FERRY_ASSIGN(const Time now, connection_->now());
  FERRY_ASSIGN(const std::uint64_t kept, in_transaction(*connection_, Access::read, [&]() -> Result<std::uint64_t> {
                 FERRY_ASSIGN(const std::uint64_t verdicts, bytes_of_verdicts(*connection_));
                 FERRY_ASSIGN(const std::uint64_t objects, bytes_to_keep(*connection_, now - kModuleInUse));
                 return verdicts + objects;
               }));
  if (bytes <= quota_ && kept + reserved <= quota_ - bytes) return {};
  return no_room(bytes, kept);
}

Status ModuleStore::expect_disk() {
  FERRY_ASSIGN(const std::optional<std::uint64_t> room, connection_->room());
  if (!room || *room >= kPieceBytes) return {};
  return {ErrorCode::resource_exhausted,
          format("expected room on the disk where the farm's modules are, got %s beside what is left to its leases",
                 bytes_text(*room).c_str())};
}

Status ModuleStore::reserve(Upload& upload) {
  const std::uint64_t more = std::min(kReservedAtOnce, upload.bytes - upload.reserved);
  const std::uint64_t reserved = reserved_bytes() + more;
  const std::uint64_t most = quota_ - std::min(quota_, reserved);
  FERRY_ASSIGN(const Time now, connection_->now());
  FERRY_ASSIGN(const std::uint64_t left, in_transaction(*connection_, Access::write, [&]() -> Result<std::uint64_t> {
                 FERRY_ASSIGN(const std::uint64_t verdicts, bytes_of_verdicts(*connection_));
                 FERRY_ASSIGN(const std::uint64_t objects,
                              delete_oldest(*connection_, most - std::min(most, verdicts), now - kModuleInUse));
                 return verdicts + objects;
               }));
  if (left > most || reserved > quota_) return no_room(upload.bytes, left);
  upload.reserved += more;
  return {};
}

Result<ModuleStore::Upload*> ModuleStore::begin_upload(Sender sender, const wire::PutObject& request) {
  forget(sender);
  if (request.bytes > wire::kMaxObject) {
    return Status(ErrorCode::invalid_argument,
                  format("expected an object of at most %s, got %s", bytes_text(wire::kMaxObject).c_str(),
                         bytes_text(request.bytes).c_str()));
  }
  FERRY_TRY(expect_room(request.bytes));
  Upload& upload = uploads_[sender];
  upload.object = request.object;
  upload.id = UploadId{random_id()};
  upload.bytes = request.bytes;
  upload.heard = std::chrono::steady_clock::now();
  return &upload;
}

Status ModuleStore::take_piece(Upload& upload, const SqlBytes& piece) {
  upload.heard = std::chrono::steady_clock::now();
  if (upload.received + piece.size() > upload.reserved) FERRY_TRY(reserve(upload));
  upload.received += piece.size();
  upload.hash.add(piece);
  upload.unwritten.insert(upload.unwritten.end(), piece.begin(), piece.end());
  while (upload.unwritten.size() >= kPieceBytes || (upload.received == upload.bytes && !upload.unwritten.empty())) {
    const auto end =
        upload.unwritten.begin() + static_cast<std::ptrdiff_t>(std::min(upload.unwritten.size(), kPieceBytes));
    const SqlBytes whole(upload.unwritten.begin(), end);
    FERRY_TRY(expect_disk());
    upload.may_have_pieces = true;
    FERRY_TRY(in_transaction(*connection_, Access::write,
                             [&] { return write_piece(*connection_, upload.id, upload.pieces, whole); }));
    ++upload.pieces;
    upload.unwritten.erase(upload.unwritten.begin(), end);
  }
  return {};
}

Result<wire::ObjectTaken> ModuleStore::finish_upload(Upload& upload) {
  const Hash hash = upload.hash.finish();
  if (hash != upload.object) {
    return Status(ErrorCode::invalid_argument, format("expected contents with the hash %s, got %s",
                                                      to_hex(upload.object).c_str(), to_hex(hash).c_str()));
  }
  FERRY_ASSIGN(const Time now, connection_->now());
  FERRY_TRY(in_transaction(*connection_, Access::write,
                           [&] { return add_object(*connection_, upload.object, upload.id, upload.bytes, now); }));
  return wire::ObjectTaken{true};
}

Result<wire::ObjectTaken> ModuleStore::answer(Sender sender, const wire::PutObject& request) {
  auto found = uploads_.find(sender);
  Upload* upload = found == uploads_.end() ? nullptr : &found->second;
  if (request.offset == 0) {
    FERRY_ASSIGN(upload, begin_upload(sender, request));
  }
  if (upload == nullptr || request.object != upload->object || request.bytes != upload->bytes ||
      request.offset != upload->received) {
    forget(sender);
    return Status(ErrorCode::aborted,
                  "expected the next piece of the object that this connection sends; send the "
                  "object again, from its first piece on");
  }
  const bool is_last = upload->bytes - upload->received == request.piece.size();
  if (request.piece.size() > upload->bytes - upload->received || (request.piece.empty() && !is_last)) {
    forget(sender);
    return Status(ErrorCode::invalid_argument, "expected a piece that is not empty and within the object's size");
  }
  const Status taken = take_piece(*upload, request.piece);
  if (taken.is_ok() && !is_last) return wire::ObjectTaken{false};
  Result<wire::ObjectTaken> answer = taken.is_ok() ? finish_upload(*upload) : Result<wire::ObjectTaken>(taken);
  if (answer.is_ok()) {
    uploads_.erase(sender);
  } else {
    forget(sender);
  }
  return answer;
}

void ModuleStore::forget(Sender sender) {
  const auto found = uploads_.find(sender);
  if (found == uploads_.end()) return;
  if (found->second.may_have_pieces) dropped_.push_back(found->second.id);
  uploads_.erase(found);
  delete_dropped();
}

void ModuleStore::delete_dropped() {
  while (!dropped_.empty()) {
    const Status deleted =
        in_transaction(*connection_, Access::write, [&] { return delete_pieces(*connection_, dropped_.back()); });
    if (!deleted.is_ok()) return;
    dropped_.pop_back();
  }
}

Result<wire::ObjectPiece> ModuleStore::answer(Sender, const wire::GetObject& request) {
  FERRY_ASSIGN(std::optional<StoredPiece> stored, in_transaction(*connection_, Access::read, [&] {
                 return read_piece(*connection_, request.object, request.offset);
               }));
  if (!stored) return Status(ErrorCode::not_found, "the farm has no object " + to_hex(request.object));
  return wire::ObjectPiece{stored->object_bytes, std::move(stored->piece)};
}

Result<wire::ObjectsTrimmed> ModuleStore::answer(Sender, const wire::TrimObjects&) {
  FERRY_ASSIGN(const Time now, connection_->now());
  return in_transaction(*connection_, Access::write, [&]() -> Result<wire::ObjectsTrimmed> {
    wire::ObjectsTrimmed trimmed;
    trimmed.quota = quota_;
    FERRY_ASSIGN(const std::uint64_t verdicts, bytes_of_verdicts(*connection_));
    FERRY_ASSIGN(const std::uint64_t objects,
                 delete_oldest(*connection_, quota_ - std::min(quota_, verdicts), now - kModuleInUse));
    FERRY_ASSIGN(const std::uint64_t kept, bytes_to_keep(*connection_, now - kModuleInUse));
    trimmed.bytes = verdicts + objects;
    trimmed.kept = verdicts + kept;
    return trimmed;
  });
}

Result<wire::BaselinePage> ModuleStore::answer(Sender, const wire::ListBaseline& request) {
  return in_transaction(*connection_, Access::read, [&]() -> Result<wire::BaselinePage> {
    FERRY_ASSIGN(auto entries, read_baseline(*connection_, request, wire::kMaxPage + 1));
    return page_of(std::move(entries), &wire::BaselinePage::entries);
  });
}

Result<wire::BaselineNames> ModuleStore::answer(Sender, const wire::ListBaselines& request) {
  return in_transaction(*connection_, Access::read,
                        [&] { return read_baseline_names(*connection_, request.suite, wire::kMaxPage); });
}

Result<wire::BaselineSet> ModuleStore::answer(Sender, const SetBaselineOf& set) {
  FERRY_TRY(expect_disk());
  FERRY_ASSIGN(const Time now, connection_->now());
  return in_transaction(*connection_, Access::write,
                        [&] { return write_baseline(*connection_, set.request, set.holder, now); });
}

Result<wire::BaselineDeleted> ModuleStore::answer(Sender, const wire::DeleteBaseline& request) {
  return in_transaction(*connection_, Access::write, [&] { return delete_baseline(*connection_, request); });
}

Result<wire::CasesDeleted> ModuleStore::answer(Sender, const wire::DeleteCases& request) {
  return in_transaction(*connection_, Access::write, [&] { return delete_cases(*connection_, request); });
}

Result<wire::VerdictPage> ModuleStore::answer(Sender, const wire::ListVerdicts& request) {
  return in_transaction(*connection_, Access::read, [&]() -> Result<wire::VerdictPage> {
    FERRY_ASSIGN(auto verdicts, read_verdicts(*connection_, request, wire::kMaxPage + 1));
    return page_of(std::move(verdicts), &wire::VerdictPage::verdicts);
  });
}

Result<wire::VerdictAdded> ModuleStore::answer(Sender, const AddVerdictOf& verdict) {
  FERRY_TRY(expect_disk());
  FERRY_TRY(in_transaction(*connection_, Access::write, [&] {
    return write_verdict(*connection_, verdict.request, verdict.holder, quota_ / kVerdictShare);
  }));
  return wire::VerdictAdded{};
}

}  // namespace ferry::farm
