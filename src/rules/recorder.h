// What the pipeline did, kept while it runs so that `whyoom rules trace` can print it. A scope carries the recorder
// (Scope::recorder): expressions record their parts, the steps that use them record what they concluded. Without a
// recorder nothing is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rules/value.h"

namespace whyoom {

// A step, a condition or a part of one; what it consists of follows it, one level deeper.
struct RecordEntry {
  int depth = 0;
  std::string what;        // "scenario 2", "used_bytes > limit_bytes"
  std::string result;      // "offered", "true", "12884901888"; empty for a heading
  std::string detail;      // "used_bytes = 12884901888", the sentence that was said
  std::uint64_t line = 0;  // of the log, if one proves it
};

class Recorder {
 public:
  // Adds an entry; those added until it is closed belong to it. Returns its index.
  std::size_t Open(std::string what);
  // Closes the entry that was opened last. Values that were noted while it was the innermost become its detail if
  // `detail` is empty.
  void Close(std::string result, const std::string& detail = "", std::uint64_t line = 0);

  // Notes a value that the innermost entry used, each name once.
  void Note(const std::string& name, const Value& value);

  // What was recorded, in order.
  std::vector<RecordEntry> Take() { return std::move(entries_); }

 private:
  std::vector<RecordEntry> entries_;
  std::vector<std::size_t> open_;
  std::vector<std::vector<std::string>> notes_;  // of each open entry
};

// Opens an entry now and closes it at the end of the block. Does nothing without a recorder.
class RecordedStep {
 public:
  RecordedStep(Recorder* recorder, std::string what) : recorder_(recorder) {
    if (recorder_ != nullptr) recorder_->Open(std::move(what));
  }
  ~RecordedStep() {
    if (recorder_ != nullptr) recorder_->Close(result_, detail_, line_);
  }
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  void Set(std::string result, std::string detail = "", std::uint64_t line = 0) {
    result_ = std::move(result);
    detail_ = std::move(detail);
    line_ = line;
  }

 private:
  Recorder* recorder_;
  std::string result_;
  std::string detail_;
  std::uint64_t line_ = 0;
};

// "12884901888", "0.25", "'jit_step'", "true", "unknown".
std::string ValueText(const Value& value);

}  // namespace whyoom
