// Work that computes for long in this process and that Ctrl-C ends: the caller goes on at once, and the thread that
// does it ends at the next step between which it asks (base/cancellation.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace ferry::python {

// Calls work(), on the main thread of a process in another thread. To be called without Python's lock. Throws what work
// throws, and Error with aborted after a signal whose handler in Python has raised an exception; work may go on then.
void run_interruptibly(const std::function<void()>& work);

// Waits for what goes on. To be called without Python's lock, before the process ends.
void finish_abandoned_work();

// Returns work()'s result. All that it uses has to be its own.
template <class Work>
auto interruptible(Work work) {
  const auto result = std::make_shared<std::optional<decltype(work())>>();
  run_interruptibly([work = std::move(work), result] { result->emplace(work()); });
  return std::move(**result);
}

}  // namespace ferry::python
