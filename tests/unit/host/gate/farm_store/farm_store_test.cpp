// A store at a farm, over real connections to a tracker. A store in a folder says what it must do.
#include "host/gate/farm_store/farm_store.h"

#include <doctest/doctest.h>

#include <thread>

#include "farm/store/modules/object_tables.h"
#include "farm/store/open_connection.h"
#include "host/client/blobs/blob_set.h"
#include "host/gate/store/folder_store.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using gate::Baseline;
using gate::Side;
using gate::Store;
using gate::StoredModule;
using Bytes = std::vector<std::uint8_t>;

// A farm with one client.
struct Lab {
  explicit Lab(std::uint64_t quota = farm::wire::kDefaultModuleQuota, bool keeps_modules = true)
      : tracker(std::make_unique<MemoryStore>(), options(quota, keeps_modules)), anna(tracker.add_client("anna")) {}

  farm::TrackerOptions options(std::uint64_t quota, bool keeps_modules) const {
    farm::TrackerOptions options;
    if (keeps_modules) options.modules = folder.file("farm.modules.db");
    options.module_quota = quota;
    return options;
  }
  std::unique_ptr<Store> open() const { return gate::open_farm_store(anna); }

  TemporaryFolder folder;
  RunningTracker tracker;
  farm::FarmAccess anna;
};

Bytes contents(std::size_t count, std::uint8_t seed) {
  Bytes bytes(count);
  std::uint32_t state = seed;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

StoredModule module_of(const Hash& object, std::vector<Hash> blobs, std::int64_t stored) {
  return {object, blake2b(object), std::move(blobs), "commit " + std::to_string(stored), stored, {}};
}

gate::HistoryEntry entry_of(const std::string& name, int number) {
  gate::HistoryEntry entry;
  entry.when = 1'700'000'000 + number;
  entry.name = name;
  entry.target = "aarch64";
  entry.label = "äöü \x01";
  entry.verdict = gate::Verdict::slower;
  entry.environment = {"pi-3", "cortex-a72", "Linux 6.1.0", "performance"};
  entry.module = module_of(blake2b(contents(3, 1)), {blake2b(contents(3, 2))}, number);
  entry.seconds[Side::current] = number * 1e-6;
  return entry;
}

template <class Exception>
std::string failure_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

// Fills a store and returns all that it then says.
struct Said {
  std::vector<bool> has;
  std::vector<std::optional<Bytes>> objects;
  std::vector<Bytes> blobs;
  std::vector<Baseline> baselines;
  std::vector<std::vector<std::string>> names;
  std::vector<std::vector<gate::HistoryEntry>> histories;
  std::vector<std::optional<std::size_t>> forgotten;
  std::vector<std::size_t> deleted;
};
Said use(Store& store) {
  Said said;
  std::vector<Hash> objects;
  for (const std::size_t size : {0u, 1u, 28'671u, 28'672u, 28'673u, 262'144u, 262'145u, 1'500'007u})
    objects.push_back(store.put(contents(size, 3)));
  BlobSet memory;
  const Blob blob = memory.add(contents(600'001, 4)), other = memory.add(contents(17, 5));
  store.put_blob(blob.hash, blob.bytes, memory);
  store.put_blob(other.hash, other.bytes, memory);
  store.put_blob(blob.hash, blob.bytes, memory);  // again
  const Hash unknown = blake2b(contents(9, 9));
  for (const Hash& object : {objects[0], objects[7], blob.hash, unknown}) said.has.push_back(store.has(object));
  for (const Hash& object : objects) said.objects.push_back(store.get(object));
  said.objects.push_back(store.get(unknown));
  const Hash asked[] = {blob.hash, unknown, other.hash};
  const auto source = store.blobs(asked);
  for (const Hash& object : asked) said.has.push_back(source->has(object));
  for (const auto& [offset, count] : {std::pair<std::size_t, std::size_t>{0, 600'001},
                                      {262'143, 2},
                                      {262'144, 262'144},
                                      {5, 0},
                                      {600'000, 1},
                                      {100'000, 400'000}}) {
    source->read(blob.hash, offset, said.blobs.emplace_back(count));
  }

  const gate::CaseTarget mm{"mm", "x86_64+avx2"}, pool{"größer", "aarch64"};
  store.update("kernels", "main",
               {{mm, module_of(objects[1], {}, 2000)}, {pool, module_of(objects[2], {blob.hash}, 2000)}});
  store.update("kernels", "main", {{mm, module_of(objects[3], {blob.hash, other.hash}, 2001)}});
  store.update("kernels", "main", {{pool, module_of(objects[4], {}, 1999)}});  // an older run
  store.update("kernels", "release", {{mm, module_of(objects[5], {}, 2000)}});
  store.update("kernels", "main", {});
  for (const auto& [suite, name] :
       {std::pair{"kernels", "main"}, {"kernels", "release"}, {"kernels", "none"}, {"none", "main"}})
    said.baselines.push_back(store.baseline(suite, name));

  for (const char* suite : {"kernels", "none"}) said.names.push_back(store.baseline_names(suite));

  std::vector<gate::HistoryEntry> entries;
  for (int i = 0; i < 250; ++i) entries.push_back(entry_of(i % 3 == 0 ? "mm" : "pool", i));
  store.add_history("kernels", {entries.data(), 100});
  store.add_history("kernels", {entries.data() + 100, 150});
  store.add_history("other", {entries.data(), 1});
  store.add_history("other", {});
  for (const auto& [suite, name] :
       {std::pair{"kernels", "mm"}, {"kernels", ""}, {"kernels", "none"}, {"other", ""}, {"none", ""}})
    said.histories.push_back(store.history(suite, name));

  store.update("kernels", "release", {{{"mm", "aarch64"}, module_of(objects[5], {}, 2000)}});
  for (const auto& [suite, name] : {std::pair{"kernels", "release"},
                                    {"kernels", "release"},
                                    {"kernels", "none"},
                                    {"none", "main"},
                                    {"kernels", "main"}}) {
    said.forgotten.push_back(store.forget(suite, name));
    for (const char* left : {"main", "release"}) said.baselines.push_back(store.baseline("kernels", left));
    said.names.push_back(store.baseline_names("kernels"));
    said.histories.push_back(store.history("kernels", "mm"));
  }
  for (const std::set<std::string>& cases : {std::set<std::string>{}, {"none"}, {"mm"}, {"mm", "größer"}}) {
    store.update("kernels", "cases", {{mm, module_of(objects[3], {}, 1000)}, {pool, module_of(objects[4], {}, 1000)}});
    said.deleted.push_back(store.forget_cases("kernels", "cases", cases));
    said.baselines.push_back(store.baseline("kernels", "cases"));
  }
  // An older one is as good as any where there is none.
  store.update("kernels", "main", {{mm, module_of(objects[3], {}, 1000)}});
  said.baselines.push_back(store.baseline("kernels", "main"));
  CHECK(store.collect() == "");
  return said;
}

TEST_CASE("a store at a farm says what a store in a folder says") {
  const Lab lab;
  const TemporaryFolder folder;
  const Said expected = use(*gate::open_folder_store(folder.file("store")));
  REQUIRE(expected.baselines.at(0).size() == 2);
  REQUIRE(expected.histories.at(0).size() == 84);
  const Said said = use(*lab.open());
  CHECK(said.has == expected.has);
  CHECK(said.objects == expected.objects);
  CHECK(said.blobs == expected.blobs);
  CHECK(said.baselines == expected.baselines);
  CHECK(said.names == expected.names);
  CHECK(said.histories == expected.histories);
  CHECK(said.forgotten == expected.forgotten);
  CHECK(said.deleted == expected.deleted);
  CHECK(said.deleted == std::vector<std::size_t>{0, 0, 1, 2});
  CHECK(said.forgotten == std::vector<std::optional<std::size_t>>{1, {}, {}, {}, 2});
  // A new connection sees the same.
  const auto store = lab.open();
  CHECK(store->baseline("kernels", "main") == expected.baselines.back());
  CHECK(store->history("kernels", "mm") == expected.histories.at(0));
}

TEST_CASE("who stored a module of a farm is known to all others, and cannot be changed by what is stored") {
  Lab lab;
  const farm::FarmAccess eve = lab.tracker.add_client("eve");
  const auto annas = lab.open(), eves = gate::open_farm_store(eve);
  const Hash object = eves->put(contents(5, 1));
  StoredModule module = module_of(object, {}, 1);
  module.holder = "anna";  // a lie
  eves->update("kernels", "main", {{{"mm", "aarch64"}, module}});
  gate::HistoryEntry entry = entry_of("mm", 1);
  eves->add_history("kernels", {&entry, 1});
  const auto holder = [](Store& store) { return store.holder_of(store.baseline("kernels", "main").begin()->second); };
  CHECK(holder(*annas) == "eve");
  CHECK(holder(*eves).empty());
  CHECK(annas->history("kernels", "mm").at(0).module.holder == "eve");
  CHECK(eves->history("kernels", "mm").at(0).module.holder.empty());
  // A module that was the baseline and is the current one of somebody else's run stays its holder's.
  entry = entry_of("mm", 2);
  entry.module.holder = "eve";
  annas->add_history("kernels", {&entry, 1});
  CHECK(annas->history("kernels", "mm").at(1).module.holder == "eve");
  annas->update("kernels", "main", {{{"mm", "aarch64"}, module_of(object, {}, 2)}});
  CHECK(holder(*annas).empty());
  CHECK(holder(*eves) == "anna");
}

TEST_CASE("several clients of a farm may store the same objects at the same time") {
  const Lab lab;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto store = lab.open();
      for (std::uint8_t seed = 0; seed < 5; ++seed) store->put(contents(300'000, seed));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto store = lab.open();
  for (std::uint8_t seed = 0; seed < 5; ++seed)
    CHECK(store->get(blake2b(contents(300'000, seed))) == contents(300'000, seed));
}

TEST_CASE("one store serves several threads, and connections that have ended are opened again") {
  const Lab lab;
  const auto store = lab.open();
  std::vector<std::thread> threads;
  for (std::uint8_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (std::uint8_t seed = 0; seed < 5; ++seed) {
        const Bytes bytes = contents(40'000, static_cast<std::uint8_t>(10 * i + seed));
        CHECK(store->get(store->put(bytes)) == bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("viewers may read what is stored, and nothing else") {
  Lab lab;
  const auto store = lab.open();
  const Hash object = store->put(contents(5, 1));
  store->update("kernels", "main", {{{"mm", "x86_64"}, module_of(object, {}, 5)}});
  const auto viewer = gate::open_farm_store(lab.tracker.add_client("eve", farm::wire::Role::viewer));
  CHECK(viewer->get(object) == contents(5, 1));
  CHECK(viewer->baseline("kernels", "main").size() == 1);
  CHECK(viewer->history("kernels", "").empty());
  const std::string refused = "the farm test: this key is for viewers, who may not store modules";
  CHECK(failure_of<Error>([&] { viewer->put(contents(6, 1)); }) == refused);
  CHECK(failure_of<Error>([&] { viewer->update("kernels", "main", {{{"mm", "x86_64"}, module_of(object, {}, 6)}}); }) ==
        refused);
  CHECK(failure_of<Error>([&] { viewer->add_history("kernels", {{entry_of("mm", 1)}}); }) == refused);
  CHECK(failure_of<Error>([&] { viewer->forget("kernels", "main"); }) == refused);
  CHECK(failure_of<Error>([&] { viewer->collect(); }) == refused);
  CHECK(lab.open()->baseline("kernels", "main").begin()->second.stored == 5);
}

TEST_CASE("who has set a baseline is in the audit log, once for each connection, and who has deleted one") {
  Lab lab;
  const auto store = lab.open();
  const Hash object = store->put(contents(5, 1));
  for (const char* name : {"mm", "pool", "conv"})
    store->update("kernels", "main", {{{name, "x86_64"}, module_of(object, {}, 5)}});
  CHECK(store->forget("kernels", "main") == 3);
  CHECK_FALSE(store->forget("kernels", "main"));
  store->update("kernels", "main", {{{"mm", "x86_64"}, module_of(object, {}, 5)}});
  const auto audit = farm::FarmClient(lab.tracker.admin()).ask(farm::wire::ListAudit{});
  REQUIRE(audit.is_ok());
  std::vector<std::string> found;
  for (const auto& entry : audit.value().entries) {
    if (entry.text == "kernels main") found.push_back(entry.actor + ": " + entry.action);
  }
  CHECK(found == std::vector<std::string>{"anna: set baseline", "anna: delete baseline", "anna: set baseline"});
}

TEST_CASE("one key does not take all of a tracker's memory for objects on their way") {
  Lab lab;
  const farm::FarmAccess eve = lab.tracker.add_client("eve");
  const farm::wire::PutObject first{blake2b(contents(9, 9)), 100'000, 0, Bytes(20'000)};
  std::vector<std::unique_ptr<farm::FarmClient>> connections;
  for (int i = 0; i < 8; ++i) {
    connections.push_back(std::make_unique<farm::FarmClient>(eve));
    CHECK(connections.back()->ask(first).is_ok());
  }
  farm::FarmClient one_more(eve);
  const Status refused = one_more.ask(first).status();
  CHECK(refused.code() == ErrorCode::busy);
  CHECK(one_more.ask(farm::wire::GetObject{first.object, 0}).status().code() == ErrorCode::busy);
  CHECK(one_more.ask(farm::wire::FindObjects{{first.object}}).is_ok());
  CHECK(lab.open()->put(contents(300'000, 1)) == blake2b(contents(300'000, 1)));
  // Whoever has ended or given up makes room.
  connections.pop_back();
  CHECK(connections.back()->ask(farm::wire::PutObject{first.object, 100'000, 5, {1}}).status().code() ==
        ErrorCode::aborted);
  Status again(ErrorCode::busy, "");
  for (int i = 0; i < 100 && !again.is_ok(); ++i) {
    again = one_more.ask(first).status();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK_MESSAGE(again.is_ok(), again.message());
  CHECK(farm::FarmClient(eve).ask(first).is_ok());
}

TEST_CASE("nobody floods the audit log by setting baselines in turns") {
  const Lab lab;
  const Hash object = lab.open()->put(contents(5, 1));
  farm::FarmClient connection(lab.anna);
  const auto set = [&](int i) {
    return connection
        .ask(farm::wire::SetBaseline{"kernels", std::to_string(i), {"mm", "x86_64", object, object, {}, "1f3a", 5, {}}})
        .status();
  };
  int taken = 0;
  while (taken < 300 && set(taken % 2).is_ok()) ++taken;
  CHECK(taken >= 100);
  CHECK(taken < 150);
  CHECK(set(taken % 2).code() == ErrorCode::busy);
  CHECK(set((taken + 1) % 2).is_ok());  // the one that was audited
  CHECK(connection.ask(farm::wire::DeleteBaseline{"kernels", "0"}).status().code() == ErrorCode::busy);
}

TEST_CASE("what a farm does not take is a mistake that says what it takes") {
  const Lab lab(1000);
  const auto store = lab.open();
  const auto message = [&](const std::function<void()>& work) { return failure_of<gate::StoreFailed>(work); };
  CHECK(
      message([&] { store->put(contents(1001, 1)); }) ==
      "the farm test: expected an object for which the farm has room, got one of 1001 bytes: its quota for modules is "
      "1000 bytes, of which 0 bytes are taken by baselines, by verdicts and by what was used during the last hour");
  const Hash object = store->put(contents(900, 1));
  CHECK(message([&] { store->put(contents(101, 1)); }).find("expected an object for which the farm has room") !=
        std::string::npos);
  const Hash unknown = blake2b(contents(7, 7));
  CHECK(message([&] {
          store->update("kernels", "main", {{{"mm", "x86_64"}, module_of(unknown, {}, 5)}});
        }).find("the object " + to_hex(unknown) + " was deleted since it was stored") != std::string::npos);
  CHECK(message([&] { store->baseline(std::string(257, 'x'), "main"); }) ==
        "the name of the suite: a farm takes at most 256 bytes, got 257");
  CHECK(message([&] {
          store->update("kernels", "main", {{{"mm", "x86_64"}, module_of(object, std::vector<Hash>(513, object), 5)}});
        }) == "mm: a farm keeps modules of at most 512 blobs, got 513");
  gate::HistoryEntry long_entry = entry_of("mm", 1);
  long_entry.label = std::string(9000, 'x');
  CHECK(message([&] { store->add_history("kernels", {{long_entry}}); }).find("a verdict: a farm takes at most 8192") ==
        0);
  CHECK(store->baseline("kernels", "main").empty());
  CHECK(store->history("kernels", "").empty());
}

TEST_CASE("a blob whose contents are not those of its hash is refused, and the connection goes on") {
  const Lab lab;
  const auto store = lab.open();
  class Wrong final : public BlobSource {
   public:
    bool has(const Hash&) const override { return true; }
    void read(const Hash&, std::uint64_t, std::span<std::uint8_t> into) const override {
      std::fill(into.begin(), into.end(), std::uint8_t{7});
    }
  };
  class Gone final : public BlobSource {
   public:
    bool has(const Hash&) const override { return true; }
    void read(const Hash&, std::uint64_t offset, std::span<std::uint8_t>) const override {
      if (offset > 100'000) throw UsageError("weights.npy has become shorter");
    }
  };
  const Hash blob = blake2b(contents(400'000, 1));
  CHECK(failure_of<gate::StoreFailed>([&] {
          store->put_blob(blob, 400'000, Wrong());
        }).find("expected contents with the hash " + to_hex(blob)) != std::string::npos);
  CHECK(failure_of<UsageError>([&] { store->put_blob(blob, 400'000, Gone()); }) == "weights.npy has become shorter");
  CHECK(!store->has(blob));
  CHECK(store->put(contents(400'000, 1)) == blob);
}

TEST_CASE("a farm that keeps no modules says so, and how to go on") {
  const Lab lab(1, false);
  CHECK(failure_of<gate::StoreFailed>([&] { lab.open()->has({}); }) ==
        "the farm test: this farm keeps no modules; use a folder instead, with --store FOLDER");
}

TEST_CASE("a farm that cannot be reached is unavailable, which is no mistake of the suite") {
  farm::FarmAccess nowhere;
  {
    const Lab lab;
    nowhere = lab.anna;
  }
  try {
    gate::open_farm_store(nowhere)->has({});
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK(std::string(error.what()).find("the farm test: ") == 0);
  }
}

}  // namespace
}  // namespace ferry::test
