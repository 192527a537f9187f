#include "farm/serve/probe_service.h"

#include <asio/post.hpp>
#include <utility>

namespace ferry::farm {
namespace {

ProbedBoard probed_board(BoardId board, const std::string& address, Result<BoardReport> report) {
  ProbedBoard probed;
  probed.board = board;
  probed.address = address;
  probed.failure = report.status();
  if (!report.is_ok()) return probed;
  probed.boot_id = report.value().boot_id;
  probed.locks = std::move(report.value().locks);
  probed.description = std::move(report.value().description);
  probed.heartbeat = report.value().heartbeat;
  return probed;
}

}  // namespace

ProbeService::ProbeService(server::EventLoop& loop, const ProbeOptions& options)
    : shared_(std::make_shared<Shared>()),
      runner_(options,
              [&loop, shared = shared_](BoardId board, const std::string& address, Result<BoardReport> report) {
                asio::post(loop.context(), [shared, probed = probed_board(board, address, std::move(report))] {
                  if (shared->is_alive && shared->receiver) shared->receiver(probed);
                });
              }) {}

}  // namespace ferry::farm
