// Reads the XLA dump (XLA_FLAGS=--xla_dump_to=DIR) of a compile that ran out of HBM or fitted. The dump replaces the
// list of allocations, which compilers since libtpu 0.0.42 do not print.
//
// The files of a module are named module_0000.jit_step.cl_1003875606.after_optimizations-buffer-assignment.txt and so
// on; *oom_intermediate_module.txt is written only when the compile runs out of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/array.h"
#include "facts/compiled_program.h"
#include "facts/evidence.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "rules/rule_set.h"

namespace whyoom {

// The paths of a module's files; empty if a file is missing.
struct DumpPaths {
  std::string assignment;  // the buffer assignment; if it is missing, nothing can be read
  std::string live_range;
  std::string intermediate;  // written only on failure
  std::string optimized;
  std::string before;       // before optimization
  std::string target;       // names the chip
  std::string environment;  // the compiler's options
};

// The result of one compile, read from its dump.
struct DumpReading {
  bool failed = false;
  // arguments_bytes, output_bytes, shared_output_bytes, hlo_temp_bytes, program_need_bytes (the total), module, dump
  // (the path of the buffer assignment), listed (the number of rows) and list_seen.
  Evidence facts;
  std::int64_t host_bytes = 0;       // in the host's memory
  std::vector<Allocation> rows;      // the values live at the peak, largest first, then transfers to the host
  ProgramEstimates estimates;        // empty if the HLO is missing, damaged or too large
  std::vector<std::string> sources;  // source files that the program's operations name, without duplicates
};

class XlaDump {
 public:
  // Whether a file of this name belongs to a dump, including files that are not read. Such a file is not a log.
  static bool IsDumpFile(const std::string& path);

  // Registers a file if it belongs to an XLA dump. Returns false for other files, pipes and devices. `is_input`: report
  // the module itself, instead of using it only to explain a failure in a log.
  bool AddFile(const std::string& path, bool is_input = false);

  // Marks all registered files as inputs.
  void MarkAsInputs();

  bool empty() const { return modules_.empty(); }
  bool has_inputs() const {
    return std::ranges::any_of(modules_, [](const auto& module) { return module.second.is_input; });
  }

  // Stops reading a module if `control` (borrowed) requests it, or after limits.seconds. The read then returns no
  // result, or one without estimates, and its problem contains the reason.
  void StopAt(const ReadControl* control, const Limits& limits) {
    control_ = control;
    limits_ = limits;
  }
  bool stopped() const { return control_ != nullptr && control_->stopped(); }

  // Counts a module as failed if it needs more than this, though its compile succeeded: the user's device is smaller.
  void FailAbove(double limit_bytes) { fails_above_ = limit_bytes; }

  struct Module : DumpPaths {
    std::string folder;        // the folder with its files
    std::string name;          // "jit_step"
    std::uint64_t number = 0;  // later compiles have larger numbers
    bool is_input = false;
    bool failed = false;      // according to the file names; reading the module checks the contents
    std::string path;         // the file that shows the failure, or else the memory need
    std::uint64_t bytes = 0;  // total size of the files to read
  };
  // The modules that are inputs.
  std::vector<Module> InputModules() const;

  // The total HBM for a module's arguments, outputs, constants and temporaries. `problem` explains a need of 0.
  struct Need {
    std::int64_t bytes = 0;
    Problem problem;
  };
  const Need& NeedOf(const Module& module) const;

  // Reads a module. `limit_bytes` is the memory of the device, or 0 if unknown. `role_words` are words in argument
  // names that identify roles; if it is null, the program is not simulated. Returns nullopt if the files cannot be
  // read. Estimates remedies only if the module failed; this is checked, since the file that a failure leaves may be
  // from an earlier run. `problem` receives why nothing could be read, or which files are unusable and what is
  // therefore missing.
  std::optional<DumpReading> ReadModule(const Module& module, const RoleWords* role_words, double limit_bytes,
                                        Problem* problem) const;

  // The problem of a module without buffer assignment.
  static constexpr const char* kNoAssignment =
      "no buffer assignment (after_optimizations-buffer-assignment.txt) of this module in the folder: cannot determine "
      "how much memory the program needs";

  // As ReadModule, for the failed compile of `module` that an error message reports: the last one that needs
  // `used_bytes` (if unknown: the last one). If `module` is empty, it must be the only failed compile, or the only one
  // with this need. Also returns nullopt if no compile matches.
  std::optional<DumpReading> Read(const std::string& module, const RoleWords& role_words,
                                  std::optional<double> used_bytes, double limit_bytes, Problem* problem) const;

  // Reads a compile that failed or, if none failed, one that fitted, without estimates and sources. Among the modules
  // of this name (all modules if it is empty or not found), chooses the one that needs most. Adds the facts need_bytes
  // (all allocations in HBM: "Used" in the error message, except for rounding) and host_bytes.
  std::optional<DumpReading> ReadAny(const std::string& module, Problem* problem) const;

 private:
  std::vector<const Module*> Compiles(const std::string& name, bool failed) const;
  const Module* Find(const std::string& name, std::optional<double> used) const;
  bool IsTooMuch(std::int64_t need_bytes) const {
    return fails_above_ > 0 && static_cast<double>(need_bytes) > fails_above_;
  }

  double fails_above_ = 0;  // 0: never
  const ReadControl* control_ = nullptr;
  Limits limits_;
  mutable std::map<std::string, Need> needs_;  // by buffer assignment
  std::map<std::string, Module> modules_;      // by the common prefix of the module's file paths
};

}  // namespace whyoom
