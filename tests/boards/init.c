/* The only program on the guests besides rpc_server. Loads the network modules and starts three servers:
   9090: as root in a bare root folder, without /proc, /tmp, /dev/null and /etc/passwd
   9091: as on a usual board with all of these; two sessions at a time, as another user
   9092: in the bare root folder as a user who can write nowhere
   Prints a message when one of them ends. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMON "/rpc_server", "--host", "0.0.0.0", "--call-deadline", "30", "--memory-limit", "96M"

static void load(const char* name) {
  char path[64];
  snprintf(path, sizeof path, "/modules/%s.ko", name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return; /* built into this kernel */
  if (syscall(SYS_finit_module, file, "", 0) != 0) printf("init: cannot load %s: %m\n", name);
  close(file);
}

static int up(const char* name, const char* address) {
  struct ifreq request = {0};
  struct sockaddr_in* to = (struct sockaddr_in*)&request.ifr_addr;
  int socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), done;
  strcpy(request.ifr_name, name);
  to->sin_family = AF_INET;
  to->sin_addr.s_addr = inet_addr(address);
  done = ioctl(socket_, SIOCSIFADDR, &request);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  done = done == 0 ? ioctl(socket_, SIOCSIFFLAGS, &request) : done;
  close(socket_);
  return done;
}

static pid_t start(int which) {
  char* const bare[] = {COMMON, "--port", "9090", "--key-file", "/key", NULL};
  char* const usual[] = {COMMON, "--port", "9091", "--key-file", "/key", "--user", "nobody", "--sessions", "2", NULL};
  char* const modest[] = {COMMON, "--port", "9092", "--key-file", "/key.user", NULL};
  char* const nothing[] = {NULL};
  pid_t child = fork();
  if (child != 0) return child;
  if (which == 1 && (unshare(CLONE_NEWNS) != 0 || chroot("/usual") != 0 || chdir("/") != 0 ||
                     mount("proc", "/proc", "proc", 0, "") != 0 || mount("dev", "/dev", "devtmpfs", 0, "") != 0 ||
                     mount("tmp", "/tmp", "tmpfs", 0, "size=300m") != 0)) {
    printf("init: cannot mount: %m\n");
  }
  if (which == 2 && (setgid(1000) != 0 || setuid(1000) != 0)) printf("init: cannot become a user: %m\n");
  execve("/rpc_server", which == 0 ? bare : which == 1 ? usual : modest, nothing);
  printf("init: cannot start rpc_server: %m\n");
  _exit(127);
}

int main(void) {
  static const char* const modules[] = {"virtio", "virtio_ring", "virtio_mmio", "failover", "net_failover", "virtio_net"};
  setvbuf(stdout, NULL, _IOLBF, 0);
  chmod("/", 0755); /* a tmpfs root is writable for everybody by default */
  for (unsigned i = 0; i < sizeof modules / sizeof *modules; ++i) load(modules[i]);
  if (up("lo", "127.0.0.1") != 0) printf("init: no loopback: %m\n");
  /* The device appears shortly after its driver is loaded. */
  for (int tries = 0; up("eth0", "10.0.2.15") != 0; ++tries) {
    if (tries == 100) printf("init: no network: %m\n");
    usleep(50000);
  }
  pid_t servers[3];
  for (int i = 0; i < 3; ++i) servers[i] = start(i);
  for (;;) {
    int status = 0;
    pid_t ended = wait(&status);
    for (int i = 0; i < 3; ++i) {
      if (ended == servers[i]) printf("init: the server at port %d ended with status 0x%x\n", 9090 + i, status);
    }
    if (ended < 0) sleep(1);
  }
}
