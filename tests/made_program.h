// Programs from hand-written modules, buffer assignments and live ranges.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "built_in_rules.h"
#include "program/program.h"
#include "program/remedies.h"

// Makes a program. `module` is the HLO text after the first line, and `head` is appended to that line. `assignment` and
// `ranges` are the texts of a dump's files, see program/memory.h.
inline whyoom::Program MakeProgram(const std::string& module, const std::string& assignment = "BufferAssignment:\n",
                                   const std::string& ranges = "", const std::string& head = "") {
  const std::unique_ptr<whyoom::ByteSource> times = whyoom::OpenMemory(ranges);
  return {whyoom::ReadHlo(*whyoom::OpenMemory("HloModule m, is_scheduled=true" + head + "\n\n" + module)),
          whyoom::HloModule(), whyoom::ReadMemory(*whyoom::OpenMemory(assignment), times.get())};
}

// The program after one of kRemedies.
inline std::optional<whyoom::ModifiedProgram> Apply(std::string_view remedy, const whyoom::Simulator& simulator) {
  for (const whyoom::ProgramRemedy& one : whyoom::kRemedies) {
    if (one.name == remedy) return one.apply(simulator);
  }
  return std::nullopt;
}

// A program with all objects needed to apply remedies to it.
struct MadeProgram {
  MadeProgram(const std::string& module, const std::string& assignment, const std::string& ranges,
              const std::string& head = "", std::int64_t limit_bytes = 0)
      : program(MakeProgram(module, assignment, ranges, head)),
        semantics(whyoom::FindSemantics(program, BuiltInRules().role_words)),
        simulator{program, semantics, limit_bytes} {}

  // The memory that the modified program needs; -1 if the remedy does not apply.
  std::int64_t Left(const std::optional<whyoom::ModifiedProgram>& modified) const {
    return modified ? simulator.EstimateOf(*modified).left_bytes : -1;
  }

  whyoom::Program program;
  whyoom::Semantics semantics;
  whyoom::Simulator simulator;
};
