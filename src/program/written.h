// A program as its user wrote it: the module before optimization, each result with what it takes and the loops round
// it. Two of these can be held against each other (program/difference.h), since nothing that the compiler decided is in
// them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

// An array that an operation makes.
struct Result {
  int instruction = 0;
  std::vector<std::int64_t> dims;  // those longer than 1
  std::int64_t elements = 1;
  bool is_float = false;
  int bits = 0;            // of an element
  std::vector<int> loops;  // round it, numbers in Written::loops(), outermost first
};

// In order of size, the smallest first: transposes change nothing.
std::vector<std::int64_t> Sorted(std::vector<std::int64_t> dims);

struct WrittenLoop {
  int instruction = 0;
  std::int64_t steps = 0;   // 0: not known
  std::vector<int> within;  // other loops, outermost first
};

class Written {
 public:
  // `module` is best the one before optimization; of a later one less can be told.
  Written(HloModule module, const RoleWords& role_words);

  // False where the module is too large for it to be told what was written: little of it is here, or nothing.
  bool whole() const { return whole_; }

  const Program& program() const { return program_; }
  const Meaning& meaning() const { return meaning_; }
  const std::vector<Result>& results() const { return results_; }  // large ones
  const std::vector<WrittenLoop>& loops() const { return loops_; }
  std::string_view OpName(int instruction) const;

  // Numbers of the parameters that the user gives away.
  const std::set<int>& donated() const { return donated_; }
  // Those that lie in the host's memory.
  const std::set<int>& on_host() const { return on_host_; }
  // Of a parameter's dimensions, over all devices together.
  std::vector<std::int64_t> DimsOf(const ProgramParameter& parameter) const;

  int callbacks() const { return callbacks_; }  // debug prints and other calls of the host
  // Dimensions of the scores of attention, sorted; several where layers differ.
  const std::set<std::vector<std::int64_t>>& scores() const { return scores_; }

 private:
  std::int64_t StepsOf(int loop) const;  // an instruction; 0: not known
  void Walk(int computation, int depth, std::vector<int>* within, std::vector<char>* seen);
  void Take(int instruction, const std::vector<int>& within);
  void ReadHeader();
  void FindCallbacks();
  void FindScores();

  bool whole_ = true;  // before what is made of the module
  Program program_;
  Meaning meaning_;
  std::vector<Result> results_;
  std::vector<WrittenLoop> loops_;
  std::set<int> donated_;
  std::set<int> on_host_;
  std::set<std::vector<std::int64_t>> scores_;
  int callbacks_ = 0;
};

}  // namespace whyoom
