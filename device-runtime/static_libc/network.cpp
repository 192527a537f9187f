// Keeps 26 KB of glibc's name resolution out of the static rpc_server, which takes only numeric addresses.
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern "C" {

// res_libc.o: pthread_create points this at the new thread's own state of the resolver.
extern __thread void* __libc_resp;
__thread void* __libc_resp = nullptr;

// if_index.o: the number of the interface in an address such as fe80::1%eth0. glibc's file also lists all interfaces.
unsigned if_nametoindex(const char* name) noexcept {
  ifreq request{};
  if (std::strlen(name) >= sizeof request.ifr_name) {
    errno = ENODEV;
    return 0;
  }
  std::strcpy(request.ifr_name, name);
  const int any = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return 0;
  const bool is_found = ioctl(any, SIOCGIFINDEX, &request) == 0;
  const int error = errno;
  close(any);
  errno = error;
  return is_found ? static_cast<unsigned>(request.ifr_ifindex) : 0;
}

}  // extern "C"
