// The journal of --resume: a file to which a batch appends a JSON line for each input that was read to its end, with
// its failures. A later run reuses the failures of unchanged inputs and reads the others. The report is byte-identical.
//
// The first line names the format. A line is valid only for the same path, size, modification time and settings
// (version, rules, limits, time range and current folder). Other lines are ignored. The last line of a path counts.
//
// Never recorded, and so read by each run: standard input and pipes, names that are not printable text, inputs cut
// short by an interrupt, and inputs that could not be opened. Damaged inputs and those over a limit are recorded with
// their problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "diagnose/read_input.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "report/record/fields.h"
#include "rules/rule_set.h"

namespace whyoom {

struct FileStamp {
  bool regular = false;  // false: missing, a pipe or standard input; then nothing below is known
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since an epoch of the library
};

// "-" is always standard input.
FileStamp StampOf(const std::string& path);

// A table of failures without conclusions as JSON. Unlike a report, it is not shortened, so a table that is read back
// joins with other tables exactly as the original would.
Json ToRecord(const FailureTable& table, const std::string& rules_fingerprint);

// Returns nullopt unless ToRecord made the JSON with the same rule data. The table borrows the rules.
std::optional<FailureTable> TableFromRecord(const nlohmann::json& json, const RuleSet& rules);

class ResumeJournal {
 public:
  // Opens and locks the journal; creates it if it is missing or empty. Borrows the rules. `settings` contains all
  // options that affect failures. Throws Error, and does not change the file, if it is not a journal, is a link,
  // belongs to another user, or is in use by another process.
  ResumeJournal(const std::string& path, const RuleSource& rules, const std::string& settings);

  // Returns the failures of an earlier run, or nullopt if the input must be read. `stamp` is the file's current stamp.
  // Threads may call Recall and Record concurrently.
  std::optional<Report> Recall(const Artifact& input, const FileStamp& stamp) const;

  // Appends an input that was read to its end. `stamp` must be from before reading, so that a later change is noticed.
  void Record(const Artifact& input, const FileStamp& stamp, const Report& report);

  // Whether the path is that of the journal itself, which must not be read as an input.
  bool IsJournal(const std::string& path) const;

  // Flushes the journal to disk. Returns the first write error, if there was one. Call once, at the end.
  std::optional<Problem> Close();

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  void Open();
  void ReadIndex();
  void Append(std::string_view line);
  [[noreturn]] void Refuse(const std::string& why) const;

  const std::string path_;
  const RuleSource& rules_;
  const std::string settings_;  // digest
  Descriptor file_;
  std::unordered_map<std::string, Place> index_;  // last line of each path

  std::mutex mutex_;     // guards the member below
  std::string failure_;  // why writing stopped; empty: it did not
};

}  // namespace whyoom
