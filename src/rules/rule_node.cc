#include "rules/rule_node.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "text/utf8.h"

namespace whyoom {
namespace {

// Maximum number of faults to report.
constexpr std::size_t kMaxFaults = 1000;
// Longer lines are not stored with a fault.
constexpr std::size_t kMaxLine = 10'000;

}  // namespace

void FaultSink::Add(const LoadedFile& file, JsonPlace place, std::string what, std::string hint) {
  Append(file, place, std::move(what), std::move(hint), &faults_);
}

void FaultSink::AddNote(const LoadedFile& file, JsonPlace place, std::string what, std::string hint) {
  Append(file, place, std::move(what), std::move(hint), file.built_in ? &faults_ : &notes_);
}

void FaultSink::Append(const LoadedFile& file, JsonPlace place, std::string what, std::string hint, Entries* to) {
  if (to->size() >= kMaxFaults) return;
  const std::string_view line = file.document.LineText(place.line);
  const bool is_long = line.size() > kMaxLine;
  to->push_back({file.order, Fault{file.name, place.line, place.column, std::move(what), std::move(hint),
                                   std::string(is_long ? std::string_view() : line)}});
}

std::vector<Fault> FaultSink::Sorted(Entries sorted) {
  const auto key = [](const std::pair<std::size_t, Fault>& entry) {
    const Fault& fault = entry.second;
    return std::tie(entry.first, fault.line, fault.column, fault.what, fault.hint);
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || key(sorted[i]) != key(sorted[i - 1])) faults.push_back(sorted[i].second);
  }
  return faults;
}

RuleNode::RuleNode(const LoadedFile* file, FaultSink* sink, std::string pointer, const nlohmann::json* value)
    : file_(file), sink_(sink), pointer_(std::move(pointer)), value_(value) {}

RuleNode RuleNode::Root(const LoadedFile* file, FaultSink* sink) {
  return {file, sink, "", file->digested != nullptr ? file->digested : &file->document.value()};
}

std::string RuleNode::PointerTo(std::string_view key) const {
  return file_->document.has_places() ? pointer_ + "/" + PointerToken(key) : "";
}

std::string RuleNode::PointerTo(std::size_t item) const {
  return file_->document.has_places() ? pointer_ + "/" + std::to_string(item) : "";
}

RuleNode RuleNode::operator[](std::string_view key) const {
  const auto found = is_object() ? value_->find(key) : nlohmann::json::const_iterator();
  return {file_, sink_, PointerTo(key), is_object() && found != value_->end() ? &*found : nullptr};
}

std::vector<RuleNode> RuleNode::Items() const {
  std::vector<RuleNode> items;
  if (value_ == nullptr || !value_->is_array()) return items;
  items.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) items.push_back({file_, sink_, PointerTo(i), &(*value_)[i]});
  return items;
}

std::vector<std::pair<std::string, RuleNode>> RuleNode::Members() const {
  std::vector<std::pair<std::string, RuleNode>> members;
  if (!is_object()) return members;
  for (const auto& [key, value] : value_->items())
    members.emplace_back(key, RuleNode(file_, sink_, PointerTo(key), &value));
  return members;
}

std::string RuleNode::String() const { return is_string() ? value_->get<std::string>() : ""; }

std::string RuleNode::Joined(char separator) const {
  if (is_string()) return String();
  std::string joined;
  bool first = true;
  for (const RuleNode& item : Items()) {
    if (!std::exchange(first, false)) joined += separator;
    joined += item.String();
    for (const RuleNode& piece : item.Items()) joined += piece.String();
  }
  return joined;
}

std::string RuleNode::Text() const {
  std::string text = Joined(' ');
  // Titles and texts are printed unescaped; examples and patterns are not.
  const bool printed = pointer_.find("/examples") == std::string::npos && pointer_.find("/logs") == std::string::npos &&
                       pointer_.find("/leaves") == std::string::npos && !pointer_.ends_with("/pattern");
  if (!file_->trusted && printed && Printable(text) != text) {
    Report("the text contains control or invisible characters", "reports print it to a terminal");
  }
  return text;
}

std::string RuleNode::Lines() const { return Joined('\n'); }

std::vector<std::string> RuleNode::Words() const {
  std::vector<std::string> words;
  for (const RuleNode& item : Items()) words.push_back(item.Text());
  return words;
}

bool RuleNode::Bool() const { return value_ != nullptr && value_->is_boolean() && value_->get<bool>(); }

int RuleNode::Int(int otherwise) const {
  if (value_ == nullptr || !value_->is_number_integer()) return otherwise;
  constexpr std::int64_t kLeast = std::numeric_limits<int>::min();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(value_->get<std::int64_t>(), kLeast, kMost));
}

Value RuleNode::Scalar() const {
  if (!exists()) return Unknown{};
  if (value_->is_boolean()) return value_->get<bool>();
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) return String();
  return Unknown{};
}

void RuleNode::ReportAll(const std::vector<SyntaxFault>& faults) const {
  for (const SyntaxFault& fault : faults) ReportAt(fault.at, fault.what, fault.hint);
}

Expression RuleNode::AsExpression(const Terms& terms) const {
  const std::string source = Text();
  if (source.empty()) return Expression();
  std::vector<SyntaxFault> faults;
  Expression expression = Expression::Compile(source, &faults, terms);
  ReportAll(faults);
  return expression;
}

Template RuleNode::AsTemplate(const Terms& terms) const {
  std::vector<SyntaxFault> faults;
  Template text = Template::Compile(Text(), &faults, terms);
  ReportAll(faults);
  return text;
}

Pattern RuleNode::AsPattern() const {
  const std::string source = Text();
  if (source.empty()) return Pattern();
  std::vector<SyntaxFault> faults;
  Pattern pattern = Pattern::Compile(source, &faults, file_->trusted ? Pattern::Check::kAtUse : Pattern::Check::kNow);
  ReportAll(faults);
  return pattern;
}

void RuleNode::Report(std::string what, std::string hint) const {
  sink_->Add(*file_, place(), std::move(what), std::move(hint));
}

void RuleNode::Note(std::string what, std::string hint) const {
  sink_->AddNote(*file_, place(), std::move(what), std::move(hint));
}

void RuleNode::NoteAt(std::size_t byte_of_text, std::string what, std::string hint) const {
  sink_->AddNote(*file_, file_->document.PlaceInText(pointer_, byte_of_text), std::move(what), std::move(hint));
}

void RuleNode::NoteKey(std::string what, std::string hint) const {
  sink_->AddNote(*file_, key_place(), std::move(what), std::move(hint));
}

void RuleNode::ReportKey(std::string what, std::string hint) const {
  sink_->Add(*file_, key_place(), std::move(what), std::move(hint));
}

void RuleNode::ReportAt(std::size_t byte_of_text, std::string what, std::string hint) const {
  sink_->Add(*file_, file_->document.PlaceInText(pointer_, byte_of_text), std::move(what), std::move(hint));
}

}  // namespace whyoom
