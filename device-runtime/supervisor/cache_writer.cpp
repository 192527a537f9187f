#include "device-runtime/supervisor/cache_writer.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/hash_stream.h"
#include "device-runtime/supervisor/background.h"
#include "device-runtime/supervisor/child_process.h"

namespace ferry::device {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

// Returns the error of errno, 0 for none, and EBADMSG if the contents have another hash. Nothing is sent to a session
// that has ended.
int write_file(const CacheFolder& cache, NewCacheFile& file, const BrokerRequest& request, int stream, Hash& actual,
               Descriptor& reader) {
  cache.make_room(request.bytes);
  if (!file.reserve(request.bytes).is_ok()) return errno;
  HashStream contents;
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(request.bytes, kPieceBytes)));
  for (std::uint64_t left = request.bytes; left != 0;) {
    const std::span piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceBytes)));
    const ssize_t got = read(stream, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return EPIPE;
    const std::span received = piece.first(static_cast<std::size_t>(got));
    if (!file.add(received).is_ok()) return errno;
    contents.add(received);
    left -= received.size();
  }
  actual = contents.finish();
  if (actual != request.hash) return EBADMSG;
  Result<Descriptor> published = file.publish(request.hash, 0400);
  if (!published.is_ok()) return errno;
  reader = std::move(published.value());
  return 0;
}

}  // namespace

pid_t start_cache_writer(const CacheFolder& cache, NewCacheFile& file, const BrokerRequest& request, bool with_reader,
                         int stream) {
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  close_descriptors_but({stream, file.number()});
  begin_background();
  reset_signals();
  BrokerReply reply;
  Descriptor reader;
  reply.error = write_file(cache, file, request, stream, reply.actual, reader);
  if (reply.error != 0) file.remove();
  const int number = reader.number();
  const bool sends_reader = with_reader && number >= 0;
  (void)send_message(stream, bytes_of(reply), sends_reader ? std::span(&number, 1) : std::span<const int>());
  _exit(0);
}

}  // namespace ferry::device
