// The folder of --resume: one file for each input that a batch read to its end, with its failures. A later run reuses
// the files of unchanged inputs and reads the others. The report is byte-identical.
//
// The name of a file is a hash of the input's path, size and modification time, and of the settings. An input whose
// file is missing or damaged is read again, so a file may be lost at any time, and processes may share a folder.
//
// Never stored, and so read by each run: standard input and pipes, names that are not printable text, inputs cut short
// by an interrupt, and inputs that could not be opened. Damaged inputs and those over a limit are stored with their
// problems.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "diagnose/report.h"
#include "rules/rule_set.h"

namespace whyoom {

class ResumeFolder {
 public:
  // Creates the folder if it is missing. Borrows the rules. `settings` contains all options that affect failures.
  // Throws Error if the folder cannot be used, is a link, belongs to another user, or if others may write to it.
  ResumeFolder(const std::string& given, const RuleSource& rules, const std::string& settings);

  // The file for an input in its current state; empty if the input is never stored. Call it before reading the input,
  // so that a later change is noticed.
  std::string FileOf(const std::string& input) const;

  // Whether the path is that of a file of the folder, which must not be read as an input.
  bool Contains(const std::string& path) const;

  // Returns the report of an earlier run, or nullopt if the input must be read.
  std::optional<Report> Load(const std::string& file) const;

  // Stores the report of an input that was read to its end. Threads may call all functions concurrently.
  void Store(const std::string& file, const Report& report);

  // The first write error, if there was one.
  std::optional<Problem> problem() const { return problem_; }

 private:
  const std::string path_;
  const RuleSource& rules_;
  const std::string settings_;
  std::mutex mutex_;  // guards the member below
  std::optional<Problem> problem_;
};

}  // namespace whyoom
