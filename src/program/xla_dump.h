// The XLA dump of a compile that ran out of HBM (XLA_FLAGS=--xla_dump_to=DIR), read as if the compiler had printed its
// list of allocations: compilers since libtpu 0.0.42 print one line and no list. Where it is asked for, also the dump
// of a compile that fitted.
//
// Of a module, files are named module_0000.jit_step.cl_1003875606.after_optimizations-buffer-assignment.txt and so on;
// *oom_intermediate_module.txt is written only when the compile runs out of memory.
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
  // where it was read: dump.
  Evidence facts;
  std::int64_t host_bytes = 0;       // what it takes of the host's memory
  std::vector<Allocation> rows;      // what is live at the peak, largest first
  Prospects prospects;               // what the whole program tells; nothing where its HLO is not there or too damaged
  std::vector<std::string> sources;  // files of source code that the program's operations name, each once
};

class XlaDump {
 public:
  // Whether a file of this name belongs to a dump, whether it is read or not; none of these is a log.
  static bool IsDumpFile(const std::string& path);

  // Takes note of a file, and says whether it is one of a dump, and so no log; a pipe or device of such a name is none.
  // `is_input`: it is to be reported by itself, and not only to say more about a failure of a log.
  bool AddFile(const std::string& path, bool is_input = false);

  // From now on all files of which note was taken are inputs.
  void TakeAsInputs();

  bool empty() const { return modules_.empty(); }
  bool has_inputs() const { return has_inputs_; }

  // From now on the reading of a module ends where `control`, which is borrowed, says so, or after limits.seconds; what
  // would be given of it is then not there, and the problem says why.
  void StopAt(const ReadControl* control, const Limits& limits);
  // Whether `control` says so.
  bool stopped() const { return control_ != nullptr && control_->stopped(); }

  // A module that is to be reported by itself.
  struct Given {
    std::string key;           // for ReadGiven
    std::string folder;        // that its files are in
    std::string name;          // "jit_step"
    std::uint64_t number = 0;  // of the module: those of later compiles are larger
    bool failed = false;       // as far as the names of its files tell; ReadGiven tells more
    std::string path;          // of the file that shows what it came to: it failed, or what it takes
    std::string assignment;    // the buffer assignment; empty where it is not there, and then nothing can be read
    std::string target;        // of the file that names the chip; empty where there is none
    std::string environment;   // of the file with the compiler's settings; likewise
    std::uint64_t bytes = 0;   // of its files that are read
  };
  std::vector<Given> GivenModules() const;

  // What a module's arguments, outputs, constants and temporaries take in HBM together; 0 where it cannot be read, and
  // `problem` says why.
  std::int64_t NeedOf(const Given& module, Problem* problem) const;

  // A module's reading against a limit of so many bytes (0: not known); `role_words` are what names of arguments say of
  // their roles. nullopt where its files cannot be read. Of one
  // that did not fail there are no changes among the prospects; whether it did is told anew, since the file that a
  // failure leaves may be of an earlier run. `problem` says why nothing is read, or what of the files cannot be relied
  // on, and what cannot be told then, where the rest can be read.
  std::optional<DumpReading> ReadGiven(const Given& module, const RoleWords& role_words, double limit_bytes,
                                       Problem* problem) const;

  // What is to be said of a module without buffer assignment.
  static constexpr const char* kNoAssignment =
      "no buffer assignment is beside it (after_optimizations-buffer-assignment.txt): what the program takes cannot be "
      "told";

  // As ReadGiven, of the failed compile that an error tells of: `module` is the name that the error gives, empty: the
  // only one that ran out of memory. Of several compiles of the module the one that takes `used_bytes`, where that is
  // known, else the last. nullopt also where there is no such module, or what is there is of another compile.
  std::optional<DumpReading> Read(const std::string& module, const RoleWords& role_words,
                                  std::optional<double> used_bytes, double limit_bytes, Problem* problem) const;

  // Of a compile that failed or, where none did, that fitted, without prospects and sources. Of several modules of the
  // name the one that takes most; a name that the dump does not know, or none: of all modules. Facts are also
  // need_bytes (what all allocations in HBM take: the "Used" of the error to within its rounding) and host_bytes.
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
  // The file's, and why it is 0, if it is.
  struct Need {
    std::int64_t bytes = 0;
    std::string problem;
  };
  const Need& NeedOfFile(const std::string& buffer_assignment) const;
  const Module* OnlyOneOf(const std::vector<const Module*>& failed, std::optional<double> used) const;
  const Module* Find(const std::string& name, std::optional<double> used) const;
  Problem NotFound(const std::string& name) const;
  const Module* FindAny(const std::string& name) const;
  // Without `role_words` nothing is worked out on the program.
  std::optional<DumpReading> ReadModule(const Module& module, const RoleWords* role_words, double limit_bytes,
                                        Problem* problem) const;

  bool has_inputs_ = false;
  const ReadControl* control_ = nullptr;
  Limits limits_;
  mutable std::map<std::string, Need> needs_;  // of buffer assignments that were read for it
  std::map<std::string, Module> modules_;      // by path up to the part that tells a module's files apart
};

}  // namespace whyoom
