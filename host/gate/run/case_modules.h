// The modules of both sides of a case: the current one is compiled and stored, that of the baseline comes from the
// store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "host/gate/run/open_board.h"
#include "host/gate/run/run_context.h"
#include "host/gate/run/side_module.h"
#include "host/kernel/source_identity.h"

namespace ferry::gate {

class CaseModules {
 public:
  // All must outlive this object. `outcome` is told what becomes known of the modules: the case's target and inputs,
  // the board's environment, and where, how large and by whom the modules are.
  CaseModules(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, const Observer& observer,
              CaseOutcome& outcome)
      : context_(context), case_(suite_case), board_(board), observer_(observer), outcome_(outcome) {}
  CaseModules(const CaseModules&) = delete;
  CaseModules& operator=(const CaseModules&) = delete;

  // Finds out from what and for which target the case is compiled. What follows requires that.
  void resolve();
  const KernelSource& source() const { return *source_; }
  const std::vector<std::string>& devices() const { return devices_; }
  bool is_emulated() const { return is_emulated_; }

  // The case's module in the baseline, or that of its earlier name; null if there is none.
  const StoredModule* find_baseline();
  // Whether source and compiler are those of this module.
  bool has_identity_of(const StoredModule& stored) const { return stored.identity == identity_.hash; }
  // Takes the baseline's module, which has the same identity, as the current one. Returns false if the store does not
  // have all of it, undamaged.
  bool find_unchanged(const StoredModule& stored);
  // Compiles and stores the current side. What follows requires that.
  void compile();
  const MeasuredSide& current() const { return *current_; }

  // Reads the baseline's module. Returns why the store does not have it, or nothing if it was read, which what follows
  // requires.
  std::optional<std::string> load_baseline(const StoredModule& stored);
  // Whether both sides have the same machine code.
  bool is_same_code() const;
  // Notes whose module is about to run, and asks whether it may if that is on this machine.
  void expect_trust(const StoredModule& stored);
  // Plans the call of both sides. Once.
  PerSide<MeasuredSide> plan_sides(verify::ParameterPairs& pairs);

 private:
  // Reads the kernel, and its records.
  void read();
  std::optional<SourceIdentity> identify() const;
  void describe(Side side, const StoredModule& stored, const CompiledModule& module);

  const RunContext& context_;
  const SuiteCase& case_;
  OpenBoard& board_;
  const Observer& observer_;
  CaseOutcome& outcome_;
  CaseResult& result_ = outcome_.result;
  std::optional<KernelSource> source_;
  std::vector<std::string> devices_;
  Target target_;
  bool is_emulated_ = false;
  SourceIdentity identity_;  // with the module until it is stored
  std::optional<CompiledModule> baseline_module_;
  std::optional<MeasuredSide> current_;
};

}  // namespace ferry::gate
