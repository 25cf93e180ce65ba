// Texts and figures about a program's memory, the same for all formats for people. Text is printable, and not escaped
// for any markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "facts/compiled_program.h"

namespace whyoom {

// One kind of memory at the peak.
struct MemoryShare {
  std::string name;  // "optimizer state"
  double bytes = 0;
  double part = 0;                   // fraction of the whole need
  std::vector<std::string> modules;  // the largest of the user's modules: "decoder/mlp 1.20 GiB"
};

// Sorted by size, largest first; omits shares below half a percent.
std::vector<MemoryShare> SharesOf(const ProgramEstimates& estimates);

// Sizes that would fit: "batch 24 (now 64)". Empty if unknown.
std::vector<std::string> FitTexts(const Room& room);

// A program that compiled.
struct ProgramView {
  std::string name;   // "jit_step"; "a program" if unknown
  std::string place;  // "dump/module_0000….txt", "train.log:41"
  double need = 0;
  double limit = 0;  // 0: unknown
  std::string chip;
  std::string verdict;                                // "It needs 9.81 GiB of 15.75 GiB (62 %); 5.94 GiB is free"
  std::vector<std::pair<std::string, double>> parts;  // "arguments" and its bytes; only known parts
  std::string note;                                   // may be empty
};
ProgramView ViewOf(const CompiledProgram& program);

}  // namespace whyoom
