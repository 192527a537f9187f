// The pages of leases and queue, of history and of the audit log.
#pragma once

#include <string>

#include "base/status.h"
#include "farm/web/pages/page.h"

namespace ferry::farm::http {

struct QueueView {
  std::uint64_t leases_after = 0, requests_after = 0;  // where this page starts
  wire::LeasePage leases;
  wire::QueuePage queue;
};
std::string write_queue_page(const Viewer& viewer, const QueueView& view);

// Empty filters: all.
std::string write_history_page(const Viewer& viewer, const std::string& board, const std::string& holder,
                               const wire::HistoryPage& history);
std::string write_audit_page(const Viewer& viewer, const std::string& board, const wire::AuditPage& audit);

void write_history_table(html::Html& html, const wire::HistoryPage& history);

}  // namespace ferry::farm::http
