// Compiles the module of an XLA dump again, with changes and without a TPU: each compile is a child process that runs
// python/whyoom/recompile.py with the user's Python, JAX and libtpu.
//
// A dump may come from a stranger. The child has no network, no environment of ours beyond what Python needs, and a
// private temporary folder that is removed afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/limits.h"

namespace whyoom {

// Call first in main. If this process was started to run a compile, gives up its rights, becomes the compile, and does
// not return.
void BecomeCompileIfAsked(int argc, char** argv);

// An argument or a result of a module's main function.
struct ModuleValue {
  std::string name;  // the user's path: "state.params['embed']"; of results "result[0]['embed']"; empty: unknown
  std::string dtype;
  std::vector<std::int64_t> dims;  // on all devices together
  bool donated = false;
  std::vector<std::vector<std::string>> splits;  // mesh axes of each dimension; empty: none is given

  std::int64_t bytes() const;  // on all devices together
};

struct ModuleDescription {
  std::string jax;                           // its version
  std::string compiler;                      // as the compiler states its build
  std::map<std::string, std::int64_t> mesh;  // sizes of the axes
  std::vector<ModuleValue> arguments;
  std::vector<ModuleValue> results;
};

// Dimension of a value, and the mesh axis that splits it.
using Split = std::pair<std::size_t, std::string>;

struct ModuleChange {
  std::map<std::string, std::string> options;  // of the compiler: "xla_tpu_pre_fusion_remat" → "true"
  std::string fitting_level;                   // "O0" to "O3"; empty: as it was
  std::vector<std::size_t> donated;            // indexes of arguments
  std::map<std::size_t, Split> split_arguments;
  std::map<std::size_t, Split> split_results;

  void Add(const ModuleChange& other);
};

struct CompileResult {
  std::optional<std::int64_t> need_bytes;  // absent: see problem
  std::string problem;                     // why it is unknown, in one line
  double seconds = 0;
};

struct CompileLimits {
  std::chrono::seconds time{300};
  std::uint64_t memory = 0;  // bytes that the child may use; 0: any
  bool whole = false;        // compile to the end, also if buffers were assigned; then a failure is a problem
};

// The calls may run in several threads at once. All stop when `control`, which is borrowed, requests it.
class Recompiler {
 public:
  // `module` is the folder that contains module.mlir; `python` an interpreter, looked up in PATH.
  Recompiler(std::string python, std::string module, CompileLimits limits, const ReadControl& control)
      : python_(std::move(python)), module_(std::move(module)), limits_(limits), control_(control) {}

  // Throws Error if there is no such interpreter, JAX, libtpu or module, or if their versions cannot do it.
  ModuleDescription Describe() const;

  // Returns what the program needs in HBM: known as soon as the compiler has assigned buffers, when it is ended.
  CompileResult Compile(const ModuleChange& change) const;

 private:
  const std::string python_;
  const std::string module_;
  const CompileLimits limits_;
  const ReadControl& control_;
};

}  // namespace whyoom
