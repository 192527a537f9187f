// A device as Python holds it, and what belongs to it. Python's threads share these objects, and its garbage collector
// frees them on any thread, but a session may be used by only one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "base/cancellation.h"
#include "ferry/client.h"
#include "ferry/compile.h"
#include "ferry/kernel/kernel_options.h"
#include "ferry/kernel/open_session.h"
#include "host/client/direct_call.h"
#include "host/client/end_session.h"

namespace ferry::python {

// Whether a handler of signals in Python has raised an exception, such as KeyboardInterrupt after Ctrl-C. Needs no lock
// of Python.
bool is_interrupted();

// How many forks lie between this process and the one that loaded the package.
int forks();

// Runs `work()` without Python's lock. A signal whose handler in Python raises an exception ends its waits for a
// device, and what it compiles after a pass or a function, with that exception.
template <class Work>
auto without_python(const Work& work) {
  const auto raise = [] {
    if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
  };
  const auto released = [&] {
    const nanobind::gil_scoped_release release;
    static const IsCancelled asked = is_interrupted;
    const CancellationScope scope(&asked);
    return work();
  };
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      released();
      raise();
    } else {
      auto result = released();
      raise();  // a service opens another session if the first is lost before anything ran
      return result;
    }
  } catch (const Error&) {
    raise();
    throw;
  }
}

class Session {
 public:
  // `open` makes further sessions with the same device.
  Session(Device device, OpenSession open) : device_(std::move(device)), open_(std::move(open)) {}

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // In a process that was forked, the session is still its parent's, whose connection must not be closed.
  ~Session() {
    if (!is_of_parent()) return;
    (void)new std::vector(std::move(dropped_));
    (void)new Device(device_);
  }

  // Runs `work(device)`, while other threads of Python go on. Python's lock is given up before the session's is taken,
  // and taken again after it: nobody waits for one while holding the other.
  template <class Work>
  auto run(const Work& work) {
    if (is_of_parent())
      throw UsageError(
          "expected a device of this process, got one of the process that it was forked from: connect again");
    return without_python([&] {
      lock();
      const std::lock_guard locked(mutex_, std::adopt_lock);
      free_dropped();
      return work(std::as_const(device_));
    });
  }
  // Ends the session: whoever waits for the device gets an error, and the board of a farm is given back. From any
  // thread.
  void close() {
    if (is_of_parent()) return;
    session::interrupt(device_);
    without_python([&] {
      const std::lock_guard locked(mutex_);
      session::close(device_);
      open_ = [](const ConnectOptions&) -> Device {  // it may keep the lease of a board
        throw Error(ErrorCode::unavailable, "the session was closed");
      };
    });
  }
  // Keeps a handle that Python has dropped until the next request, before which its memory on the device is freed.
  void drop(std::shared_ptr<const void> handle) {
    if (is_of_parent()) {
      (void)new std::shared_ptr(std::move(handle));
      return;
    }
    const std::lock_guard lock(dropped_mutex_);
    dropped_.push_back(std::move(handle));
  }
  // To be called in run().
  const OpenSession& open() const { return open_; }

 private:
  // Waits for other threads' calls, until a handler of signals raises an exception.
  void lock() {
    if (mutex_.try_lock()) return;
    while (!mutex_.try_lock_for(std::chrono::milliseconds(50)))
      if (is_interrupted()) throw Error(ErrorCode::aborted, "interrupted");
  }
  bool is_of_parent() const { return forks_ != forks(); }
  void free_dropped() {
    std::vector<std::shared_ptr<const void>> dropped;
    const std::lock_guard lock(dropped_mutex_);
    dropped.swap(dropped_);
  }

  const int forks_ = forks();
  std::timed_mutex mutex_;  // guards what follows, and all that belongs to it
  const Device device_;
  OpenSession open_;
  std::mutex dropped_mutex_;
  std::vector<std::shared_ptr<const void>> dropped_;
};

// An object of a session. Copies share it.
template <class Handle>
class Held {
 public:
  Held(std::shared_ptr<Session> session, Handle handle)
      : session_(std::move(session)), handle_(std::make_shared<const Handle>(std::move(handle))) {}
  Held(const Held&) = default;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (handle_.use_count() == 1) session_->drop(std::move(handle_));
  }

  const std::shared_ptr<Session>& session() const { return session_; }
  const Handle& operator*() const { return *handle_; }
  const Handle* operator->() const { return handle_.get(); }

 private:
  const std::shared_ptr<Session> session_;
  std::shared_ptr<const Handle> handle_;
};

using PyTensor = Held<DeviceTensor>;

struct PyDevice {
  std::shared_ptr<Session> session;
};

// A module that a device has loaded, and, if ferry compiled it in this process, from which kernel.
struct PyModule {
  Held<Module> loaded;
  CompiledModule compiled;
  std::optional<KernelOptions> kernel;
  std::optional<Held<std::shared_ptr<session::DirectModule>>> direct = {};  // nothing: the device is in another process
};

struct DirectFunction;

struct PyFunction {
  PyModule module;
  std::string name;
  Held<Function> function;
  std::optional<Held<std::shared_ptr<DirectFunction>>> direct;  // nothing: calls take messages
};

}  // namespace ferry::python
