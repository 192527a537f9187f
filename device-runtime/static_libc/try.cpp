// Tests whether the files of this folder fit the C library: a program that, like rpc_server, prints, opens files,
// starts threads and reads the time.
#include <pthread.h>

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
  std::FILE* file = std::fopen(words[0], "r");
  if (file == nullptr) throw std::runtime_error("none");
  std::printf("%d %f %s %ld\n", count, std::strtod(words[0], nullptr), std::getenv("HOME"), time(nullptr));
  return std::fclose(file);
}
