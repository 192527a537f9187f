// Tests runs that use one store at the same time.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "base/descriptor.h"
#include "host/gate/store/merge_baseline.h"
#include "tests/unit/host/gate/store/store_fixture.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;

// Holds the lock of a store as another process does.
Descriptor hold_lock(const Folder& folder, int operation) {
  Descriptor lock(open((folder.path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(flock(lock.number(), operation) == 0);
  return lock;
}

TEST_CASE("a baseline is refused if one of its objects was deleted since it was stored") {
  const Folder folder;
  const auto run = open_folder_store(folder.path);
  const auto other = open_folder_store(folder.path, 0);
  const Baseline before = {{{"mm", "x86_64"}, stored_module(*run, 1)}};
  run->update("vision", "main", before);

  // A run that lasts for hours, while another one makes room.
  StoredModule module = stored_module(*run, 2);
  module.blobs = {run->put(bytes_of(1000, 7))};
  age(folder.object(module.module), hours(2));
  for (const Hash& lost : {module.blobs.front(), module.module}) {
    run->put(bytes_of(100, 2));
    run->put(bytes_of(1000, 7));
    age(folder.object(lost), hours(2));
    other->collect();
    REQUIRE_FALSE(fs::exists(folder.object(lost)));
    const std::string failure = failure_of(
        [&] { run->update("vision", "main", {{{"mm", "x86_64"}, module}, {{"conv", "x86_64"}, module_with(1)}}); });
    CHECK(failure == "the module of mm for x86_64 cannot become a baseline, because " + folder.object(lost) +
                         " is gone: another run has deleted it to keep to its quota; run again, or raise the quota");
    CHECK(run->baseline("vision", "main") == before);
  }
}

TEST_CASE("what a long run has stored stays in use as long as it uses the store") {
  const Folder folder;
  const auto run = open_folder_store(folder.path, 0, {.in_use = seconds(0)});  // touches again at once
  const Hash first = run->put(bytes_of(1000, 1));
  age(folder.object(first), hours(2));
  run->put(bytes_of(1000, 2));
  open_folder_store(folder.path, 0)->collect();
  CHECK(fs::exists(folder.object(first)));
}

TEST_CASE("objects are neither added nor said to be there while another run deletes some") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 0, {.longest_wait = seconds(0)});
  const StoredModule module = stored_module(*store, 1);
  const Baseline changes = {{{"mm", "x86_64"}, module}};
  const std::string refused = "cannot lock " + folder.path + "/lock: another process has held it for 0 s";
  {
    const Descriptor deleting = hold_lock(folder, LOCK_EX);
    CHECK(failure_of([&] { store->has(module.module); }) == refused);
    CHECK(failure_of([&] { store->get(module.module); }) == refused);
    CHECK(failure_of([&] { store->put(bytes_of(1000, 3)); }) == refused);
    CHECK(failure_of([&] { store->update("vision", "main", changes); }) == refused);
    CHECK(failure_of([&] { store->collect(); }) == refused);
  }
  const Descriptor adding = hold_lock(folder, LOCK_SH);
  CHECK(store->has(module.module));
  CHECK(store->put(bytes_of(1000, 3)) == blake2b(bytes_of(1000, 3)));
  CHECK(failure_of([&] { store->update("vision", "main", changes); }) == refused);
  CHECK(failure_of([&] { store->collect(); }) == refused);
}

TEST_CASE("a run waits for another one, and is not misled by a lock that was deleted meanwhile") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const Baseline changes = {{{"mm", "x86_64"}, stored_module(*store, 1)}};
  std::jthread other;
  {
    Descriptor first = hold_lock(folder, LOCK_EX);
    fs::remove(folder.path + "/lock");
    Descriptor second = hold_lock(folder, LOCK_EX);
    other = std::jthread([held = std::move(second)]() mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      held = Descriptor();
    });
  }
  const auto start = std::chrono::steady_clock::now();
  store->update("vision", "main", changes);
  CHECK(std::chrono::steady_clock::now() - start > std::chrono::milliseconds(30));
  CHECK(store->baseline("vision", "main") == changes);
}

TEST_CASE("an older commit whose run ends later does not replace the newer one's modules") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const StoredModule older = stored_module(*store, 1), newer = stored_module(*store, 2);
  const CaseTarget mm{"mm", "x86_64"}, conv{"conv", "x86_64"};
  store->update("vision", "main", {{mm, newer}});
  store->update("vision", "main", {{mm, older}, {conv, older}});  // compiled before the newer one
  const Baseline expected = {{mm, newer}, {conv, older}};
  CHECK(store->baseline("vision", "main") == expected);
  store->update("vision", "main", {{conv, newer}});
  CHECK(store->baseline("vision", "main").at(conv) == newer);
}

TEST_CASE("of modules stored in one second the last stays, and one from the future is replaced") {
  const CaseTarget mm{"mm", "x86_64"};
  StoredModule stored = module_with(1), change = module_with(2);
  constexpr std::int64_t kNow = 1'800'000'000;
  struct Trial {
    std::int64_t stored, change;
    bool is_replaced;
  };
  for (const Trial& trial :
       {Trial{kNow - 10, kNow - 10, true}, Trial{kNow - 10, kNow - 11, false}, Trial{kNow - 11, kNow - 10, true},
        Trial{kNow + 10, kNow, false}, Trial{kNow + 11, kNow, true}}) {
    CAPTURE(trial.stored - kNow);
    CAPTURE(trial.change - kNow);
    stored.stored = trial.stored;
    change.stored = trial.change;
    Baseline baseline = {{mm, stored}};
    const Baseline taken = merge_baseline(baseline, {{mm, change}}, kNow);
    CHECK(baseline.at(mm) == (trial.is_replaced ? change : stored));
    CHECK(taken.contains(mm) == trial.is_replaced);
  }
}

// Objects of a run of its own, so that hardly any two runs have one in common.
std::vector<std::uint8_t> random_bytes(std::mt19937& random) {
  std::vector<std::uint8_t> bytes(200 + random() % 5000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// Runs until it is killed. Everything that no baseline needs may disappear at any time.
[[noreturn]] void run_until_killed(const std::string& folder, unsigned seed) {
  std::mt19937 random(seed);
  try {
    const auto store = open_folder_store(folder, 20'000, {.in_use = seconds(0)});
    while (true) {
      try {
        StoredModule module = module_with(1);
        module.module = store->put(random_bytes(random));
        module.blobs = {store->put(random_bytes(random)), store->put(bytes_of(3000, random() % 4))};
        module.stored = 1'700'000'000;
        const std::string suite = random() % 2 == 0 ? "vision" : "audio";
        store->update(suite, "main", {{{"case " + std::to_string(random() % 4), "x86_64"}, module}});
        store->add_history(suite, std::vector{entry_of("mm", 1)});
        store->collect();
      } catch (const StoreFailed& failure) {
        if (!contains(failure.what(), "is gone") && !contains(failure.what(), "No such file")) throw;
      }
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
  }
  _exit(1);
}

TEST_CASE("runs that are killed at any time leave every baseline with all its objects") {
  const Folder folder(folder_in_memory());
  std::mt19937 random(7);
  constexpr int kRuns = 4;
  pid_t runs[kRuns] = {};
  int failed = 0, killed = 0;
  const auto end_run = [&](pid_t run) {
    int status = 0;
    kill(run, SIGKILL);
    REQUIRE(waitpid(run, &status, 0) == run);
    const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    ++(was_killed ? killed : failed);
  };
  const auto store = open_folder_store(folder.path, 0, {.in_use = seconds(0)});
  const auto expect_objects = [&] {
    const Descriptor lock = hold_lock(folder, LOCK_SH);
    std::size_t cases = 0;
    for (const char* suite : {"vision", "audio"}) {
      for (const auto& [key, module] : store->baseline(suite, "main")) {
        ++cases;
        CHECK(store->get(module.module).has_value());  // throws if it is damaged
        for (const Hash& blob : module.blobs) CHECK(store->get(blob).has_value());
      }
    }
    return cases;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  std::fflush(nullptr);
  while (std::chrono::steady_clock::now() < end) {
    pid_t& run = runs[random() % kRuns];
    if (run != 0) end_run(run);
    const unsigned seed = random();
    run = fork();
    REQUIRE(run >= 0);
    if (run == 0) run_until_killed(folder.path, seed);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    expect_objects();
  }
  for (const pid_t run : runs) {
    if (run != 0) end_run(run);
  }
  CHECK(failed == 0);
  CHECK(killed > 10);
  CHECK(expect_objects() > 0);
  // What was used at the very time of the file system's clock, which may stand still for some milliseconds, stays.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  store->collect();  // deletes all that is not needed, and what was left over
  CHECK(expect_objects() > 0);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path + "/objects")) left.push_back(entry.path().filename());
  for (const std::string& name : left) CHECK_FALSE(name.starts_with("new-"));
  CHECK(left.size() <= 8 * 2 + 4);
  const std::size_t verdicts = store->history("vision", "").size() + store->history("audio", "").size();
  CHECK(verdicts > 0);
}

}  // namespace
}  // namespace ferry::gate
