// Records what the pipeline did, for `whyoom rules trace`. A Scope carries the recorder: expressions record their
// parts, and the steps that use them record their conclusions. Without a recorder nothing is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/value.h"

namespace whyoom {

// "12884901888", "0.25", "'jit_step'", "true", "unknown".
std::string ValueText(const Value& value);

// A step, a condition or a part of one. Its parts follow it, one level deeper.
struct RecordEntry {
  int depth = 0;
  std::string what;        // "scenario 2", "used_bytes > limit_bytes"
  std::string result;      // "offered", "true", "12884901888"; empty for a heading
  std::string detail;      // "used_bytes = 12884901888", the sentence that was included
  std::uint64_t line = 0;  // the log line that proves it, if any
};

class Recorder {
 public:
  // With `only_line`, keeps of the entries of an input, which are at depth 1, only those of that line of the log.
  explicit Recorder(std::uint64_t only_line = 0) : only_line_(only_line) {}

  // Callers cut longer texts of a log to this length.
  static constexpr std::size_t kLongestText = 1600;

  // Whether a long log has reached the limit of memory; later entries are missing.
  bool full() const { return full_; }

  // Adds an entry. Entries added until it is closed become its children.
  void Open(std::string what);
  // Closes the innermost open entry. If `detail` is empty, the values noted for it become its detail. Drops an entry
  // without a result, a detail and children.
  void Close(std::string result, const std::string& detail = "", std::uint64_t line = 0);

  // Notes a value that the innermost entry used. Ignores duplicates.
  void Note(const std::string& name, const Value& value);

  // Returns the recorded entries in order and clears them.
  std::vector<RecordEntry> Take() { return std::move(entries_); }

 private:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 16;

  const std::uint64_t only_line_;
  bool full_ = false;
  std::vector<RecordEntry> entries_;
  std::vector<std::size_t> open_;                // index of each open entry; the number of entries if it was dropped
  std::vector<std::vector<std::string>> notes_;  // of each open entry
};

// Opens an entry and closes it at the end of the block. Without a recorder it does nothing and copies nothing, because
// the pipeline runs these steps for every failure.
class RecordedStep {
 public:
  // The entry's name is `what`, followed by a blank and `id` if there is one.
  RecordedStep(Recorder* recorder, std::string_view what, std::string_view id = "") : recorder_(recorder) {
    if (recorder_ != nullptr) recorder_->Open(std::string(what) + (id.empty() ? "" : " ") + std::string(id));
  }
  ~RecordedStep() {
    if (recorder_ != nullptr) recorder_->Close(std::move(result_), detail_, line_);
  }
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  // False without a recorder; the caller can then skip building a detail.
  bool is_recorded() const { return recorder_ != nullptr; }

  void Set(std::string_view result, std::string_view detail = "", std::uint64_t line = 0) {
    if (recorder_ == nullptr) return;
    result_ = result;
    detail_ = detail;
    line_ = line;
  }
  void SetValue(const Value& value, std::string_view detail = "") {
    if (recorder_ != nullptr) Set(ValueText(value), detail);
  }

 private:
  Recorder* recorder_;
  std::string result_;
  std::string detail_;
  std::uint64_t line_ = 0;
};

}  // namespace whyoom
