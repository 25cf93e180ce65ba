// The XLA dump of a compile that ran out of HBM (XLA_FLAGS=--xla_dump_to=DIR), read as if the compiler had printed its
// list of allocations: compilers since libtpu 0.0.42 print one line and no list. Also reads dumps of compiles that
// fitted.
//
// The files of a module are named module_0000.jit_step.cl_1003875606.after_optimizations-buffer-assignment.txt and so
// on; *oom_intermediate_module.txt is written only when the compile runs out of memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/prospects.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "rules/rule_set.h"

namespace whyoom {

// The files of a module; empty if there is none.
struct DumpPaths {
  std::string buffer_assignment;
  std::string live_range;
  std::string intermediate;  // written on failure only
  std::string optimized;
  std::string before;  // optimization
};

// The result of one compile, read from its dump.
struct DumpReading {
  bool failed = false;
  // arguments_bytes, output_bytes, shared_output_bytes, hlo_temp_bytes, program_need_bytes (all of it), module, and
  // the file that was read: dump.
  Evidence facts;
  std::int64_t host_bytes = 0;       // in the host's memory
  std::vector<Allocation> rows;      // what is live at the peak, largest first
  Prospects prospects;               // empty if the program's HLO is missing or too damaged
  std::vector<std::string> sources;  // files of source code that the program's operations name, each once
};

class XlaDump {
 public:
  // Whether a file of this name belongs to a dump, whether it is read or not. Such a file is not a log.
  static bool IsDumpFile(const std::string& path);

  // Adds a file, and returns whether it belongs to a dump. A pipe or device of such a name does not. `is_input`: the
  // module is reported by itself, and not only to explain a failure of a log.
  bool AddFile(const std::string& path, bool is_input = false);

  // Makes inputs of all files that were added.
  void TakeAsInputs();

  bool empty() const { return modules_.empty(); }
  bool has_inputs() const { return has_inputs_; }

  // From now on stops reading a module when `control`, which is borrowed, requests it, or after limits.seconds. Then
  // there is no reading, and the problem contains the reason.
  void StopAt(const ReadControl* control, const Limits& limits);
  bool stopped() const { return control_ != nullptr && control_->stopped(); }

  // A module that is reported by itself.
  struct Given {
    std::string key;           // for ReadGiven
    std::string folder;        // of its files
    std::string name;          // "jit_step"
    std::uint64_t number = 0;  // of the module: those of later compiles are larger
    bool failed = false;       // judging by the names of its files; ReadGiven checks it
    std::string path;          // of the file that shows the result: that it failed, or what it needs
    std::string assignment;    // the buffer assignment; if it is missing, empty, and nothing can be read
    std::string target;        // the file that names the chip; may be empty
    std::string environment;   // the file with the compiler's settings; may be empty
    std::uint64_t bytes = 0;   // of its files that are read
  };
  std::vector<Given> GivenModules() const;

  // What a module's arguments, outputs, constants and temporaries need in HBM together; 0 if the file cannot be read,
  // with the reason in `problem`.
  std::int64_t NeedOf(const Given& module, Problem* problem) const;

  // Reads a module, for a limit of so many bytes (0: not known). `role_words` are words in names of arguments that show
  // their roles. nullopt if its files cannot be read. The prospects of a module that did not fail contain no remedies;
  // the file that a failure leaves may be of an earlier run, so this is checked. `problem` contains why nothing is
  // read, or which files are not reliable, and what is then missing.
  std::optional<DumpReading> ReadGiven(const Given& module, const RoleWords& role_words, double limit_bytes,
                                       Problem* problem) const;

  // The problem of a module without buffer assignment.
  static constexpr const char* kNoAssignment =
      "no buffer assignment is beside it (after_optimizations-buffer-assignment.txt): what the program takes cannot be "
      "told";

  // As ReadGiven, for the failed compile that an error reports: `module` is the name in the error; empty: the only one
  // that ran out of memory. Of several compiles of the module the one that needs `used_bytes`, if that is known, else
  // the last. nullopt also if there is no such module, or only of another compile.
  std::optional<DumpReading> Read(const std::string& module, const RoleWords& role_words,
                                  std::optional<double> used_bytes, double limit_bytes, Problem* problem) const;

  // Reads a compile that failed or, if none did, that fitted, without prospects and sources. Of several modules of the
  // name the one that needs most; of all modules if the name is empty or unknown. Adds the facts need_bytes (of all
  // allocations in HBM: the "Used" of the error to within its rounding) and host_bytes.
  std::optional<DumpReading> ReadAny(const std::string& module, Problem* problem) const;

 private:
  struct Module {
    std::string name;  // "jit_step"
    std::uint64_t number = 0;
    DumpPaths paths;
    std::string target;
    std::string environment;
    bool is_input = false;
    bool Failed() const { return !paths.intermediate.empty(); }
  };
  // Of a file, and why it is 0, if it is.
  struct Need {
    std::int64_t bytes = 0;
    std::string problem;
  };
  const Need& NeedOfFile(const std::string& buffer_assignment) const;
  const Module* OnlyOneOf(const std::vector<const Module*>& failed, std::optional<double> used) const;
  const Module* Find(const std::string& name, std::optional<double> used) const;
  Problem NotFound(const std::string& name) const;
  const Module* FindAny(const std::string& name) const;
  // Without `role_words` does not simulate the program.
  std::optional<DumpReading> ReadModule(const Module& module, const RoleWords* role_words, double limit_bytes,
                                        Problem* problem) const;

  bool has_inputs_ = false;
  const ReadControl* control_ = nullptr;
  Limits limits_;
  mutable std::map<std::string, Need> needs_;  // of buffer assignments that were read for it
  std::map<std::string, Module> modules_;      // by path up to the part that differs between a module's files
};

}  // namespace whyoom
