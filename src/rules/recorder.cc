#include "rules/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace whyoom {

void Recorder::Open(std::string what) {
  open_.push_back(entries_.size());
  notes_.emplace_back();
  full_ = full_ || entries_.size() >= kMostEntries;
  if (!full_) entries_.push_back({.depth = static_cast<int>(open_.size()) - 1, .what = std::move(what)});
}

void Recorder::Close(std::string result, const std::string& detail, std::uint64_t line) {
  const std::size_t index = open_.back();
  if (index < entries_.size()) {
    RecordEntry& entry = entries_[index];
    entry.result = std::move(result);
    entry.line = line;
    entry.detail = detail.empty() ? fmt::format("{}", fmt::join(notes_.back(), ", ")) : detail;
    const bool is_empty = entry.result.empty() && index + 1 == entries_.size() && notes_.back().empty();
    const bool is_of_other_line = only_line_ != 0 && entry.depth == 1 && line != only_line_;
    if (is_empty || is_of_other_line) entries_.resize(index);
  }
  open_.pop_back();
  notes_.pop_back();
}

void Recorder::Note(const std::string& name, const Value& value) {
  if (open_.empty()) return;
  std::string note = name + " = " + ValueText(value);
  std::vector<std::string>& notes = notes_.back();
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

std::string ValueText(const Value& value) {
  if (const std::optional<double> number = AsNumber(value)) {
    constexpr double kExact = 9.0e15;
    const bool is_whole = std::abs(*number) < kExact && *number == std::floor(*number);
    const bool is_large = std::abs(*number) >= 1.0e6 && std::abs(*number) < kExact;
    return is_whole || is_large ? fmt::format("{:.0f}", *number) : fmt::format("{:.6g}", *number);
  }
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

}  // namespace whyoom
