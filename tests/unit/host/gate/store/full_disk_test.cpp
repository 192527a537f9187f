// Tests what is left of the store when the disk becomes full. A limit for the size of files has the same effect on
// them.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "host/client/blobs/blob_set.h"
#include "tests/unit/host/gate/store/store_fixture.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;

class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FullDisk(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

// Returns what a use of the store that needs more room throws.
std::string failure_on_full_disk(rlim_t bytes, const auto& use) {
  const FullDisk full(bytes);
  return failure_of(use);
}

std::size_t count_of(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST_CASE("objects for which there is no room are not stored, and nothing is left of them") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const std::vector<std::uint8_t> bytes = bytes_of(2'500'001, 1);
  BlobSet source;
  const Blob blob = source.add(bytes);
  CHECK(failure_on_full_disk(100'000, [&] { store->put(bytes); }) ==
        "cannot write " + folder.object(blob.hash) + ": File too large");
  CHECK(failure_on_full_disk(2'000'000, [&] { store->put_blob(blob.hash, blob.bytes, source); }) ==
        "cannot write " + folder.object(blob.hash) + ": File too large");
  CHECK(count_of(folder.path + "/objects") == 0);
  CHECK_FALSE(store->has(blob.hash));
  CHECK(store->put(bytes) == blob.hash);
  CHECK(store->get(blob.hash) == bytes);
}

TEST_CASE("a baseline for which there is no room stays as it was") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const Baseline before = {{{"mm", "x86_64"}, stored_module(*store, 1)}};
  store->update("vision", "main", before);
  Baseline changes;
  for (int i = 0; i < 100; ++i) changes[{"case " + std::to_string(i), "x86_64"}] = module_with(1);
  const std::string path = folder.path + "/baselines/vision/main.json";
  for (const rlim_t room : {0u, 1u, 1000u, 10'000u}) {
    CAPTURE(room);
    const std::string failure = failure_on_full_disk(room, [&] { store->update("vision", "main", changes); });
    CHECK(failure == "cannot write " + path + ".new: File too large");
    CHECK(count_of(folder.path + "/baselines/vision") == 1);
    CHECK(store->baseline("vision", "main") == before);
  }
}

TEST_CASE("verdicts for which there is no room leave the history as it was") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->add_history("vision", std::vector{entry_of("mm", 1)});
  const std::string path = folder.path + "/history/vision.jsonl", before = text_in(path);
  const std::vector<HistoryEntry> more(10, entry_of("mm", 2));
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, before.size(), 2 * before.size() + 100}) {
    CAPTURE(room);
    const std::string failure = failure_on_full_disk(before.size() + room, [&] { store->add_history("vision", more); });
    CHECK(failure == "cannot write " + path + ": File too large");
    CHECK(text_in(path) == before);
  }
  store->add_history("vision", more);
  CHECK(store->history("vision", "").size() == 11);
}

}  // namespace
}  // namespace ferry::gate
