#include "rules/new_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "rules/capture_names.h"
#include "rules/expression_node.h"
#include "rules/message_cut.h"
#include "rules/message_parts.h"
#include "rules/names.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostFacts = 8;
constexpr const char* kNeed = "need_bytes";
constexpr const char* kHave = "have_bytes";

void AddNames(const std::vector<Pattern>& patterns, std::set<std::string>* names) {
  for (const Pattern& pattern : patterns) names->insert(pattern.capture_names().begin(), pattern.capture_names().end());
}

// What a failure's own patterns give.
std::set<std::string> FactsOf(const Failure& failure) {
  std::set<std::string> facts;
  for (const Head& head : failure.heads) AddNames({head.pattern}, &facts);
  AddNames(failure.facts, &facts);
  return facts;
}

bool Derives(const Failure& failure, std::string_view fact) {
  return std::any_of(failure.derived.begin(), failure.derived.end(),
                     [&](const DerivedFact& derived) { return derived.name == fact; });
}

// The names under which messages of known failures give a size of that role, best first.
std::vector<std::string> NamesFor(SizeRole role) {
  switch (role) {
    case SizeRole::kUsed:
    case SizeRole::kNeeded:
      return {"used_bytes", "needed_bytes", "request_bytes"};
    case SizeRole::kRequest:
      return {"request_bytes", "used_bytes"};
    case SizeRole::kLimit:
      return {"limit_bytes", "free_bytes"};
    case SizeRole::kFree:
      return {"free_bytes", "limit_bytes"};
    case SizeRole::kExcess:
      return {"excess_bytes", "missing_bytes"};
    case SizeRole::kNone:
      break;
  }
  return {};
}

OrderedJson ToJson(const Value& value) {
  if (const auto number = AsNumber(value)) {
    const auto whole = static_cast<std::int64_t>(*number);
    return static_cast<double>(whole) == *number ? OrderedJson(whole) : OrderedJson(*number);
  }
  const std::string* text = AsText(value);
  return text == nullptr ? OrderedJson() : OrderedJson(*text);
}

Pattern Compile(const std::string& source) {
  std::vector<SyntaxFault> faults;
  return Pattern::Compile(source, &faults);
}

// Makes the rules of one message.
class Maker {
 public:
  Maker(const RuleSet& rules, const NewRuleRequest& request)
      : rules_(rules), request_(request), known_(rules.FindFailure(request.code)), parts_(request.message) {
    const std::set<std::string> facts = known_ != nullptr ? FactsOf(*known_) : std::set<std::string>();
    std::set<std::string> taken = facts;
    if (known_ != nullptr) {
      for (const DerivedFact& derived : known_->derived) taken.insert(derived.name);
      const std::vector<std::string>& read = ReaderFacts(known_->reader);
      taken.insert(read.begin(), read.end());
    }
    for (const RowTest& test : rules.row_tests()) taken.insert(test.name);
    for (const std::vector<std::string>* names : {&RowFields(), &BuiltInNames(), &rules.term_names()})
      taken.insert(names->begin(), names->end());
    CaptureNaming naming;
    naming.is_taken = [taken](const std::string& name) {
      return taken.contains(name) || internal::IsReserved(name) || name == kNeed || name == kHave;
    };
    if (known_ != nullptr) {
      naming.known_facts = [facts, numbers = known_->numbers](SizeRole role) {
        std::vector<std::string> names = NamesFor(role);
        std::erase_if(names, [&](const std::string& name) { return !facts.contains(name); });
        // First those that make the diagnosis whole.
        std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
          return std::find(numbers.begin(), numbers.end(), name) != numbers.end();
        });
        return names;
      };
    }
    sizes_ = NameCaptures(naming, &parts_.pieces());
  }

  std::vector<NewRule> Run() {
    std::vector<NewRule> rules;
    std::set<std::string> seen;
    for (const MessageParts::Span& span : parts_.HeadSpans()) {
      const std::string head = PatternOf(parts_.pieces(), span.begin, span.end);
      if (!seen.insert(head).second || Compile(head).Literals(kHeadLiteral).empty()) continue;
      rules.push_back(Make(span, head));
    }
    if (rules.empty() && !parts_.tag().empty() && !Compile(TagPattern()).Literals(kHeadLiteral).empty())
      rules.push_back(Make({0, 0}, ""));
    if (rules.empty())
      throw Error(
          fmt::format("no rule can be made of this message: it has no {} letters that stand together and could "
                      "be looked for",
                      kHeadLiteral));
    return rules;
  }

 private:
  std::string TagPattern() const {
    std::string quoted;
    for (const char c : parts_.tag()) quoted += c == '.' ? std::string("\\.") : std::string(1, c);
    return "\\b" + quoted + (quoted.ends_with(':') ? "" : "\\b");
  }

  NewRule Make(const MessageParts::Span& span, const std::string& head) {
    NewRule rule;
    facts_ = OrderedJson::object();
    if (!head.empty()) rule.heads.push_back(Compile(head));
    const std::string joined = parts_.Joined();
    PatternMatch match;
    if (!head.empty() && rule.heads[0].Find(joined, 0, &match)) AddFacts(match);
    OrderedJson more = OrderedJson::array();
    for (const MessageParts::Span& clause : parts_.ClausesBehind(span.end)) {
      const std::string pattern = PatternOf(parts_.pieces(), clause.begin, clause.end);
      const Pattern compiled = Compile(pattern);
      PatternMatch found;
      if (more.size() >= kMostFacts || !compiled.Find(joined, match.end, &found)) continue;
      AddFacts(found);
      more.push_back(pattern);
    }
    OrderedJson heads = OrderedJson::array();
    if (!head.empty()) heads.push_back({{"id", HeadId()}, {"pattern", head}});
    if (!parts_.tag().empty() && (known_ == nullptr || head.empty())) {
      rule.heads.push_back(Compile(TagPattern()));
      heads.push_back({{"id", "tag"}, {"pattern", TagPattern()}, {"fragment", true}});
    }
    OrderedJson entry = known_ != nullptr ? OrderedJson{{"extends", known_->code}} : Beginning();
    entry["heads"] = std::move(heads);
    if (!more.empty()) entry["facts"] = std::move(more);
    if (OrderedJson derived = Derived(); !derived.empty()) entry["derived"] = std::move(derived);
    if (known_ == nullptr) AddJudgement(&entry);
    entry["examples"] = Examples(span);
    for (const Pattern& pattern : rule.heads) {
      for (std::string& literal : pattern.Literals(kHeadLiteral)) rule.asks.push_back(std::move(literal));
    }
    std::stable_sort(rule.asks.begin(), rule.asks.end(),
                     [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    const OrderedJson file = {{"$comment", Comment()},
                              {"format", "whyoom.rules/1"},
                              {known_ != nullptr ? "extensions" : "failures", OrderedJson::array({std::move(entry)})}};
    // It is printed: what a message holds that is not seen, or turns what is, stands escaped.
    const std::string in_one_line = file.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    const bool is_plain = Printable(in_one_line) == in_one_line;
    rule.text = file.dump(2, ' ', !is_plain, OrderedJson::error_handler_t::replace) + "\n";
    return rule;
  }

  void AddFacts(const PatternMatch& match) {
    for (const Capture& capture : match.captures) {
      if (!facts_.contains(capture.name)) facts_[capture.name] = ToJson(capture.value);
    }
  }

  OrderedJson Comment() const {
    OrderedJson lines = OrderedJson::array();
    if (!request_.from.empty()) lines.push_back("Made from " + request_.from + ".");
    if (known_ == nullptr) {
      lines.push_back(
          "Write what stands behind each TODO; keep in the head what every such message says, and no more.");
      lines.push_back(
          "Add \"remedies\": [{\"id\": \"…\", \"section\": \"…\"}] for what helps; `whyoom rules list remedies` names "
          "them.");
    } else {
      lines.push_back(
          "Write what stands behind each TODO; keep in the head what every such message says, and no more. "
          "Facts that have the names of those that are there need no sentence of their own:");
      lines.push_back(fmt::format("{} has {}.", known_->code, fmt::join(FactsOf(*known_), ", ")));
    }
    lines.push_back("Then: whyoom rules check FILE; whyoom rules test FILE; whyoom --rules FILE LOG");
    return lines;
  }

  // "ours_pool_is_full" in a failure that has heads of its own.
  std::string HeadId() const {
    if (known_ == nullptr) return "message";
    std::string id = "ours";
    std::size_t words = 0;
    for (const MessagePiece& piece : parts_.pieces()) {
      if (piece.begin < parts_.core() || piece.kind != MessagePiece::Kind::kWord || words == 3) continue;
      if (std::any_of(piece.text.begin(), piece.text.end(), [](unsigned char c) { return c >= 0x80; })) continue;
      id += '_';
      for (const unsigned char c : piece.text) id += static_cast<char>(std::tolower(c));
      ++words;
    }
    const auto is_used = [&](const std::string& name) {
      return std::any_of(known_->heads.begin(), known_->heads.end(), [&](const Head& head) { return head.id == name; });
    };
    std::string unused = id;
    for (int number = 2; is_used(unused); ++number) unused = fmt::format("{}_{}", id, number);
    return unused;
  }

  OrderedJson Beginning() const {
    OrderedJson failure = {{"code", request_.code}};
    const std::string name = parts_.tag_name();
    if (!name.empty() && rules_.FindFailure(name) == nullptr && name != request_.code)
      failure["aliases"] = OrderedJson::array({name});
    failure["title"] = "TODO: what failed, in a few words, in lower case";
    failure["category"] = "TODO: of which kind it is, such as \"Run time: host memory\"";
    failure["phase"] = parts_.is_of_compile() ? "compile" : "run";
    failure["about"] = {
        fmt::format("TODO: what it means and how it comes about, for `whyoom explain {}`.", request_.code)};
    return failure;
  }

  const NamedSize* First(std::initializer_list<SizeRole> roles) const {
    const auto found = std::find_if(sizes_.begin(), sizes_.end(), [&](const NamedSize& size) {
      return facts_.contains(size.fact) && std::find(roles.begin(), roles.end(), size.role) != roles.end();
    });
    return found != sizes_.end() ? &*found : nullptr;
  }

  // What the message holds against each other. Where more is free than is asked for, there is more to say than a rule
  // made of one message can know.
  OrderedJson Derived() const {
    OrderedJson derived = OrderedJson::array();
    const NamedSize* need = First({SizeRole::kUsed, SizeRole::kNeeded, SizeRole::kRequest});
    const NamedSize* have = First({SizeRole::kLimit, SizeRole::kFree});
    if (need == nullptr || (have != nullptr && have->bytes >= need->bytes)) return derived;
    const auto add = [&](const char* fact, const std::string& from) {
      if (known_ == nullptr || !Derives(*known_, fact)) derived.push_back({{"fact", fact}, {"from", from}});
    };
    add(kNeed, need->fact);
    if (have != nullptr) add(kHave, have->fact);
    return derived;
  }

  void AddJudgement(OrderedJson* failure) const {
    OrderedJson sizes = OrderedJson::array();
    for (const NamedSize& size : sizes_) {
      if (facts_.contains(size.fact)) sizes.push_back(size.fact);
    }
    std::string why = "TODO: what the message says of this job, in a sentence";
    if (!sizes.empty()) why += fmt::format(", such as: {{{}|size}} were asked for", sizes[0].get<std::string>());
    (*failure)["identity"] = sizes;
    (*failure)["numbers"] = sizes;
    (*failure)["why"] = OrderedJson::array({{{"text", why + "."}}});
  }

  OrderedJson Examples(const MessageParts::Span& span) const {
    OrderedJson match = {{"text", request_.message}};
    if (!facts_.empty()) match["facts"] = facts_;
    const OrderedJson near = {
        {"text", parts_.NearMiss(span)},
        {"why", "TODO: put a line of a healthy job here that comes near; this one only ends too early"}};
    return {{"match", OrderedJson::array({std::move(match)})}, {"no_match", OrderedJson::array({near})}};
  }

  const RuleSet& rules_;
  const NewRuleRequest& request_;
  const Failure* known_;
  MessageParts parts_;
  std::vector<NamedSize> sizes_;
  OrderedJson facts_;
};

}  // namespace

std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request) {
  NewRuleRequest cleaned = request;
  std::erase_if(cleaned.message,
                [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; });
  if (cleaned.message.empty()) throw Error("a new rule needs the message that it is to recognise");
  return Maker(rules, cleaned).Run();
}

}  // namespace whyoom
