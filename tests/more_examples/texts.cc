#include "texts.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "diagnose/dump_report.h"
#include "diagnose/readings.h"
#include "input/byte_source.h"
#include "rules/pattern.h"
#include "sample.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = RuleCase::Kind;
using PieceKind = PatternPiece::Kind;
using Random = std::mt19937_64;

constexpr std::string_view kHead = "<head>";
constexpr std::size_t kMostTexts = 8;

// The pieces that cover a place, the outermost first.
std::vector<const PatternPiece*> PiecesAt(const PatternPiece& whole, std::size_t at) {
  std::vector<const PatternPiece*> path;
  const std::function<void(const PatternPiece&)> visit = [&](const PatternPiece& piece) {
    if (at + 1 < piece.begin || at > piece.whole_end) return;
    path.push_back(&piece);
    for (const PatternPiece& child : piece.children) visit(child);
  };
  visit(whole);
  return path;
}

bool Holds(const PatternPiece& piece, const PatternPiece* wanted) {
  if (&piece == wanted) return true;
  return std::any_of(piece.children.begin(), piece.children.end(),
                     [&](const PatternPiece& child) { return Holds(child, wanted); });
}

// A text for `piece` in which `wanted` stands `times` times.
std::string Forced(std::string_view pattern, const PatternPiece& piece, const PatternPiece* wanted, int times,
                   Random* random) {
  if (!Holds(piece, wanted)) {
    std::string text;
    const int least =
        std::max(piece.least, (*random)() % 4 == 0 && piece.most != piece.least ? piece.least + 1 : piece.least);
    for (int i = 0; i < (piece.most < 0 ? least : std::min(least, piece.most)); ++i)
      text += SamplePiece(pattern, piece, random);
    return text;
  }
  std::string text;
  if (&piece == wanted) {
    for (int i = 0; i < times; ++i) text += SamplePiece(pattern, piece, random);
    return text;
  }
  for (const PatternPiece& child : piece.children) {
    if (piece.kind == PieceKind::kAlternation && !Holds(child, wanted)) continue;
    text += Forced(pattern, child, wanted, times, random);
  }
  return text;
}

// Where a piece stands in what the pattern matches of the text.
std::optional<std::pair<std::size_t, std::size_t>> SpanOf(const std::string& source, const PatternPiece& piece,
                                                          const std::string& text) {
  std::string wrapped = source;
  wrapped.insert(piece.whole_end, ")");
  wrapped.insert(piece.begin, "(?P<the_piece>");
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile(wrapped, &faults);
  PatternMatch match;
  if (!faults.empty() || !pattern.Find(text, 0, &match)) return std::nullopt;
  for (const Capture& capture : match.captures) {
    if (capture.name == "the_piece") return std::pair(capture.begin, capture.end);
  }
  return std::nullopt;
}

// Texts near one that the pattern matches, in which the changed place is used one way or another.
std::vector<std::string> Near(const TextSearch::Change& change, const PatternPiece& whole, const std::string& text,
                              Random* random) {
  std::vector<std::string> near;
  const std::vector<const PatternPiece*> path = PiecesAt(whole, change.at);
  const auto put = [&](std::pair<std::size_t, std::size_t> span, const std::string& instead) {
    near.push_back(text.substr(0, span.first) + instead + text.substr(span.second));
  };
  for (std::size_t i = path.size(); i-- > 0;) {
    const PatternPiece* wanted = path[i];
    if (wanted->kind == PieceKind::kSequence && i > 0 && path[i - 1]->kind != PieceKind::kAlternation) continue;
    // The nearest piece round it that takes part.
    for (std::size_t j = i + 1; j-- > 0;) {
      const auto span = SpanOf(change.source, *path[j], text);
      if (!span) continue;
      for (const int times : {1, 0, 2, 1, 3, 1}) put(*span, Forced(change.source, *path[j], wanted, times, random));
      if (wanted->kind == PieceKind::kAssertion || wanted->kind == PieceKind::kClass) {
        for (const char* more : {"x", "7", "_", " ", "\n", "x\n", "\nx", ".", "-", "x "}) {
          put({span->first, span->first}, more);
          put({span->second, span->second}, more);
        }
      }
      break;
    }
    if (near.size() > 120) break;
  }
  return near;
}

// "[^…" and the like may make what is no text.
bool IsFit(const std::string& text) {
  if (text.empty() || text.size() > 4000) return false;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = DecodeUtf8(text, at);
    if (!character.valid) return false;
    at += character.length;
  }
  return true;
}

}  // namespace

TextSearch::TextSearch(const Engine& original) : original_(original) {
  for (RuleCase& one : CasesOf(original.rules())) cases_[one.section + "/" + one.id].push_back(std::move(one));
}

// What the original makes of a text, as a case.
std::vector<RuleCase> TextSearch::Cases(const RuleOwner& owner, const std::string& text, const RuleCase& like) const {
  RuleCase one = like;
  one.example = Example();
  one.example.text = text;
  one.must_match = true;
  std::vector<RuleCase> cases;
  if (one.kind == Kind::kFailure) {
    Readings readings = ReadArtifact(original_, {"example", ""}, *OpenMemory(text + "\n"));
    std::vector<Problem> problems;
    std::vector<Diagnosis> findings;
    if (readings.table) findings = readings.table->Finish(&problems);
    const bool is_its = findings.size() == 1 && findings[0].failure->code == owner.id;
    if (is_its) {
      for (const auto& [name, fact] : findings[0].facts.all()) {
        if (fact.place.line > 0 && IsKnown(fact.value)) one.example.facts[name] = fact.value;
      }
      cases.push_back(one);
    } else if (std::none_of(findings.begin(), findings.end(),
                            [&](const Diagnosis& finding) { return finding.failure->code == owner.id; })) {
      one.must_match = false;
      cases.push_back(one);
    }
    return cases;
  }
  if (one.kind == Kind::kAffix) {
    std::vector<Line> lines;
    RawLine raw;
    raw.number = 1;
    raw.bytes = text;
    original_.normalizer().Normalize(raw, &lines);
    if (lines.size() != 1 || text.find('\n') != text.npos) return cases;
    one.leaves = lines[0].text;
    one.example.facts = LineFacts(lines[0]);
    cases.push_back(one);
    return cases;
  }
  if (one.kind == Kind::kContext) {
    for (const Context& context : original_.rules().contexts()) {
      if (context.id != owner.id) continue;
      for (const Pattern& pattern : context.patterns) {
        PatternMatch match;
        if (!pattern.Find(text, 0, &match)) continue;
        for (const Capture& capture : match.captures) {
          if (IsKnown(capture.value)) one.example.facts.emplace(capture.name, capture.value);
        }
      }
    }
  }
  if (one.kind == Kind::kChip) {
    if (const std::optional<DumpTarget> target = TargetOfDump(original_.rules(), text))
      one.example.facts["limit_bytes"] = target->limit_bytes;
  }
  if (Try(original_, one).empty()) {
    cases.push_back(one);
  } else {
    one.example.facts.clear();
    one.must_match = false;
    if (Try(original_, one).empty()) cases.push_back(one);
  }
  return cases;
}

bool TextSearch::Find(const RuleOwner& owner, const Change& change, const Engine& mutated) {
  const std::string name = owner.section + "/" + owner.id;
  {
    const std::scoped_lock lock(mutex_);
    for (const RuleCase& one : accepted_[name]) {
      if (!Try(mutated, one).empty()) return true;
    }
  }
  const auto known = cases_.find(name);
  if (known == cases_.end()) return false;
  const std::optional<PatternPiece> whole = ParsePattern(change.source);
  if (!whole) return false;
  Random random(std::hash<std::string>()(name + change.source));
  std::vector<SyntaxFault> faults;
  std::vector<RuleCase> examples = known->second;
  // Those first that show the pattern: of what keeps a text from matching they are near misses.
  const Pattern shown = Pattern::Compile(change.source, &faults);
  const bool keeps_from = change.key.starts_with("unless");
  std::stable_partition(examples.begin(), examples.end(),
                        [&](const RuleCase& one) { return one.must_match != keeps_from; });
  std::stable_partition(examples.begin(), examples.end(), [&](const RuleCase& one) {
    PatternMatch match;
    return shown.ok() && shown.Find(one.example.text, 0, &match);
  });
  const bool wants_until = change.key == "until";
  std::erase_if(examples, [&](const RuleCase& one) { return (one.kind == Kind::kUntil) != wants_until; });
  if (examples.empty()) return false;
  // To read a text as a log takes long: it is done only where the pattern by itself finds something else in it.
  const Pattern before_change = Pattern::Compile(change.source, &faults);
  const Pattern after_change = Pattern::Compile(change.instead, &faults);
  const bool is_read = examples.front().kind != Kind::kAffix && examples.front().kind != Kind::kQuotation;
  std::set<std::string> tried;
  const auto accept = [&](const std::string& text) {
    if (!IsFit(text) || !tried.insert(text).second) return false;
    if (is_read && faults.empty() && FindTheSame(before_change, after_change, text)) return false;
    for (RuleCase& one : Cases(owner, text, examples.front())) {
      if (!Try(original_, one).empty() || Try(mutated, one).empty()) continue;
      // Of its facts those that tell.
      const std::map<std::string, Value> facts = one.example.facts;
      for (const auto& [fact, value] : facts) {
        RuleCase fewer = one;
        fewer.example.facts.erase(fact);
        if (!Try(mutated, fewer).empty()) one = std::move(fewer);
      }
      const std::scoped_lock lock(mutex_);
      accepted_[name].push_back(std::move(one));
      return true;
    }
    return false;
  };
  std::size_t texts = 0;
  for (const RuleCase& example : examples) {
    if (++texts > kMostTexts) break;
    // Of a quotation's text the one or the other side of the head is what the pattern is about.
    std::string text = example.example.text;
    std::string before;
    std::string behind;
    if (example.kind == Kind::kQuotation) {
      const std::size_t head = std::min(text.find(kHead), text.size());
      const bool is_after = change.key == "after" || change.key == "unless_after";
      const std::size_t split = std::min(head + kHead.size(), text.size());
      if (head == text.size()) text += kHead;
      if (is_after)
        before = text.substr(0, head + kHead.size());
      else
        behind = text.substr(head);
      text = is_after ? text.substr(std::min(split, text.size())) : text.substr(0, head);
    }
    std::vector<std::string> near = Near(change, *whole, text, &random);
    for (int i = 0; i < 6; ++i) {
      // What the mutant matches may be more; and where the example does not show the pattern at all.
      for (const std::string* source : {&change.instead, &change.source}) {
        const std::string sample = SampleText(*source, &random).value_or("");
        near.push_back(sample);
        near.push_back(text + (text.ends_with("\n") || text.empty() ? "" : "\n") + sample);
        near.push_back(sample + text);
      }
    }
    for (const std::string& one : near) {
      if (accept(before + one + behind)) return true;
    }
  }
  return false;
}

nlohmann::ordered_json TextSearch::Found() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto value_of = [](const Value& value) -> nlohmann::ordered_json {
    if (const auto number = AsNumber(value)) {
      if (*number == static_cast<double>(static_cast<std::int64_t>(*number))) return static_cast<std::int64_t>(*number);
      return *number;
    }
    if (const auto truth = AsBool(value)) return *truth;
    return *AsText(value);
  };
  for (const auto& [name, cases] : accepted_) {
    if (cases.empty()) continue;
    nlohmann::ordered_json one = {{"of", name}};
    for (const RuleCase& example : cases) {
      nlohmann::ordered_json json = example.example.text;
      const std::string& text = example.example.text;
      if (text.find('\n') != text.npos) {
        json = nlohmann::ordered_json::array();
        for (std::size_t begin = 0; begin <= text.size();) {
          const std::size_t end = std::min(text.find('\n', begin), text.size());
          json.push_back(text.substr(begin, end - begin));
          begin = end + 1;
        }
      }
      const bool is_object =
          !example.example.facts.empty() || example.kind == Kind::kAffix || !example.example.why.empty();
      if (is_object) {
        json = {{"text", json}};
        for (const auto& [fact, value] : example.example.facts) json["facts"][fact] = value_of(value);
        if (example.kind == Kind::kAffix) json["leaves"] = example.leaves;
        if (!example.example.why.empty()) json["why"] = example.example.why;
      }
      one[example.must_match ? "match" : "no_match"].push_back(json);
    }
    all.push_back(one);
  }
  return all;
}

}  // namespace whyoom
