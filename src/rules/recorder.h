// What the pipeline did, kept while it runs so that `whyoom rules trace` can print it. A scope carries the recorder
// (Scope::recorder): expressions record their parts, the steps that use them record what they concluded. Without a
// recorder nothing is kept.
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
  // Adds an entry; those added until it is closed belong to it.
  void Open(std::string what);
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

// Opens an entry now and closes it at the end of the block. Without a recorder it does nothing and copies nothing: the
// pipeline runs through these steps for every failure.
class RecordedStep {
 public:
  // The entry is called `what`, with `id` behind a blank if there is one.
  RecordedStep(Recorder* recorder, std::string_view what, std::string_view id = "") : recorder_(recorder) {
    if (recorder_ != nullptr) recorder_->Open(std::string(what) + (id.empty() ? "" : " ") + std::string(id));
  }
  ~RecordedStep() {
    if (recorder_ != nullptr) recorder_->Close(std::move(result_), detail_, line_);
  }
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  // False without a recorder: then a detail need not be made.
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
