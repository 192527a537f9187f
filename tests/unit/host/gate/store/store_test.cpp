#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <thread>

#include "ferry/error.h"
#include "host/client/blobs/blob_set.h"
#include "host/gate/store/file_name.h"
#include "tests/unit/host/gate/store/store_fixture.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;

TEST_CASE("objects are found by their hashes, with the bytes that were stored") {
  const Folder folder;
  const auto store = open_folder_store(folder.path + "/deep/store");
  for (const std::size_t count : {0u, 1u, 4093u, 3'000'000u}) {
    CAPTURE(count);
    const std::vector<std::uint8_t> bytes = bytes_of(count, 3);
    const Hash object = store->put(bytes);
    CHECK(object == blake2b(bytes));
    CHECK(store->has(object));
    CHECK(store->get(object) == bytes);
    CHECK(store->put(bytes) == object);
  }
  CHECK_FALSE(store->has(Hash{}));
  CHECK(store->get(Hash{}) == std::nullopt);
}

TEST_CASE("an object whose file was changed is refused with the file's name") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const Hash object = store->put(bytes_of(1000, 1));
  const std::string path = folder.path + "/objects/" + to_hex(object);
  fs::resize_file(path, 999);
  CHECK_THROWS_WITH_AS(store->get(object), doctest::Contains((path + " is damaged").c_str()), Error);
}

TEST_CASE("blobs are copied piece by piece, and refused if they are not what their hash says") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  BlobSet source;
  const std::vector<std::uint8_t> bytes = bytes_of(2'500'001, 5);
  const Blob blob = source.add(bytes);
  store->put_blob(blob.hash, blob.bytes, source);
  Hash missing{};
  const auto found = store->blobs(std::vector<Hash>{blob.hash, missing});
  CHECK(found->has(blob.hash));
  CHECK_FALSE(found->has(missing));
  std::vector<std::uint8_t> end(17);
  found->read(blob.hash, bytes.size() - end.size(), end);
  CHECK(std::equal(end.begin(), end.end(), bytes.end() - 17));

  CHECK_THROWS_AS(open_folder_store(folder.path + "/other")->put_blob(blob.hash, blob.bytes - 1, source), Error);
  CHECK_FALSE(open_folder_store(folder.path + "/other")->has(blob.hash));
}

TEST_CASE("an update replaces the modules of its cases and keeps the others") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  CHECK(store->baseline("vision", "main").empty());
  for (const std::uint8_t number : {1, 2, 3, 4}) stored_module(*store, number);
  store->update("vision", "main", {{{"mm", "aarch64"}, module_with(1)}, {{"mm", "x86_64"}, module_with(2)}});
  store->update("vision", "main", {{{"mm", "x86_64"}, module_with(3)}, {{"conv", "x86_64"}, module_with(4)}});
  const Baseline expected = {
      {{"mm", "aarch64"}, module_with(1)}, {{"mm", "x86_64"}, module_with(3)}, {{"conv", "x86_64"}, module_with(4)}};
  CHECK(open_folder_store(folder.path)->baseline("vision", "main") == expected);
  CHECK(store->baseline("vision", "release/1.0").empty());
  CHECK(store->baseline("audio", "main").empty());
}

TEST_CASE("names of suites and baselines cannot leave the store's folder, or meet") {
  for (const std::string name : {"..", ".", "", "a/b", "../../etc/passwd", "a%2fb", "-x", "\n", "M", "m"}) {
    CAPTURE(name);
    const std::string file = file_name(name);
    CHECK(file.find('/') == std::string::npos);
    CHECK(file != ".");
    CHECK(file != "..");
    CHECK_FALSE(file.empty());
  }
  CHECK(file_name("release-1.0_x") == "release-1.0_x");
  CHECK(file_name("a/b") != file_name("a%2fb"));
  CHECK(file_name("") != file_name("%"));
  const std::string longest(1000, 'a');
  CHECK(file_name(longest).size() < 200);
  CHECK(file_name(longest) != file_name(longest + "a"));
}

// Returns the text with a byte for each % and two digits.
std::string unescaped(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && std::isxdigit(text[i + 1]) && std::isxdigit(text[i + 2]);
    bytes += is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (is_escape) i += 2;
  }
  return bytes;
}

TEST_CASE("no short name has the file of a long one") {
  for (int i = 0; i < 100; ++i) {
    for (const char filling : {'a', '/'}) {
      const std::string file = file_name(std::string(300, filling) + std::to_string(i));
      CAPTURE(file);
      CHECK(file_name(unescaped(file)) != file);
    }
  }
}

TEST_CASE("the history returns what was added, by case and in order") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const std::vector<HistoryEntry> entries = {entry_of("mm", 1e-3), entry_of("conv \"2\"\n", 2e-3),
                                             entry_of("mm", 3e-3)};
  store->add_history("vision", entries);
  store->add_history("vision", std::vector<HistoryEntry>{entry_of("mm", 4e-3)});
  CHECK(store->history("vision", "").size() == 4);
  const std::vector<HistoryEntry> found = store->history("vision", "mm");
  REQUIRE(found.size() == 3);
  CHECK(found[0] == entries[0]);
  CHECK(found[2].seconds[Side::current] == 4e-3);
  CHECK(std::isinf(found[0].change.high));
  CHECK(store->history("vision", "conv \"2\"\n").front() == entries[1]);
  CHECK(store->history("audio", "").empty());
}

TEST_CASE("a line of the history that a killed process left unfinished costs only that line") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->add_history("vision", std::vector<HistoryEntry>{entry_of("mm", 1e-3)});
  const std::string path = folder.path + "/history/vision.jsonl";
  fs::resize_file(path, fs::file_size(path) - 10);
  store->add_history("vision", std::vector<HistoryEntry>{entry_of("mm", 2e-3)});
  const std::vector<HistoryEntry> found = store->history("vision", "mm");
  REQUIRE(found.size() == 1);
  CHECK(found[0].seconds[Side::current] == 2e-3);
}

TEST_CASE("a module that another user has stored is his, whatever the baseline says") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const StoredModule own = stored_module(*store, 1), other = stored_module(*store, 2);
  CHECK(store->holder_of(own) == "somebody unknown");  // it was not read yet
  for (const StoredModule& module : {own, other}) REQUIRE(store->get(module.module));
  CHECK(store->holder_of(own).empty());
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a file to another user");
    return;
  }
  REQUIRE(chown(folder.object(other.module).c_str(), 54321, 54321) == 0);
  CHECK(store->holder_of(other).empty());  // the file that was read was this user's
  REQUIRE(store->get(other.module));
  CHECK(store->holder_of(other) == "uid 54321");
  REQUIRE(chown(folder.object(other.module).c_str(), 0, 0) == 0);
  REQUIRE(store->get(other.module));
  CHECK(store->holder_of(other).empty());
}

TEST_CASE("cases of a baseline are deleted for all targets") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const StoredModule module = stored_module(*store, 1);
  store->update("s", "main", {{{"mm", "a"}, module}, {{"mm", "b"}, module}, {{"fft", "a"}, module}});
  CHECK(store->forget_cases("s", "other", {"mm"}) == 0);
  CHECK(store->forget_cases("s", "main", {"none"}) == 0);
  CHECK(store->forget_cases("s", "main", {"mm", "none"}) == 1);
  CHECK(store->baseline("s", "main") == Baseline{{{"fft", "a"}, module}});
}

TEST_CASE("a history without a line that can be read is refused with its file and advice") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->add_history("vision", std::vector{entry_of("mm", 1e-3)});
  const std::string path = folder.path + "/history/vision.jsonl";
  write_text(path, "{\"when\": 3}\nnonsense\n");
  CHECK_THROWS_WITH_AS(store->history("vision", "mm"), doctest::Contains((path + " is damaged").c_str()), Error);
  CHECK_THROWS_WITH_AS(store->history("vision", "mm"), doctest::Contains("or delete it"), Error);
  write_text(path, "");
  CHECK(store->history("vision", "mm").empty());
}

TEST_CASE("a store lists a suite's baselines whatever their names are") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  CHECK(store->baseline_names("vision").empty());
  std::vector<std::string> names = {"", "%", "..", "a/b", "main", "main.json", "with space", "\xff"};
  for (const std::string& name : names) store->update("vision", name, {{{"mm", "aarch64"}, stored_module(*store, 1)}});
  store->update("audio", "other", {{{"mm", "aarch64"}, stored_module(*store, 1)}});
  write_text(folder.path + "/baselines/vision/not%zz.json", "{}");
  write_text(folder.path + "/baselines/vision/notes.txt", "");
  CHECK(store->baseline_names("vision") == names);
}

TEST_CASE("a damaged baseline is refused with its file and the reason, and stays as it is") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->update("vision", "main", {{{"mm", "aarch64"}, stored_module(*store, 1)}});
  const std::string path = folder.path + "/baselines/vision/main.json";
  for (const std::string text :
       {"", "[]", "{\"format\": 2}", "{\"format\": 1, \"cases\": [{\"case\": 1}]}",
        "{\"format\": 1, \"cases\": [{\"case\": \"a\", \"target\": \"b\", \"module\": \"zz\"}]}"}) {
    CAPTURE(text);
    write_text(path, text);
    CHECK_THROWS_WITH_AS(store->baseline("vision", "main"), doctest::Contains((path + " is damaged").c_str()), Error);
    CHECK_THROWS_WITH_AS(store->baseline("vision", "main"),
                         doctest::Contains("or delete it: then the next run stores a new baseline"), Error);
    CHECK_THROWS_AS(store->update("vision", "main", {{{"mm", "aarch64"}, stored_module(*store, 2)}}), Error);
    CHECK(fs::file_size(path) == text.size());
  }
}

TEST_CASE("a baseline that is forgotten keeps no objects any more, and may be damaged") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 150);
  const StoredModule first = stored_module(*store, 1), second = stored_module(*store, 2);
  store->update("vision", "main", {{{"mm", "aarch64"}, first}, {{"mm", "x86_64"}, first}, {{"pool", "x86_64"}, first}});
  const std::string long_name(300, 'x');
  store->update("vision", long_name, {{{"mm", "x86_64"}, second}});
  for (const StoredModule& module : {first, second}) age(folder.object(module.module), std::chrono::hours(2));
  CHECK(store->collect() != "");
  CHECK_FALSE(store->forget("vision", "none"));
  CHECK_FALSE(store->forget("none", "main"));
  CHECK(store->forget("vision", long_name) == 1);
  CHECK_FALSE(store->forget("vision", long_name));
  CHECK(store->collect() == "");
  CHECK(store->has(first.module));
  CHECK_FALSE(store->has(second.module));
  write_text(folder.path + "/baselines/vision/main.json", "{");
  CHECK(store->forget("vision", "main") == 0);
  CHECK(store->baseline("vision", "main").empty());
  CHECK(store->baseline_names("vision").empty());
  CHECK(store->forget("vision", "main") == std::nullopt);
  // What is no file at all is not deleted.
  fs::create_directory(folder.path + "/baselines/vision/main.json");
  CHECK_THROWS_WITH_AS(store->forget("vision", "main"), doctest::Contains("main.json"), StoreFailed);
}

TEST_CASE("beyond the quota the oldest objects go that no baseline needs") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 2500);
  std::vector<Hash> objects;
  for (std::uint8_t i = 0; i < 5; ++i) {
    objects.push_back(store->put(bytes_of(1000, i)));
    age(folder.path + "/objects/" + to_hex(objects.back()), std::chrono::hours(10 - i));
  }
  StoredModule needed;
  needed.module = objects[0];
  needed.blobs = {objects[1]};
  store->update("vision", "main", {{{"mm", "aarch64"}, needed}});
  write_text(folder.path + "/objects/new-killed", "left over");
  age(folder.path + "/objects/new-killed", std::chrono::hours(2));

  CHECK(store->collect().empty());
  CHECK(fs::exists(folder.path + "/objects/" + to_hex(objects[0])));
  CHECK(fs::exists(folder.path + "/objects/" + to_hex(objects[1])));
  for (const int gone : {2, 3, 4}) CHECK_FALSE(fs::exists(folder.path + "/objects/" + to_hex(objects[gone])));
  CHECK_FALSE(fs::exists(folder.path + "/objects/new-killed"));
}

TEST_CASE("collect says when what is in use exceeds the quota") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 100);
  const Hash object = store->put(bytes_of(1000, 1));
  CHECK(store->collect().find("more than the quota of 100 bytes") != std::string::npos);
  CHECK(store->has(object));
}

TEST_CASE("processes that use one store at the same time lose nothing") {
  const Folder folder(folder_in_memory());
  constexpr int kWriters = 8, kRounds = 20;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&folder, writer] {
      const auto store = open_folder_store(folder.path);  // a lock of its own, as another process has
      for (int round = 0; round < kRounds; ++round) {
        const std::string name = std::to_string(writer) + "." + std::to_string(round);
        store->put(bytes_of(1000, static_cast<std::uint8_t>(round)));
        store->update("vision", "main", {{{name, "x86_64"}, stored_module(*store, 1)}});
        store->add_history("vision", std::vector<HistoryEntry>{entry_of(name, 1e-3)});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto store = open_folder_store(folder.path);
  CHECK(store->baseline("vision", "main").size() == kWriters * kRounds);
  CHECK(store->history("vision", "").size() == kWriters * kRounds);
  CHECK(store->get(blake2b(bytes_of(1000, 3))) == bytes_of(1000, 3));
}

TEST_CASE("a store in a place that cannot be written says which") {
  const Folder folder;
  write_text(folder.path + "/file", "");
  CHECK_THROWS_WITH_AS(open_folder_store(folder.path + "/file"),
                       doctest::Contains((folder.path + "/file/objects").c_str()), Error);
}

}  // namespace
}  // namespace ferry::gate
