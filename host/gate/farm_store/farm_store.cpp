#include "host/gate/farm_store/farm_store.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/gate/farm_store/farm_objects.h"
#include "host/gate/store/store_json.h"

namespace ferry::gate {

namespace {

namespace wire = farm::wire;

// The newest verdicts of a case that are asked for.
constexpr std::size_t kMostEntries = 20'000;
// A farm has fewer pages of anything.
constexpr int kMostPages = 4096;

class FarmBlobs final : public BlobSource {
 public:
  FarmBlobs(std::shared_ptr<FarmObjects> objects, std::set<Hash> blobs)
      : objects_(std::move(objects)), blobs_(std::move(blobs)) {}

  bool has(const Hash& blob) const override { return blobs_.contains(blob); }
  // Whoever receives the contents checks their hash.
  void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const override {
    objects_->read(blob, offset, into);
  }

 private:
  std::shared_ptr<FarmObjects> objects_;
  std::set<Hash> blobs_;
};

void expect_text(const char* what, const std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  throw StoreFailed(format("%s: a farm takes at most %zu bytes, got %zu", what, most, text.size()));
}

wire::BaselineListing to_wire(const CaseTarget& key, const StoredModule& module) {
  expect_text("the name of the case", key.name, wire::kMaxText);
  expect_text("the target of the case", key.target, wire::kMaxSelector);
  if (module.blobs.size() > wire::kMaxBlobs) {
    throw StoreFailed(format("%s: a farm keeps modules of at most %zu blobs, got %zu", key.name.c_str(),
                             wire::kMaxBlobs, module.blobs.size()));
  }
  return {
      key.name,      key.target, module.module, module.identity, module.blobs, module.label.substr(0, wire::kMaxText),
      module.stored, {}};
}

class FarmStore final : public Store {
 public:
  explicit FarmStore(farm::FarmAccess farm)
      : name_(farm.name), objects_(std::make_shared<FarmObjects>(std::move(farm))) {}

  bool has(const Hash& object) override { return objects_->has({&object, 1}).front(); }

  Hash put(std::span<const std::uint8_t> bytes) override {
    const Hash object = blake2b(bytes);
    if (has(object)) return object;
    objects_->put(object, bytes.size(), [&](std::uint64_t offset, std::span<std::uint8_t> into) {
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    });
    return object;
  }

  void put_blob(const Hash& blob, std::uint64_t bytes, const BlobSource& from) override {
    if (has(blob)) return;
    objects_->put(blob, bytes,
                  [&](std::uint64_t offset, std::span<std::uint8_t> into) { from.read(blob, offset, into); });
  }

  std::optional<std::vector<std::uint8_t>> get(const Hash& object) override {
    auto contents = objects_->get(object);
    if (contents && blake2b(*contents) != object) {
      throw UsageError("the farm " + name_ + " has damaged contents of the object " + to_hex(object));
    }
    return contents;
  }

  std::shared_ptr<const BlobSource> blobs(std::span<const Hash> blobs) override {
    const std::vector<bool> found = objects_->has(blobs);
    std::set<Hash> stored;
    for (std::size_t i = 0; i < blobs.size(); ++i) {
      if (found[i]) stored.insert(blobs[i]);
    }
    return std::make_shared<FarmBlobs>(objects_, std::move(stored));
  }

  std::string holder_of(const StoredModule& module) override { return module.holder; }

  Baseline baseline(const std::string& suite, const std::string& name) override {
    expect_names(suite, name);
    Baseline baseline;
    wire::ListBaseline query{suite, name, 0};
    for_each_page(query, [&](wire::BaselinePage& page) {
      for (wire::BaselineListing& entry : page.entries) {
        StoredModule module{entry.module,           entry.identity, std::move(entry.blobs),
                            std::move(entry.label), entry.stored_s, other_holder(entry.holder)};
        baseline.insert_or_assign(CaseTarget{std::move(entry.name), std::move(entry.target)}, std::move(module));
      }
      query.after += static_cast<std::uint32_t>(page.entries.size());
      return page.has_more && !page.entries.empty();
    });
    return baseline;
  }

  std::vector<std::string> baseline_names(const std::string& suite) override {
    expect_text("the name of the suite", suite, wire::kMaxText);
    std::vector<std::string> names;
    objects_->ask([&](farm::FarmClient& client) -> Status {
      FERRY_ASSIGN(wire::BaselineNames answer, client.ask(wire::ListBaselines{suite}));
      names = std::move(answer.names);
      return {};
    });
    std::ranges::sort(names);  // as programs sort, whatever the database's language is
    return names;
  }

  void update(const std::string& suite, const std::string& name, const Baseline& changes) override {
    expect_names(suite, name);
    std::vector<wire::SetBaseline> messages;
    for (const auto& [key, module] : changes) messages.push_back({suite, name, to_wire(key, module)});
    expect_stored(messages);
    objects_->ask([&](farm::FarmClient& client) {
      return client.ask_each<wire::SetBaseline>(
          messages.size(), [&](std::size_t i) { return messages[i]; },
          [&](std::size_t i, const wire::BaselineSet& set) {
            return set.missing.empty() ? Status() : lost(messages[i].entry.name, set.missing.front());
          });
    });
  }

  std::optional<std::size_t> forget(const std::string& suite, const std::string& name) override {
    expect_names(suite, name);
    wire::BaselineDeleted deleted;
    objects_->ask([&](farm::FarmClient& client) -> Status {
      FERRY_ASSIGN(deleted, client.ask(wire::DeleteBaseline{suite, name}));
      return {};
    });
    return deleted.cases > 0 ? std::optional<std::size_t>(deleted.cases) : std::nullopt;
  }

  std::size_t forget_cases(const std::string& suite, const std::string& name,
                           const std::set<std::string>& cases) override {
    expect_names(suite, name);
    std::size_t deleted = 0;
    const std::vector<std::string> all(cases.begin(), cases.end());
    for (std::size_t begin = 0; begin < all.size(); begin += wire::kMaxPage) {
      wire::DeleteCases request{suite, name, {}};
      for (std::size_t i = begin; i < std::min(all.size(), begin + wire::kMaxPage); ++i)
        request.cases.push_back(all[i]);
      objects_->ask([&](farm::FarmClient& client) -> Status {
        const Result<wire::CasesDeleted> answer = client.ask(request);
        if (answer.is_ok()) deleted += answer.value().cases;
        // A tracker of an earlier version keeps them.
        return answer.status().code() == ErrorCode::unsupported ? Status() : answer.status();
      });
    }
    return deleted;
  }

  void add_history(const std::string& suite, std::span<const HistoryEntry> entries) override {
    expect_text("the name of the suite", suite, wire::kMaxText);
    std::vector<wire::AddVerdict> messages;
    for (const HistoryEntry& entry : entries) {
      expect_text("the name of the case", entry.name, wire::kMaxText);
      const std::string line = history_line(entry);
      expect_text("a verdict", line, wire::kMaxVerdict);
      messages.push_back({suite, entry.name, {line.begin(), line.end()}});
    }
    std::size_t added = 0;  // a second try must not add them again
    objects_->ask([&](farm::FarmClient& client) {
      return client.ask_each<wire::AddVerdict>(
          messages.size() - added, [&, from = added](std::size_t i) { return messages[from + i]; },
          [&](std::size_t, const wire::VerdictAdded&) -> Status {
            ++added;
            return {};
          });
    });
  }

  std::vector<HistoryEntry> history(const std::string& suite, const std::string& name) override {
    expect_text("the name of the suite", suite, wire::kMaxText);
    std::vector<HistoryEntry> entries;
    wire::ListVerdicts query{suite, name, 0};
    for_each_page(query, [&](const wire::VerdictPage& page) {
      for (const wire::VerdictListing& verdict : page.verdicts) {
        // A later ferry may have written what this one cannot read.
        Result<HistoryEntry> entry = parse_history_line(std::string(verdict.line.begin(), verdict.line.end()));
        if (!entry.is_ok() || !(name.empty() || entry.value().name == name)) continue;
        entries.push_back(std::move(entry.value()));
        // The line may name somebody else, whose module was the baseline and is the current one.
        StoredModule& module = entries.back().module;
        if (module.holder.empty()) module.holder = other_holder(verdict.holder);
        query.before = verdict.number;
      }
      return page.has_more && !page.verdicts.empty() && entries.size() < kMostEntries;
    });
    std::ranges::reverse(entries);
    return entries;
  }

  std::string collect() override {
    wire::ObjectsTrimmed trimmed;
    objects_->ask([&](farm::FarmClient& client) -> Status {
      FERRY_ASSIGN(trimmed, client.ask(wire::TrimObjects{}));
      return {};
    });
    if (trimmed.bytes <= trimmed.quota) return {};
    return "the farm " + name_ + " has modules of " + bytes_text(trimmed.bytes) + ", more than its quota of " +
           bytes_text(trimmed.quota) + ": " + bytes_text(trimmed.kept) +
           " belong to baselines or were used during the last hour";
  }

 private:
  static void expect_names(const std::string& suite, const std::string& name) {
    expect_text("the name of the suite", suite, wire::kMaxText);
    expect_text("the name of the baseline", name, wire::kMaxText);
  }

  static Status lost(const std::string& name, const Hash& object) {
    return {ErrorCode::not_found,
            name + ": the object " + to_hex(object) +
                " was deleted since it was stored, because of the farm's quota; run the suite again"};
  }

  // So that either all cases or none are replaced, as far as can be known.
  void expect_stored(const std::vector<wire::SetBaseline>& messages) {
    std::vector<Hash> objects;
    std::vector<std::string> names;  // the cases that need them
    for (const wire::SetBaseline& message : messages) {
      objects.push_back(message.entry.module);
      objects.insert(objects.end(), message.entry.blobs.begin(), message.entry.blobs.end());
      names.resize(objects.size(), message.entry.name);
    }
    const std::vector<bool> found = objects_->has(objects);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (!found[i]) throw StoreFailed("the farm " + name_ + ": " + lost(names[i], objects[i]).message());
    }
  }

  // Asks for page after page: take(page) sets in the query where the next one begins, and returns whether there is one.
  template <class Query, class Take>
  void for_each_page(Query& query, const Take& take) {
    for (int i = 0; i < kMostPages; ++i) {
      typename wire::MessageOf<Query>::Reply page;
      objects_->ask([&](farm::FarmClient& client) -> Status {
        FERRY_ASSIGN(page, client.ask(query));
        return {};
      });
      if (!take(page)) return;
    }
    throw StoreFailed(format("the farm %s: expected at most %d pages of a list, got more", name_.c_str(), kMostPages));
  }

  // Returns the holder, for a person, unless it is the one whose key this is. To be called once the farm has answered.
  std::string other_holder(const std::string& holder) {
    if (holder.empty()) return "somebody unknown";
    return holder == objects_->holder() ? std::string() : holder;
  }

  std::string name_;
  std::shared_ptr<FarmObjects> objects_;
};

}  // namespace

std::unique_ptr<Store> open_farm_store(farm::FarmAccess farm) { return std::make_unique<FarmStore>(std::move(farm)); }

}  // namespace ferry::gate
