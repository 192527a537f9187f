// Tests what the store does with a folder in which others have damaged files or put something else in their place.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>

#include "base/descriptor.h"
#include "host/client/blobs/blob_set.h"
#include "host/gate/store/history_file.h"
#include "host/gate/store/store_json.h"
#include "tests/unit/host/gate/store/store_fixture.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;

// Things that may stand in the place of a file.
const std::map<std::string, std::function<void(const std::string&)>> kOthers = {
    {"a pipe", [](const std::string& path) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); }},
    {"a link", [](const std::string& path) { fs::create_symlink("/etc/hostname", path); }},
    {"a link to nothing", [](const std::string& path) { fs::create_symlink(path + "-none", path); }},
    {"a folder", [](const std::string& path) { fs::create_directory(path); }},
};

TEST_CASE("an object whose file is damaged is stored again, whether its size or only its contents differ") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const std::vector<std::uint8_t> bytes = bytes_of(2'500'001, 5);
  BlobSet source;
  const Blob blob = source.add(bytes);
  const std::string path = folder.object(blob.hash);
  std::string text(bytes.begin(), bytes.end());
  text[2'000'000] = static_cast<char>(text[2'000'000] ^ 1);
  const std::vector<Hash> blobs = {blob.hash};
  for (const std::string& damaged : {std::string(), text.substr(0, 1000), text + "x", text}) {
    CAPTURE(damaged.size());
    store->put(bytes);
    write_text(path, damaged);
    const std::string failure = failure_of<UsageError>([&] { store->get(blob.hash); });
    CHECK(contains(failure, path + " is damaged"));
    CHECK(contains(failure, "a run with the sources that it was compiled from repairs it"));
    CHECK(store->put(bytes) == blob.hash);
    CHECK(store->get(blob.hash) == bytes);
    write_text(path, damaged);
    CHECK(contains(failure_of<UsageError>([&] { store->blobs(blobs); }), path + " is damaged"));
    store->put_blob(blob.hash, blob.bytes, source);
    CHECK(store->get(blob.hash) == bytes);
    CHECK(store->blobs(blobs)->has(blob.hash));
  }
}

TEST_CASE("a pipe, a link or a folder with the name of an object is no object") {
  for (const auto& [what, make] : kOthers) {
    CAPTURE(what);
    const Folder folder;
    const auto store = open_folder_store(folder.path, 0);
    const std::vector<std::uint8_t> bytes = bytes_of(1000, 1);
    const Hash object = blake2b(bytes);
    make(folder.object(object));
    CHECK_FALSE(store->has(object));
    CHECK(store->get(object) == std::nullopt);
    CHECK_FALSE(store->blobs(std::vector{object})->has(object));
    CHECK(store->collect().empty());
    if (what == "a folder") {
      CHECK(contains(failure_of([&] { store->put(bytes); }), folder.object(object) + ": Is a directory"));
    } else {
      CHECK(store->put(bytes) == object);
      CHECK(store->get(object) == bytes);
    }
  }
  CHECK(fs::exists("/etc/hostname"));
}

TEST_CASE("a pipe, a link or a folder in the place of a baseline, the history or the lock is refused with its path") {
  for (const auto& [what, make] : kOthers) {
    CAPTURE(what);
    const Folder folder;
    const auto store = open_folder_store(folder.path, 10);
    const Baseline changes = {{{"mm", "x86_64"}, stored_module(*store, 1)}};
    const std::vector<HistoryEntry> entries = {entry_of("mm", 1)};
    fs::create_directories(folder.path + "/baselines/vision");
    fs::create_directories(folder.path + "/history");

    const std::string baseline = folder.path + "/baselines/vision/main.json";
    make(baseline);
    CHECK(contains(failure_of([&] { store->baseline("vision", "main"); }), baseline));
    CHECK(contains(failure_of([&] { store->update("vision", "main", changes); }), baseline));
    CHECK(contains(store->collect(), baseline));

    const std::string history = folder.path + "/history/vision.jsonl";
    make(history);
    CHECK(contains(failure_of([&] { store->history("vision", ""); }), history));
    CHECK(contains(failure_of([&] { store->add_history("vision", entries); }), history));

    fs::remove(folder.path + "/lock");
    make(folder.path + "/lock");
    CHECK(contains(failure_of([&] { store->has(Hash{}); }), folder.path + "/lock"));
    CHECK(contains(failure_of([&] { store->update("audio", "main", changes); }), folder.path + "/lock"));
  }
}

TEST_CASE("a link in the place of a folder is refused, and nothing in its target is deleted") {
  const Folder target;
  write_text(target.path + "/" + to_hex(Hash{}), "precious");
  write_text(target.path + "/new-letter", "precious");
  for (const std::string& name : {to_hex(Hash{}), std::string("new-letter")}) {
    age(target.path + "/" + name, std::chrono::hours(9));
  }
  const Folder folder;
  const auto store = open_folder_store(folder.path, 0);
  const Baseline changes = {{{"mm", "x86_64"}, stored_module(*store, 1)}};
  fs::create_symlink(target.path, folder.path + "/baselines");
  CHECK(contains(failure_of([&] { store->update("vision", "main", changes); }), folder.path + "/baselines"));
  CHECK(contains(failure_of([&] { store->baseline("vision", "main"); }), folder.path + "/baselines"));
  CHECK(contains(store->collect(), folder.path + "/baselines"));
  fs::create_symlink(target.path, folder.path + "/history");
  CHECK(contains(failure_of([&] { store->history("vision", ""); }), folder.path + "/history"));
  CHECK(contains(failure_of([&] { store->add_history("vision", {}); }), folder.path + "/history"));

  fs::remove_all(folder.path + "/objects");
  fs::create_symlink(target.path, folder.path + "/objects");
  CHECK(contains(failure_of([&] { store->collect(); }), folder.path + "/objects"));
  CHECK(contains(failure_of([&] { open_folder_store(folder.path); }), folder.path + "/objects"));
  CHECK(std::distance(fs::directory_iterator(target.path), {}) == 2);
}

TEST_CASE("only the store's own files among the objects are deleted") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 0);
  write_text(folder.path + "/objects/notes.txt", "mine");
  write_text(folder.path + "/objects/new-killed", "left over");
  for (const char* name : {"notes.txt", "new-killed"}) age(folder.path + "/objects/" + name, std::chrono::hours(2));
  CHECK(store->collect().empty());
  CHECK(fs::exists(folder.path + "/objects/notes.txt"));
  CHECK_FALSE(fs::exists(folder.path + "/objects/new-killed"));
}

TEST_CASE("an object that a wrong clock has dated into the future does not stay for ever") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 0);
  const Hash object = store->put(bytes_of(1000, 1));
  age(folder.object(object), std::chrono::hours(-100'000));
  CHECK(contains(store->collect(), "were used during the last hour"));
  CHECK(fs::last_write_time(folder.object(object)) <= fs::file_time_type::clock::now());
}

TEST_CASE("files that are too large are refused without reading them") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const Hash object = store->put(bytes_of(1000, 1));
  fs::resize_file(folder.object(object), std::uintmax_t{1} << 40);
  CHECK(contains(failure_of<UsageError>([&] { store->get(object); }), "expected at most 1.00 GiB, got 1.00 TiB"));

  store->update("vision", "main", {{{"mm", "x86_64"}, stored_module(*store, 2)}});
  const std::string baseline = folder.path + "/baselines/vision/main.json";
  fs::resize_file(baseline, std::uintmax_t{1} << 40);
  CHECK(contains(failure_of([&] { store->baseline("vision", "main"); }), baseline));
}

TEST_CASE("a baseline that would be too large is not written") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  StoredModule module = stored_module(*store, 1);
  const Baseline before = {{{"mm", "x86_64"}, module}};
  store->update("vision", "main", before);
  module.label.assign(17 << 20, 'x');
  const std::string failure = failure_of([&] { store->update("vision", "main", {{{"mm", "x86_64"}, module}}); });
  CHECK(contains(failure, "expected a baseline of at most 16.0 MiB, got 17.0 MiB"));
  CHECK(store->baseline("vision", "main") == before);
}

TEST_CASE("a verdict that would be too long is refused, and one that is there is ignored") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->add_history("vision", std::vector{entry_of("mm", 1)});
  HistoryEntry longer = entry_of("mm", 2);
  longer.label.assign(9 << 20, 'x');
  CHECK(contains(failure_of([&] { store->add_history("vision", std::vector{longer}); }),
                 "expected a verdict of at most 8.00 MiB, got 9.00 MiB"));
  append_history(folder.path + "/history/vision.jsonl", history_line(longer) + "\n");
  CHECK(store->history("vision", "").size() == 1);
}

TEST_CASE("two cases whose names become equal in a file are not written") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  const StoredModule module = stored_module(*store, 1);
  const Baseline changes = {{{"mm\xfe", "x86_64"}, module}, {{"mm\xff", "x86_64"}, module}};
  CHECK(contains(failure_of([&] { store->update("vision", "main", changes); }), "expected each case once"));
  CHECK(store->baseline("vision", "main").empty());
}

TEST_CASE("of a history that is too large the latest verdicts are read and kept") {
  const Folder folder;
  const std::string path = folder.path + "/history.jsonl", line = history_line(entry_of("mm", 1)) + "\n";
  const std::uint64_t most = 10 * line.size();
  for (int i = 0; i < 13; ++i) append_history(path, line);
  for (const std::uint64_t bytes : {most - 1, most, most + 1}) {
    const std::string read = read_history(path, bytes);
    CHECK(read.size() == bytes / line.size() * line.size());
    CHECK(read.starts_with("{\"when\""));
  }
  append_history(path, "the last\n", most);
  CHECK(text_in(path) == line + line + line + line + line + line + line + "the last\n");
  append_history(path, "another\n", most);
  CHECK(text_in(path).size() == 7 * line.size() + std::string("the last\nanother\n").size());
  CHECK(contains(failure_of([&] { append_history(path, line + line + line, most); }), "got "));
}

TEST_CASE("only the last part of a huge history is read") {
  const Folder folder;
  const auto store = open_folder_store(folder.path);
  store->add_history("vision", std::vector{entry_of("mm", 1)});
  const std::string path = folder.path + "/history/vision.jsonl";
  fs::resize_file(path, std::uintmax_t{1} << 40);
  std::ofstream(path, std::ios::app) << "\n" << history_line(entry_of("mm", 2)) << "\n";
  const std::vector<HistoryEntry> found = store->history("vision", "");
  REQUIRE(found.size() == 1);
  CHECK(found.front() == entry_of("mm", 2));
}

TEST_CASE("a baseline that cannot be read keeps every object, of all suites, and is named when room is needed") {
  const Folder folder;
  const auto store = open_folder_store(folder.path, 100);
  store->update("vision", "main", {{{"mm", "x86_64"}, stored_module(*store, 1)}});
  store->update("audio", "main", {{{"fft", "x86_64"}, stored_module(*store, 2)}});
  const Hash unneeded = store->put(bytes_of(1000, 9));
  for (const Hash& object : {module_with(1).module, module_with(2).module, unneeded}) {
    age(folder.object(object), std::chrono::hours(2));
  }
  const std::string path = folder.path + "/baselines/audio/main.json", whole = text_in(path);
  write_text(path, whole.substr(0, 50));
  const std::string full = store->collect();
  CHECK(contains(full, path + " is damaged"));
  CHECK(contains(full, "nothing was deleted"));
  CHECK(contains(full, "more than the quota of 100 bytes"));
  for (const Hash& object : {module_with(1).module, module_with(2).module, unneeded}) {
    CHECK(fs::exists(folder.object(object)));
  }
  CHECK(open_folder_store(folder.path, 100'000)->collect().empty());

  write_text(path, whole);
  CHECK(contains(store->collect(), "200 bytes belong to baselines"));
  CHECK_FALSE(fs::exists(folder.object(unneeded)));
  CHECK(store->has(module_with(2).module));
}

}  // namespace
}  // namespace ferry::gate
