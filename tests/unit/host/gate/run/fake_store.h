// A store in memory that keeps what a run adds to it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/gate/store/store.h"

namespace ferry::test {

class FakeStore final : public gate::Store {
 public:
  std::map<Hash, std::vector<std::uint8_t>> objects;
  gate::Baseline modules;
  std::vector<std::string> names;  // names of baselines
  std::vector<gate::HistoryEntry> entries;
  bool is_read_only = false;

  bool has(const Hash& object) override { return objects.contains(object); }
  Hash put(std::span<const std::uint8_t> bytes) override {
    const Hash hash = blake2b(bytes);
    objects[hash] = {bytes.begin(), bytes.end()};
    return hash;
  }
  void put_blob(const Hash&, std::uint64_t, const BlobSource&) override {}
  std::optional<std::vector<std::uint8_t>> get(const Hash& object) override {
    const auto found = objects.find(object);
    if (found == objects.end()) return std::nullopt;
    if (blake2b(found->second) != object) throw UsageError("object " + to_hex(object) + " is damaged");
    return found->second;
  }
  std::shared_ptr<const BlobSource> blobs(std::span<const Hash>) override { return nullptr; }
  std::string holder_of(const gate::StoredModule& module) override { return module.holder; }

  gate::Baseline baseline(const std::string&, const std::string&) override { return modules; }
  std::vector<std::string> baseline_names(const std::string&) override { return names; }
  void update(const std::string&, const std::string&, const gate::Baseline& changes) override {
    for (const auto& [key, module] : changes) modules[key] = module;
  }
  std::optional<std::size_t> forget(const std::string&, const std::string&) override { return std::nullopt; }
  std::size_t forget_cases(const std::string&, const std::string&, const std::set<std::string>& cases) override {
    return std::erase_if(modules, [&](const auto& entry) { return cases.contains(entry.first.name); });
  }
  void add_history(const std::string&, std::span<const gate::HistoryEntry> added) override {
    entries.insert(entries.end(), added.begin(), added.end());
  }
  std::vector<gate::HistoryEntry> history(const std::string&, const std::string& name) override {
    std::vector<gate::HistoryEntry> found;
    for (const gate::HistoryEntry& entry : entries) {
      if (name.empty() || entry.name == name) found.push_back(entry);
    }
    return found;
  }
  std::string collect() override {
    if (is_read_only) throw gate::StoreFailed("this key only reads");
    return {};
  }
};

}  // namespace ferry::test
