// Objects that the client refers to by handles of its own choice. A handle whose definition failed is remembered, so
// that requests already in flight for it are answered `aborted` and name the request that failed.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/format.h"
#include "device-runtime/handlers/request_context.h"

namespace ferry::device {

template <class T>
class HandleTable {
 public:
  HandleTable(const char* noun, std::size_t limit) : noun_(noun), limit_(limit) {}

  // Checks whether the client may define this handle now.
  Status check_new(rpc::Handle handle) const {
    if (handle == 0) return {ErrorCode::invalid_argument, "expected a handle other than 0"};
    const auto entry = entries_.find(handle);
    if (entry != entries_.end() && entry->second.thing != nullptr) {
      return {ErrorCode::invalid_argument, format("%s %llu exists already", noun_, number(handle))};
    }
    if (entries_.size() >= limit_) {
      return {ErrorCode::resource_exhausted, format("expected at most %zu %ss a session", limit_, noun_)};
    }
    return {};
  }

  void define(rpc::Handle handle, std::unique_ptr<T> thing) { entries_[handle] = {std::move(thing), 0}; }

  // Records that the request `cause` should have defined the handle.
  void fail(rpc::Handle handle, std::uint64_t cause) {
    if (handle == 0 || entries_.size() >= limit_) return;
    entries_.try_emplace(handle, Entry{nullptr, cause});
  }

  // Returns not_found or aborted if the object does not exist.
  Result<T*> find(RequestContext& context, rpc::Handle handle) {
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) {
      return Status(ErrorCode::not_found, format("there is no %s %llu", noun_, number(handle)));
    }
    if (entry->second.thing == nullptr) {
      return context.aborted(entry->second.cause, format("%s %llu was to be made by request %llu, which failed", noun_,
                                                         number(handle), number(entry->second.cause)));
    }
    return entry->second.thing.get();
  }

  // Returns the object, or null if it does not exist for any reason.
  T* find_quietly(rpc::Handle handle) {
    const auto entry = entries_.find(handle);
    return entry == entries_.end() ? nullptr : entry->second.thing.get();
  }

  // Removes the handle, failed or not; fails with not_found if it does not exist.
  Status remove(rpc::Handle handle) {
    if (entries_.erase(handle) != 0) return {};
    return {ErrorCode::not_found, format("there is no %s %llu", noun_, number(handle))};
  }

  template <class Unwanted>
  void remove_if(Unwanted is_unwanted) {
    std::erase_if(entries_,
                  [&](const auto& entry) { return entry.second.thing != nullptr && is_unwanted(*entry.second.thing); });
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [handle, entry] : entries_) {
      if (entry.thing != nullptr) visit(handle, *entry.thing);
    }
  }

 private:
  struct Entry {
    std::unique_ptr<T> thing;  // null: the definition failed
    std::uint64_t cause = 0;
  };

  static unsigned long long number(std::uint64_t value) { return value; }

  const char* noun_;
  std::size_t limit_;
  std::unordered_map<rpc::Handle, Entry> entries_;
};

}  // namespace ferry::device
