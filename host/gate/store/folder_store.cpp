#include "host/gate/store/folder_store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/descriptor.h"
#include "base/replace_file.h"
#include "host/blobs/blob_set.h"
#include "host/gate/store/file_name.h"
#include "host/gate/store/object_folder.h"
#include "host/gate/store/store_json.h"

namespace ferry::gate {

namespace fs = std::filesystem;

namespace {

// Returns the contents of a file, or nothing if there is none.
std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    throw StoreFailed("cannot read " + path + ": " + std::strerror(errno));
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) throw StoreFailed("cannot read " + path + ": " + std::strerror(errno));
  return std::move(text).str();
}

void create_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw StoreFailed("cannot create " + path + ": " + error.message());
}

Baseline read_baseline_file(const std::string& path) {
  const std::optional<std::string> text = contents_of(path);
  if (!text) return {};
  Result<Baseline> baseline = parse_baseline(*text);
  if (!baseline.is_ok()) throw UsageError(path + " is damaged: " + baseline.status().message());
  return std::move(baseline.value());
}

class FolderStore final : public Store {
 public:
  FolderStore(const std::string& folder, std::uint64_t quota)
      : folder_(folder), objects_(folder + "/objects"), quota_(quota) {}

  bool has(const Hash& object) override { return objects_.touch(object); }
  Hash put(std::span<const std::uint8_t> bytes) override { return objects_.put(bytes); }
  void put_blob(const Hash& blob, std::uint64_t bytes, const BlobSource& from) override {
    objects_.put(blob, bytes, from);
  }
  std::optional<std::vector<std::uint8_t>> get(const Hash& object) override { return objects_.get(object); }

  std::shared_ptr<const BlobSource> blobs(std::span<const Hash> blobs) override {
    auto found = std::make_shared<BlobSet>();
    for (const Hash& blob : blobs) {
      if (!objects_.touch(blob)) continue;
      const std::string path = objects_.path_of(blob);
      // The hash is checked by whoever receives the contents.
      found->add(Blob{blob, fs::file_size(path)}, path, 0);
    }
    return found;
  }

  Baseline baseline(const std::string& suite, const std::string& name) override {
    return read_baseline_file(baseline_path(suite, name));
  }

  void update(const std::string& suite, const std::string& name, const Baseline& changes) override {
    const Descriptor lock = locked();
    create_folder(baseline_folder(suite));
    const std::string path = baseline_path(suite, name);
    Baseline baseline = read_baseline_file(path);
    for (const auto& [key, module] : changes) baseline[key] = module;
    if (const Status written = replace_file(path, baseline_text(baseline)); !written.is_ok()) {
      throw StoreFailed(written.message());
    }
  }

  void add_history(const std::string& suite, std::span<const HistoryEntry> entries) override {
    const Descriptor lock = locked();
    create_folder(folder_ + "/history");
    const std::string path = history_path(suite);
    std::string lines;
    for (const HistoryEntry& entry : entries) lines += history_line(entry) + "\n";
    const Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    if (file.number() < 0) fail_to_write(path);
    if (ends_in_a_line(file.number())) lines.insert(0, "\n");
    if (write(file.number(), lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()) ||
        fsync(file.number()) != 0) {
      fail_to_write(path);
    }
  }

  std::vector<HistoryEntry> history(const std::string& suite, const std::string& name) override {
    std::vector<HistoryEntry> entries;
    const std::optional<std::string> text = contents_of(history_path(suite));
    std::istringstream lines(text.value_or(""));
    for (std::string line; std::getline(lines, line);) {
      // A process that was killed while it wrote has left a part of a line.
      Result<HistoryEntry> entry = parse_history_line(line);
      if (entry.is_ok() && (name.empty() || entry.value().name == name)) entries.push_back(std::move(entry.value()));
    }
    return entries;
  }

  std::string collect() override {
    const Descriptor lock = locked();
    std::set<Hash> needed;
    std::error_code none;  // a store without baselines has no such folder
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_ + "/baselines", none)) {
      if (entry.path().extension() != ".json") continue;
      for (const auto& [key, module] : read_baseline_file(entry.path())) {
        needed.insert(module.module);
        needed.insert(module.blobs.begin(), module.blobs.end());
      }
    }
    return objects_.collect(quota_, needed);
  }

 private:
  std::string baseline_folder(const std::string& suite) const { return folder_ + "/baselines/" + file_name(suite); }
  std::string baseline_path(const std::string& suite, const std::string& name) const {
    return baseline_folder(suite) + "/" + file_name(name) + ".json";
  }
  std::string history_path(const std::string& suite) const {
    return folder_ + "/history/" + file_name(suite) + ".jsonl";
  }

  [[noreturn]] static void fail_to_write(const std::string& path) {
    throw StoreFailed("cannot write " + path + ": " + std::strerror(errno));
  }

  // Whether the file ends in the middle of a line.
  static bool ends_in_a_line(int file) {
    char last = '\n';
    const off_t bytes = lseek(file, 0, SEEK_END);
    return bytes > 0 && pread(file, &last, 1, bytes - 1) == 1 && last != '\n';
  }

  // Waits for other processes that change the store.
  Descriptor locked() const {
    const std::string path = folder_ + "/lock";
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (file.number() < 0) fail_to_write(path);
    while (flock(file.number(), LOCK_EX) != 0) {
      if (errno != EINTR) fail_to_write(path);
    }
    return file;
  }

  std::string folder_;
  ObjectFolder objects_;
  std::uint64_t quota_;
};

}  // namespace

std::unique_ptr<Store> open_folder_store(const std::string& folder, std::uint64_t quota) {
  return std::make_unique<FolderStore>(folder, quota);
}

}  // namespace ferry::gate
