// Objects that the client refers to by handles of its own choice. A handle whose definition failed is remembered, so
// that requests already in flight for it are answered `aborted` and name the request that failed.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/format.h"
#include "device-runtime/session/state/request_context.h"

namespace ferry::device {

template <class T>
class HandleTable {
 public:
  HandleTable(const char* noun, std::size_t limit) : noun_(noun), limit_(limit) {}

  // Checks whether the client may define this handle now.
  Status check_new(rpc::Handle handle) const {
    if (handle == 0) return {ErrorCode::invalid_argument, "expected a handle other than 0"};
    const Entry* const entry = entry_of(handle);
    if (entry != nullptr && entry->thing != nullptr) {
      return {ErrorCode::invalid_argument, format("%s %llu exists already", noun_, number(handle))};
    }
    if (entries_.size() >= limit_) {
      return {ErrorCode::resource_exhausted, format("expected at most %zu %ss a session", limit_, noun_)};
    }
    return {};
  }

  void define(rpc::Handle handle, std::unique_ptr<T> thing) {
    if (const Entry* const failed = entry_of(handle)) {
      entries_[failed - entries_.data()].thing = std::move(thing);
    } else {
      entries_.insert(place_of(handle), {handle, 0, std::move(thing)});
    }
  }

  // Records that the request `cause` should have defined the handle.
  void fail(rpc::Handle handle, std::uint64_t cause) {
    if (handle == 0 || entries_.size() >= limit_ || entry_of(handle) != nullptr) return;
    entries_.insert(place_of(handle), {handle, cause, nullptr});
  }

  // Returns not_found or aborted if the object does not exist.
  Result<T*> find(RequestContext& context, rpc::Handle handle) {
    const Entry* const entry = entry_of(handle);
    if (entry == nullptr) {
      return Status(ErrorCode::not_found, format("there is no %s %llu", noun_, number(handle)));
    }
    if (entry->thing == nullptr) {
      return context.aborted(entry->cause, format("%s %llu was to be made by request %llu, which failed", noun_,
                                                  number(handle), number(entry->cause)));
    }
    return entry->thing.get();
  }

  // Returns the object, or null if it does not exist for any reason.
  T* find_quietly(rpc::Handle handle) {
    const Entry* const entry = entry_of(handle);
    return entry == nullptr ? nullptr : entry->thing.get();
  }

  // Removes the handle, failed or not; fails with not_found if it does not exist.
  Status remove(rpc::Handle handle) {
    if (entry_of(handle) == nullptr) {
      return {ErrorCode::not_found, format("there is no %s %llu", noun_, number(handle))};
    }
    entries_.erase(place_of(handle));
    return {};
  }

  template <class Unwanted>
  void remove_if(Unwanted is_unwanted) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.thing != nullptr && is_unwanted(*entry.thing); });
  }

  // In the order of the handles.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.thing != nullptr) visit(entry.handle, *entry.thing);
    }
  }

 private:
  struct Entry {
    rpc::Handle handle = 0;
    std::uint64_t cause = 0;
    std::unique_ptr<T> thing;  // null: the definition failed
  };

  // Where the entry of the handle is, or belongs.
  auto place_of(rpc::Handle handle) const {
    return std::lower_bound(entries_.begin(), entries_.end(), handle,
                            [](const Entry& entry, rpc::Handle other) { return entry.handle < other; });
  }
  // Null if there is none.
  const Entry* entry_of(rpc::Handle handle) const {
    const auto place = place_of(handle);
    return place == entries_.end() || place->handle != handle ? nullptr : &*place;
  }

  static unsigned long long number(std::uint64_t value) { return value; }

  const char* noun_;
  std::size_t limit_;
  // By handle. Clients number what they define, so that most are added at the end; a hash table would make the server
  // larger, and handles that collide would make it slow.
  std::vector<Entry> entries_;
};

}  // namespace ferry::device
