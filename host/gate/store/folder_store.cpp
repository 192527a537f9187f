#include "host/gate/store/folder_store.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/lines.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/unix_time.h"
#include "host/gate/store/baseline_file.h"
#include "host/gate/store/collect.h"
#include "host/gate/store/file_name.h"
#include "host/gate/store/history_file.h"
#include "host/gate/store/merge_baseline.h"
#include "host/gate/store/object_folder.h"
#include "host/gate/store/store_file.h"
#include "host/gate/store/store_json.h"
#include "host/gate/store/store_lock.h"

namespace ferry::gate {

namespace {

// Each may have several targets.
std::size_t count_cases(const Baseline& baseline) {
  std::set<std::string_view> names;
  for (const auto& [key, module] : baseline) names.insert(key.name);
  return names.size();
}

class FolderStore final : public Store {
 public:
  FolderStore(const std::string& folder, std::uint64_t quota, const StoreTimes& times)
      : folder_(folder),
        lock_(folder + "/lock", times.longest_wait),
        objects_(objects_folder(), lock_, times.in_use),
        quota_(quota),
        in_use_(times.in_use) {}

  bool has(const Hash& object) override { return objects_.touch(object); }
  Hash put(std::span<const std::uint8_t> bytes) override { return objects_.put(bytes); }
  void put_blob(const Hash& blob, std::uint64_t bytes, const BlobSource& from) override {
    objects_.put(blob, bytes, from);
  }
  std::optional<std::vector<std::uint8_t>> get(const Hash& object) override { return objects_.get(object); }
  std::shared_ptr<const BlobSource> blobs(std::span<const Hash> blobs) override { return objects_.blobs(blobs); }
  std::string holder_of(const StoredModule& module) override { return objects_.holder_of(module.module); }

  Baseline baseline(const std::string& suite, const std::string& name) override {
    for (const std::string& folder : {baselines_folder(), suite_folder(suite)}) expect_folder_if_any(folder);
    return read_baseline_file(baseline_path(suite, name));
  }

  std::vector<std::string> baseline_names(const std::string& suite) override {
    expect_folder_if_any(baselines_folder());
    std::vector<std::string> names;
    for (const std::string& file : names_in(suite_folder(suite))) {
      if (!file.ends_with(kBaselineExtension)) continue;
      if (auto name = name_of_file(file.substr(0, file.size() - kBaselineExtension.size())))
        names.push_back(std::move(*name));
    }
    std::ranges::sort(names);
    return names;
  }

  void update(const std::string& suite, const std::string& name, const Baseline& changes) override {
    const Descriptor held = lock_.hold_alone();
    create_store_folder(baselines_folder());
    create_store_folder(suite_folder(suite));
    const std::string path = baseline_path(suite, name);
    Baseline baseline = read_baseline_file(path);
    const Baseline taken = merge_baseline(baseline, changes, unix_milliseconds() / 1000);
    if (taken.empty()) return;
    for (const auto& [key, module] : taken) {
      expect_object(key, module.module);
      for (const Hash& blob : module.blobs) expect_object(key, blob);
    }
    objects_.sync();
    write_baseline_file(path, baseline);
  }

  std::optional<std::size_t> forget(const std::string& suite, const std::string& name) override {
    const Descriptor held = lock_.hold_alone();
    for (const std::string& folder : {baselines_folder(), suite_folder(suite)}) expect_folder_if_any(folder);
    const std::string path = baseline_path(suite, name);
    std::size_t cases = 0;
    try {
      cases = count_cases(read_baseline_file(path));
    } catch (const UsageError&) {
      // What is damaged can be deleted as well.
    }
    return delete_store_file(path) ? std::optional(cases) : std::nullopt;
  }

  std::size_t forget_cases(const std::string& suite, const std::string& name,
                           const std::set<std::string>& cases) override {
    const Descriptor held = lock_.hold_alone();
    for (const std::string& folder : {baselines_folder(), suite_folder(suite)}) expect_folder_if_any(folder);
    const std::string path = baseline_path(suite, name);
    Baseline baseline = read_baseline_file(path);
    const std::size_t before = count_cases(baseline);
    if (std::erase_if(baseline, [&](const auto& entry) { return cases.contains(entry.first.name); }) == 0) return 0;
    write_baseline_file(path, baseline);
    return before - count_cases(baseline);
  }

  void add_history(const std::string& suite, std::span<const HistoryEntry> entries) override {
    const Descriptor held = lock_.hold_alone();
    create_store_folder(history_folder());
    std::string lines;
    for (const HistoryEntry& entry : entries) {
      const std::string line = history_line(entry) + "\n";
      if (line.size() > kMostLineBytes) {
        throw StoreFailed("expected a verdict of at most " + bytes_text(kMostLineBytes) + ", got " +
                          bytes_text(line.size()) + ": " + printable(history_path(suite)));
      }
      lines += line;
    }
    append_history(history_path(suite), std::move(lines));
  }

  std::vector<HistoryEntry> history(const std::string& suite, const std::string& name) override {
    std::vector<HistoryEntry> entries;
    const std::string path = history_path(suite);
    expect_folder_if_any(history_folder());
    const std::string text = read_history(path);
    std::size_t good = 0;
    Status mistake;
    for (const std::string_view line : lines_of(text)) {
      if (line.size() >= kMostLineBytes) continue;
      // A process that was killed while it wrote has left a part of a line.
      Result<HistoryEntry> entry = parse_history_line(line);
      if (!entry.is_ok()) {
        mistake = entry.status();
        continue;
      }
      ++good;
      if (name.empty() || entry.value().name == name) entries.push_back(std::move(entry.value()));
    }
    if (good == 0 && !mistake.is_ok()) {
      throw UsageError(printable(path) + " is damaged, none of its lines can be read: " + mistake.message() +
                       "; restore it, from the cache of the CI system for example, or delete it: then the next run "
                       "begins a new history");
    }
    return entries;
  }

  std::string collect() override {
    const Descriptor held = lock_.hold_alone();
    const std::chrono::nanoseconds now = lock_.time(held);
    return collect_objects(objects_folder(), baselines_folder(), quota_, now, now - in_use_);
  }

 private:
  std::string objects_folder() const { return folder_ + "/objects"; }
  std::string baselines_folder() const { return folder_ + "/baselines"; }
  std::string suite_folder(const std::string& suite) const { return baselines_folder() + "/" + file_name(suite); }
  std::string baseline_path(const std::string& suite, const std::string& name) const {
    return suite_folder(suite) + "/" + file_name(name) + std::string(kBaselineExtension);
  }
  std::string history_folder() const { return folder_ + "/history"; }
  std::string history_path(const std::string& suite) const {
    return history_folder() + "/" + file_name(suite) + ".jsonl";
  }

  // Another run may have deleted an object that was not used for long.
  void expect_object(const CaseTarget& key, const Hash& object) const {
    if (objects_.touch_locked(object)) return;
    throw StoreFailed("the module of " + printable(key.name) + " for " + printable(key.target) +
                      " cannot become a baseline, because " + printable(objects_.path_of(object)) +
                      " is gone: another run has deleted it to keep to its quota; run again, or raise the quota");
  }

  std::string folder_;
  StoreLock lock_;
  ObjectFolder objects_;
  std::uint64_t quota_;
  std::chrono::seconds in_use_;
};

}  // namespace

std::unique_ptr<Store> open_folder_store(const std::string& folder, std::uint64_t quota, const StoreTimes& times) {
  return std::make_unique<FolderStore>(folder, quota, times);
}

}  // namespace ferry::gate
