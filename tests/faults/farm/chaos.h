// A farm whose trackers, boards, clients, links and database fail at random while leases go on.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/farm/fault_farm.h"
#include "tests/support/slow_link.h"

namespace ferry::test {

struct ChaosOptions {
  Database database = Database::sqlite;
  std::size_t trackers = 1;
  // Of each process a host of its own, and links that lose everything. Otherwise all are on loopback, and connections
  // of one board are cut.
  bool has_network = false;
};

class Chaos {
 public:
  static constexpr std::size_t kBoards = 3, kClients = 6;
  static constexpr double kLeaseSeconds = 3;

  // The seed repeats a schedule, as far as its faults go.
  Chaos(unsigned seed, ChaosOptions options);

  // Does harm for so many seconds, and repairs everything at the end. PostgreSQL is gone for `database_gone` of them,
  // from the third second on, if it is the database.
  void run(double seconds, double database_gone);
  // Waits until each client has got a lease that it had not asked for before. Throws if one has not after a minute.
  void wait_until_all_are_served() const;
  // Ends the clients, each after its lease; returns what all of them have seen.
  std::vector<LeaseReport> finish();

  const RealFarm& farm() const { return farm_; }
  // How often each kind of harm was done.
  const std::map<std::string, int>& harm() const { return harm_; }

 private:
  struct Repair {
    Clock::time_point at;
    std::function<void()> work;
  };
  using Member = void (Chaos::*)(std::size_t);
  // Drawn with this weight, and then one of what it harms.
  struct Kind {
    int weight;
    Member harm;
    std::size_t first, count;
  };

  static RealFarmOptions options_of(const ChaosOptions& options);
  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  // Claims what is to be harmed until it is repaired; false if it is harmed already.
  bool claim(const std::string& what, const char* kind);
  void repair_later(double seconds, const std::string& what, std::function<void()> work);
  void repair_what_is_due(bool is_all);
  void do_harm();
  // Short or as long as to be given up.
  double partition_seconds();

  void start_tracker(std::size_t tracker);
  void kill_tracker(std::size_t tracker);
  void stop_tracker(std::size_t tracker);
  void start_board(std::size_t board);
  void kill_board(std::size_t board);
  void stop_board(std::size_t board);
  void start_client(std::size_t client);
  void kill_client(std::size_t client);
  void stop_client(std::size_t client);
  void cut_link(std::size_t);
  void isolate_host(std::size_t host);
  void lose_path(std::size_t from);
  void stop_database(double seconds);
  void stop_database_briefly(std::size_t);

  const ChaosOptions options_;
  std::mt19937 random_;
  RealFarm farm_;
  std::unique_ptr<SlowLink> link_;
  std::vector<std::unique_ptr<FaultClient>> clients_;
  std::vector<std::vector<LeaseReport>> ended_;
  std::vector<Kind> kinds_;
  std::deque<Repair> repairs_;
  std::set<std::string> harmed_;
  std::map<std::string, int> harm_;
  int started_ = 0;
};

}  // namespace ferry::test
