#include "tests/unit/device-runtime/support/cheating_kernels.h"

namespace ferry::test {

const std::vector<Cheat>& stopped_cheats() {
  static const std::vector<Cheat> cheats{{"get_pid", "a system call"},
                                         {"start_process", "another process that goes on"},
                                         {"start_thread", "another thread that goes on"},
                                         {"set_timer", "a timer whose signal does the work later"},
                                         {"take_signals", "a handler that does the work later"},
                                         {"open_file", "results kept in a file"},
                                         {"map_memory", "memory of its own"},
                                         {"change_code", "other code in place of the clock's"},
                                         {"own_filter", "false answers to system calls"},
                                         {"change_priority", "another share of the processors"},
                                         {"write_to_judge", "messages in the runner's name"},
                                         {"open_counter", "counters of its own"},
                                         {"signal_itself", "a signal to itself"},
                                         {"make_memory_file", "memory for another process"},
                                         {"read_process", "the memory of another process"},
                                         {"queue_work", "work that the system does"},
                                         {"rename_itself", "another name"},
                                         {"unmap_output", "an output that nobody can look at"},
                                         {"make_pipe", "a pipe that holds results"},
                                         {"give_way", "time that others take"},
                                         {"write_before", "a write in front of its output"},
                                         {"sleep_on", "sleep that costs no processor time"},
                                         {"write_input", "changed inputs"},
                                         {"scan_memory", "a search behind its tensors"},
                                         {"write_to_clock", "other code in the system's shared object"},
                                         {"unprotect_clock", "the right to write to the system's shared object"},
                                         {"reset_counters", "other counts in the judge's counters"},
                                         {"stop_counters", "counters that stand still"},
                                         {"close_descriptors", "no tie to the judge"}};
  return cheats;
}

const std::vector<Cheat>& seen_cheats() {
  static const std::vector<Cheat> cheats{{"once", "work in the first call alone"},
                                         {"sometimes", "work in every eighth call"},
                                         {"same_pointer", "results kept for the same tensors"},
                                         {"same_contents", "results kept for the same contents"}};
  return cheats;
}

const std::vector<Cheat>& early_cheats() {
  static const std::vector<Cheat> cheats{{"end_early", "by a system call"},   {"tell_early_3", "on descriptor 3"},
                                         {"tell_early_4", "on descriptor 4"}, {"tell_early_5", "on descriptor 5"},
                                         {"tell_early_6", "on descriptor 6"}, {"tell_early_7", "on descriptor 7"},
                                         {"tell_early_8", "on descriptor 8"}};
  return cheats;
}

const std::vector<Cheat>& lying_cheats() {
  static const std::vector<Cheat> cheats{{"run_on_3", "on descriptor 3"}, {"run_on_4", "on descriptor 4"},
                                         {"run_on_5", "on descriptor 5"}, {"run_on_6", "on descriptor 6"},
                                         {"run_on_7", "on descriptor 7"}, {"run_on_8", "on descriptor 8"}};
  return cheats;
}

const std::vector<Cheat>& copying_cheats() {
  static const std::vector<Cheat> cheats{{"copy_first", "the result of the first call"},
                                         {"copy_often", "a result for the next three calls"},
                                         {"copy_later", "results of the first calls, once they have been checked"},
                                         {"copy_if_alike", "a result for inputs of which a few elements are alike"},
                                         {"copy_by_address", "a result for tensors that were seen before"},
                                         {"wrong_later", "wrong results in some later calls"},
                                         {"half", "half of the result, and the rest of the first one"},
                                         {"only_poison", "results where the output is not what it left there"}};
  return cheats;
}

const std::vector<Cheat>& inexact_cheats() {
  static const std::vector<Cheat> cheats{
      {"right_at_first", "results of usual numbers alone, after its first calls"},
      {"right_at_times", "approximations after half of all inputs"},
      {"right_if_recognised", "results of integers, which look like a check, and approximations of other numbers"}};
  return cheats;
}

const std::vector<Cheat>& size_cheats() {
  static const std::vector<Cheat> cheats{
      {"right_for_one_size", "approximations for all sizes but the one that is timed"},
      {"right_for_other_sizes_once", "the same after its first call of another size"}};
  return cheats;
}

const std::vector<Cheat>& timed_cheats() {
  static const std::vector<Cheat> cheats{
      {"false_times", "changed times on the stack"},
      {"compute_changes", "a copy if no input has changed", true},
      {"compute_changed_elements", "copies of elements that have not changed", true},
      {"compute_changes_by_address", "copies of what has not changed in a tensor", true},
      {"look_up_values", "a table of the results of all values seen before", true},
      {"sleep_in_futex", "a sleep after which processor time counts"},
      {"patch_functions", "other functions for the clock and for system calls"},
      {"leave_float_mode", "subnormal numbers flushed, and other rounding"}};
  return cheats;
}

const std::vector<Cheat>& breaking_cheats() {
  static const std::vector<Cheat> cheats{{"patch_loop", "virtual functions that call no kernel"},
                                         {"lose_registers", "zeros in the registers of the loop around it"},
                                         {"copy_backwards", "the direction of the next copy"}};
  return cheats;
}

const std::vector<Cheat>& looking_cheats() {
  static const std::vector<Cheat> cheats{{"search_memory", "seeds, results and tensors of others in its memory"},
                                         {"tell_float_mode", "how the call before rounded"},
                                         {"tell_and_leave_float_mode", "the same, for the next call"}};
  return cheats;
}

std::vector<const std::vector<Cheat>*> all_cheats() {
  return {&stopped_cheats(), &seen_cheats(), &early_cheats(), &lying_cheats(),    &copying_cheats(),
          &inexact_cheats(), &size_cheats(), &timed_cheats(), &breaking_cheats(), &looking_cheats()};
}

}  // namespace ferry::test
