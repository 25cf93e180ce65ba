// Compiles the module of an XLA dump again, with changes and without a TPU. Each compile is a child process
// (compile_child.h) that runs python/whyoom/recompile.py with the user's Python, JAX and libtpu.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/limits.h"

namespace whyoom {

// An argument or a result of a module's main function.
struct ModuleValue {
  std::string name;  // the user's path: "state.params['embed']"; of results "result[0]['embed']"; empty: unknown
  std::string dtype;
  std::vector<std::int64_t> dims;  // over all devices
  bool donated = false;
  std::vector<std::vector<std::string>> splits;  // mesh axes of each dimension; empty: the module states none
  std::optional<std::size_t> result = {};        // of an argument: the result that updates it

  std::int64_t bytes() const;  // over all devices
};

struct ModuleDescription {
  std::string compiler;                      // "libtpu 0.0.52"
  std::map<std::string, std::int64_t> mesh;  // sizes of the axes
  std::vector<ModuleValue> arguments;
  std::vector<ModuleValue> results;
};

// A dimension of a value, and the mesh axis that splits it.
using Split = std::pair<std::size_t, std::string>;

// A change to a module or to the options of its compile.
struct ModuleChange {
  std::map<std::string, std::string> options;  // of the compiler: "xla_tpu_pre_fusion_remat" → "true"
  std::string fitting_level;                   // "O0" to "O3"; empty: unchanged
  std::vector<std::size_t> donated;            // indexes of arguments
  std::map<std::size_t, Split> split_arguments;
  std::map<std::size_t, Split> split_results;
  std::vector<std::size_t> host_arguments;  // stay in host memory; the program copies them to the device
  std::vector<std::size_t> host_results;

  void Add(const ModuleChange& other);
};

struct CompileResult {
  std::optional<std::int64_t> need_bytes;  // in HBM; nullopt: see problem
  std::string problem;                     // why the need is unknown, in one line
  double seconds = 0;                      // time of the compile, also if the result is from the cache
};

struct CompileLimits {
  std::chrono::seconds time{300};    // for one compile
  std::chrono::seconds total{1800};  // for all
  std::uint64_t memory = 0;  // bytes that a compile may use; 0: three quarters of the machine's, divided by jobs
  // Compile to the end, although the need is known as soon as buffers are assigned. A program that fits by a few MiB
  // can still fail in code generation.
  bool whole = false;
};

class CompileChild;

// Waits until the child has ended or `is_done` returns true. Returns why it has to be ended before; empty if it has
// not.
std::string Await(CompileChild* child, const CompileLimits& limits, const ReadControl& control,
                  const std::function<bool()>& is_done);

struct AssignedNeed {
  std::int64_t bytes = 0;  // in HBM
  bool failed = false;     // the compile of the module failed
  bool confirmed = false;  // by the total in the compiler's report: the buffer assignment is complete
};

// Returns the need of `module` (empty: of the one that failed or needs most) according to a dump that the compiler may
// still be writing; nullopt if it is not known yet.
std::optional<AssignedNeed> FindNeed(const std::string& folder, const std::string& module);

bool HasAssignedBuffers(const std::string& folder, const std::string& module);  // the need is confirmed

// Sets the need that FindNeed returns, or the problem. `error`: the compiler's message, if it failed.
void ReadNeed(const std::string& folder, const std::string& module, const std::string& error, CompileResult* result);

// The last line of a child's output, preferably one that names an error.
std::string LastLine(const std::string& file);

class Recompiler {
 public:
  // Whether the folder contains the files that a compile needs. Only regular files count: others could block the
  // reader.
  static bool CanCompile(const std::string& module);

  // `module`: the folder that contains module.mlir. `python`: an interpreter, looked up in PATH. `cache`: a folder for
  // results, which need not exist; empty: none. Borrows `control`, which stops the calls.
  Recompiler(std::string python, std::string module, std::string cache, CompileLimits limits,
             const ReadControl& control);

  // Throws Error if the interpreter, JAX, libtpu or the module is missing, or if these versions cannot compile it.
  ModuleDescription Describe();

  // Call after Describe, from any thread. Ends the compile as soon as the need is known.
  CompileResult Compile(const ModuleChange& change) const;

 private:
  std::string CacheFile(const std::string& request) const;
  CompileResult CompileOrReuse(const ModuleChange& change) const;
  CompileResult CompileAnew(const std::string& request) const;

  const std::string python_;
  const std::string module_;
  const std::string cache_;
  const CompileLimits limits_;
  const ReadControl& control_;
  std::string cache_key_;  // identifies the module, the script and the compiler
};

// The user's folder for results of compiles: $XDG_CACHE_HOME/whyoom/compiles, or in ~/.cache. Empty if there is none.
std::string CompileCacheFolder();

}  // namespace whyoom
