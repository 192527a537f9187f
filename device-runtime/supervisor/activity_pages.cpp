#include "device-runtime/supervisor/activity_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/format.h"

namespace ferry::device {
namespace {

// Larger than the stride of typical loops, and the largest page size that exists.
constexpr std::size_t kGuardBytes = 64 << 10;

// Maps new memory in place of the existing mapping.
bool replace(char* place, std::size_t bytes, int protection, int kind) {
  return mmap(place, bytes, protection, kind | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace

ActivityPages::ActivityPages(std::size_t count) : taken_(count) {
  const auto unit = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  guard_ = std::max(kGuardBytes, unit);
  body_ = (sizeof(Activity) + unit - 1) / unit * unit;
  bytes_ = guard_ + count * (body_ + guard_);
  void* const base = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  base_ = base == MAP_FAILED ? nullptr : static_cast<char*>(base);
}

ActivityPages::~ActivityPages() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Result<ActivityPage> ActivityPages::take() {
  std::size_t place = 0;
  while (place < taken_.size() && taken_[place] != 0) ++place;
  if (base_ == nullptr || place == taken_.size()) {
    return Status(ErrorCode::resource_exhausted, "no memory for a session");
  }
  if (!replace(page(place), body_, PROT_READ | PROT_WRITE, MAP_SHARED)) {
    return Status(ErrorCode::resource_exhausted, format("no memory for a session: %s", std::strerror(errno)));
  }
  new (page(place)) Activity;
  taken_[place] = 1;
  return ActivityPage(*this, place);
}

ActivityPage::ActivityPage(ActivityPage&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), place_(other.place_) {}

ActivityPage::~ActivityPage() {
  if (pages_ == nullptr) return;
  // If the page cannot be unmapped, its place is never reused.
  if (replace(pages_->page(place_), pages_->body_, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE)) {
    pages_->taken_[place_] = 0;
  }
}

Activity& ActivityPage::activity() const { return *std::launder(reinterpret_cast<Activity*>(pages_->page(place_))); }

bool ActivityPage::keep_alone() const {
  // The guard areas on both sides stay mapped.
  char* const begin = pages_->page(place_) - pages_->guard_;
  char* const end = pages_->page(place_) + pages_->body_ + pages_->guard_;
  const auto unmap = [](char* from, char* to) {
    return from == to || munmap(from, static_cast<std::size_t>(to - from)) == 0;
  };
  return unmap(pages_->base_, begin) && unmap(end, pages_->base_ + pages_->bytes_);
}

bool ActivityPage::forget() const { return munmap(pages_->base_, pages_->bytes_) == 0; }

}  // namespace ferry::device
