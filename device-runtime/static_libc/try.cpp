// Tests whether the files of this folder fit the C library: a program that, like rpc_server, prints, starts threads
// and processes, and reads the time.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

namespace {

void* nothing(void* argument) { return argument; }

}  // namespace

int main(int count, char** words) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, nothing, words) == 0) pthread_join(thread, nullptr);
  if (fork() < 0) throw std::runtime_error("none");
  std::FILE* file = fdopen(STDOUT_FILENO, "a");
  std::fprintf(file, "%d %f %s %ld\n", count, std::strtod(words[0], nullptr), std::getenv("HOME"), time(nullptr));
  return std::fflush(file);
}
