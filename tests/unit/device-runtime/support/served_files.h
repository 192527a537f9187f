// A supervisor's file service without a supervisor, for sessions that run in the test's own process.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "device-runtime/broker/file_broker.h"
#include "device-runtime/supervisor/file_service.h"

namespace ferry::test {

class ServedFiles {
 public:
  // Empty folders keep nothing.
  ServedFiles(const std::string& modules, const std::string& blobs, std::uint64_t most = std::uint64_t{1} << 20)
      : caches_{CacheFolder(modules, "module", ".ferry", most), CacheFolder(blobs, "blob", ".blob", most), true,
                "here"} {
    auto service = std::make_unique<device::FileService>(loop_, caches_, cleaners_);
    broker_ = device::FileBroker(Descriptor(dup(service->session_end())), caches_.largest());
    service->close_session_end();
    // It serves until the broker's socket is closed.
    thread_ = std::thread([this, service = std::move(service)] { loop_.run(); });
  }
  ServedFiles(const ServedFiles&) = delete;
  ServedFiles& operator=(const ServedFiles&) = delete;
  ~ServedFiles() {
    broker_ = device::FileBroker();
    thread_.join();
  }

  device::FileBroker& broker() { return broker_; }

 private:
  server::EventLoop loop_;
  device::Cleaners cleaners_;
  device::Caches caches_;
  device::FileBroker broker_;
  std::thread thread_;
};

}  // namespace ferry::test
