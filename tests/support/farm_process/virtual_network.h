// Hosts on one switch, each of them a network namespace of its own. Neither the namespaces nor the links between them
// have names that other processes see: they vanish with this process and those on its hosts, however these end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

class VirtualNetwork {
 public:
  // Host 0 is the switch itself: its link is always up. Throws what is wrong if there is no such network.
  explicit VirtualNetwork(std::size_t hosts);
  VirtualNetwork(const VirtualNetwork&) = delete;
  VirtualNetwork& operator=(const VirtualNetwork&) = delete;

  // Why this process cannot make one; "" if it can.
  static std::string missing();

  std::size_t hosts() const { return namespaces_.size(); }
  // All hosts are in kSubnet.
  static constexpr const char* kSubnet = "10.77.0.0/24";
  static std::string address(std::size_t host);
  // For Process.
  int namespace_of(std::size_t host) const { return namespaces_.at(host).number(); }

  // Whatever a host without its link sends is lost, as is what others send to it; nobody is told.
  void set_link(std::size_t host, bool is_up) const;
  // Loses what one host sends to another one, but not the answers. Not for host 0.
  void set_path(std::size_t from, std::size_t to, bool is_open) const;

 private:
  void run(std::size_t host, const std::vector<std::string>& commands) const;

  TemporaryFolder folder_;
  std::vector<Descriptor> namespaces_;
};

// While it lives, the sockets and processes that the calling thread makes are those of a host.
class HostVisit {
 public:
  explicit HostVisit(int network_namespace);
  ~HostVisit();
  HostVisit(const HostVisit&) = delete;
  HostVisit& operator=(const HostVisit&) = delete;

 private:
  Descriptor home_;
};

}  // namespace ferry::test
