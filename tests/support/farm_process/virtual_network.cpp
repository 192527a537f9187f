#include "tests/support/farm_process/virtual_network.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/support/farm_process/process.h"

namespace ferry::test {
namespace {

// Addresses end in the host's number + 1.
constexpr std::size_t kMaxHosts = 200;

Descriptor own_namespace() { return Descriptor(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

// The calling thread must not move, so another one does.
Descriptor make_namespace() {
  Descriptor made;
  int error = 0;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) == 0) made = own_namespace();
    error = errno;
  }).join();
  if (made.number() < 0) throw std::runtime_error(std::string("no network namespaces: ") + std::strerror(error));
  return made;
}

// Nobody has it, so what is sent there is lost.
constexpr const char* kNobody = "02:00:00:00:00:01";

}  // namespace

VirtualNetwork::VirtualNetwork(std::size_t hosts) {
  if (hosts < 1 || hosts > kMaxHosts)
    throw std::runtime_error("expected 1 to " + std::to_string(kMaxHosts) + " hosts, got " + std::to_string(hosts));
  while (namespaces_.size() < hosts) namespaces_.push_back(make_namespace());
  const std::string bits = "/24";
  std::vector<std::string> commands = {"link set lo up", "link add switch type bridge forward_delay 0",
                                       "addr add " + address(0) + bits + " dev switch", "link set switch up"};
  for (std::size_t i = 1; i < hosts; ++i) {
    const std::string port = "port" + std::to_string(i);
    commands.push_back("link add " + port + " type veth peer name eth0 netns /proc/" + std::to_string(getpid()) +
                       "/fd/" + std::to_string(namespace_of(i)));
    commands.push_back("link set " + port + " master switch up");
  }
  run(0, commands);
  for (std::size_t i = 1; i < hosts; ++i)
    run(i, {"link set lo up", "addr add " + address(i) + bits + " dev eth0", "link set eth0 up"});
}

std::string VirtualNetwork::missing() {
  try {
    const VirtualNetwork tried(2);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string VirtualNetwork::address(std::size_t host) { return "10.77.0." + std::to_string(host + 1); }

void VirtualNetwork::set_link(std::size_t host, bool is_up) const {
  run(0, {"link set port" + std::to_string(host) + (is_up ? " up" : " down")});
}

void VirtualNetwork::set_path(std::size_t from, std::size_t to, bool is_open) const {
  run(from, {is_open ? "neigh del " + address(to) + " dev eth0"
                     : "neigh replace " + address(to) + " lladdr " + kNobody + " dev eth0 nud permanent"});
}

void VirtualNetwork::run(std::size_t host, const std::vector<std::string>& commands) const {
  const std::string batch = folder_.file("commands");
  std::ofstream file(batch);
  for (const std::string& command : commands) file << command << '\n';
  file.close();
  Process ip({"ip", "-batch", batch}, folder_.file("log"), {}, namespace_of(host));
  if (ip.wait() != 0) throw std::runtime_error("expected ip to set up a network, got: " + ip.output());
}

HostVisit::HostVisit(int network_namespace) : home_(own_namespace()) {
  if (setns(network_namespace, CLONE_NEWNET) != 0)
    throw std::runtime_error(std::string("cannot go to a host of a network: ") + std::strerror(errno));
}

HostVisit::~HostVisit() { static_cast<void>(setns(home_.number(), CLONE_NEWNET)); }

}  // namespace ferry::test
