#include "rules/rule_node.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
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
  if (faults_.size() >= kMaxFaults) return;
  const std::string_view line = file.document.LineText(place.line);
  const bool is_long = line.size() > kMaxLine;
  faults_.push_back({file.order, Fault{file.name, place.line, place.column, std::move(what), std::move(hint),
                                       std::string(is_long ? std::string_view() : line)}});
}

std::vector<Fault> FaultSink::Sorted() const {
  const auto key = [](const std::pair<std::size_t, Fault>& entry) {
    const Fault& fault = entry.second;
    return std::tie(entry.first, fault.line, fault.column, fault.what, fault.hint);
  };
  std::vector<std::pair<std::size_t, Fault>> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || key(sorted[i]) != key(sorted[i - 1])) faults.push_back(sorted[i].second);
  }
  return faults;
}

namespace {

template <class Number>
Number NumberAt(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// The text at `at`, after its length.
std::string_view TextAt(const char* at) { return {at + sizeof(std::uint32_t), NumberAt<std::uint32_t>(at)}; }

// The end of the packed value at `at`.
const char* EndOf(const char* at) {
  switch (*at) {
    case 's':
    case 'a':
    case 'o':
      return at + 1 + sizeof(std::uint32_t) + NumberAt<std::uint32_t>(at + 1);
    case 'i':
    case 'd':
      return at + 1 + sizeof(std::int64_t);
    default:
      return at + 1;
  }
}

}  // namespace

char RuleValue::Kind() const {
  using Type = nlohmann::json::value_t;
  if (packed_ != nullptr) return *packed_ == 'f' ? 't' : *packed_;
  switch (json_ == nullptr ? Type::discarded : json_->type()) {
    case Type::null:
      return 'n';
    case Type::boolean:
      return 't';
    case Type::number_integer:
    case Type::number_unsigned:
      return 'i';
    case Type::number_float:
      return 'd';
    case Type::string:
      return 's';
    case Type::array:
      return 'a';
    case Type::object:
      return 'o';
    default:
      return '\0';
  }
}

RuleValue RuleValue::Find(std::string_view key) const {
  if (json_ != nullptr) {
    const auto found = json_->find(key);
    return found == json_->end() ? RuleValue() : RuleValue(&*found);
  }
  const char* const end = EndOf(packed_);
  for (const char* at = packed_ + 1 + sizeof(std::uint32_t); at < end;) {
    const std::string_view member = TextAt(at);
    at = member.data() + member.size();
    if (member == key) return Packed(at);
    at = EndOf(at);
  }
  return {};
}

void RuleValue::ForEach(const std::function<void(std::string_view, const RuleValue&)>& visit) const {
  if (json_ != nullptr) {
    for (auto at = json_->begin(); at != json_->end(); ++at)
      visit(json_->is_object() ? std::string_view(at.key()) : std::string_view(), RuleValue(&*at));
    return;
  }
  const char* const end = EndOf(packed_);
  for (const char* at = packed_ + 1 + sizeof(std::uint32_t); at < end; at = EndOf(at)) {
    const std::string_view key = is_object() ? TextAt(at) : std::string_view();
    if (is_object()) at = key.data() + key.size();
    visit(key, Packed(at));
  }
}

std::string RuleValue::String() const {
  return json_ != nullptr ? json_->get<std::string>() : std::string(TextAt(packed_ + 1));
}

double RuleValue::Number() const {
  if (json_ != nullptr) return json_->get<double>();
  return *packed_ == 'd' ? NumberAt<double>(packed_ + 1) : static_cast<double>(NumberAt<std::int64_t>(packed_ + 1));
}

bool RuleValue::Bool() const { return json_ != nullptr ? json_->get<bool>() : *packed_ == 't'; }

RuleNode::RuleNode(const LoadedFile* file, FaultSink* sink, std::string pointer, RuleValue value)
    : file_(file), sink_(sink), pointer_(std::move(pointer)), value_(value) {}

RuleNode RuleNode::Root(const LoadedFile* file, FaultSink* sink) {
  return {file, sink, "", file->digested.exists() ? file->digested : RuleValue(&file->document.value())};
}

std::string RuleNode::PointerTo(std::string_view key) const {
  return file_->document.has_places() ? pointer_ + "/" + PointerToken(key) : "";
}

std::string RuleNode::PointerTo(std::size_t item) const {
  return file_->document.has_places() ? pointer_ + "/" + std::to_string(item) : "";
}

RuleNode RuleNode::operator[](std::string_view key) const {
  return {file_, sink_, PointerTo(key), is_object() ? value_.Find(key) : RuleValue()};
}

std::vector<RuleNode> RuleNode::Items() const {
  std::vector<RuleNode> items;
  if (!value_.is_array()) return items;
  value_.ForEach([&](std::string_view, const RuleValue& item) {
    items.push_back({file_, sink_, PointerTo(items.size()), item});
  });
  return items;
}

std::vector<std::pair<std::string, RuleNode>> RuleNode::Members() const {
  std::vector<std::pair<std::string, RuleNode>> members;
  if (!is_object()) return members;
  value_.ForEach([&](std::string_view key, const RuleValue& value) {
    members.emplace_back(key, RuleNode(file_, sink_, PointerTo(key), value));
  });
  return members;
}

std::string RuleNode::String() const { return is_string() ? value_.String() : ""; }

std::string RuleNode::Joined(char separator) const {
  if (is_string()) return String();
  std::string joined;
  if (!value_.is_array()) return joined;
  bool first = true;
  value_.ForEach([&](std::string_view, const RuleValue& item) {
    if (!std::exchange(first, false)) joined += separator;
    if (item.is_string()) joined += item.String();
    if (!item.is_array()) return;
    item.ForEach([&](std::string_view, const RuleValue& piece) {
      if (piece.is_string()) joined += piece.String();
    });
  });
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

bool RuleNode::Bool() const { return value_.is_bool() && value_.Bool(); }

int RuleNode::Int(int otherwise) const {
  if (!value_.is_integer()) return otherwise;
  constexpr double kLeast = std::numeric_limits<int>::min();
  constexpr double kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(value_.Number(), kLeast, kMost));
}

Value RuleNode::Scalar() const {
  if (!exists()) return Unknown{};
  if (value_.is_bool()) return value_.Bool();
  if (value_.is_number()) return value_.Number();
  if (value_.is_string()) return String();
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

void RuleNode::ReportKey(std::string what, std::string hint) const {
  sink_->Add(*file_, key_place(), std::move(what), std::move(hint));
}

void RuleNode::ReportAt(std::size_t byte_of_text, std::string what, std::string hint) const {
  sink_->Add(*file_, file_->document.PlaceInText(pointer_, byte_of_text), std::move(what), std::move(hint));
}

}  // namespace whyoom
