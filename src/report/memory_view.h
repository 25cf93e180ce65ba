// What a report for people says of how a program fills the memory: the same words, figures and per cents in every
// format. Text is printable, and not yet escaped for any markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/prospects.h"

namespace whyoom {

// A kind of what fills the memory at its fullest.
struct MemoryShare {
  std::string kind;  // as the JSON has it: "optimizer_state"
  std::string name;  // "optimizer state"
  double bytes = 0;
  double part = 0;                   // of all that is needed
  std::vector<std::string> modules;  // the user's largest: "decoder/mlp 1.20 GiB"
};

// The largest first; what lies below half a per cent of the whole is left out.
std::vector<MemoryShare> SharesOf(const Prospects& prospects);

// "512.00 MiB, 12 %".
std::string AmountText(const MemoryShare& share);

// Sentences on what would fit: "largest batch that fits: 24 (now 64)". Empty where nothing is known.
std::vector<std::string> RoomTexts(const Room& room);

// The program's order: how much is taken in each part of it.
struct TimelineView {
  std::vector<double> bytes;  // in the order of the program; empty where it is not known
  double most = 0;
  double most_at = 0;  // where the fullest moment lies: 0 the begin, 1 the end
};
TimelineView TimelineViewOf(const Prospects& prospects);

// "fullest after 43 % of the program: 8.12 GiB"; empty where nothing is known.
std::string FullestText(const TimelineView& timeline);

// Of a program that is no failure.
struct ProgramView {
  std::string name;   // "jit_step"; "a program" where it is not known
  std::string place;  // "dump/module_0000….txt", "train.log:41"
  double need = 0;
  double limit = 0;  // 0: not known
  std::string chip;
  std::string verdict;                                // "It takes 9.81 GiB of 15.75 GiB (62 %), 5.94 GiB are left"
  std::vector<std::pair<std::string, double>> parts;  // "arguments", bytes; those that are known
  std::string note;                                   // what else is to be said of it; may be empty
};
ProgramView ViewOf(const CompiledProgram& program);

}  // namespace whyoom
