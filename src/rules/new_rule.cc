#include "rules/new_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "rules/message_tokens.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostFacts = 8;
constexpr std::size_t kMostTokens = 600;  // of a message
constexpr std::size_t kMostHeadTokens = 80;
constexpr std::size_t kEnoughLetters = 10;  // of a header pattern

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

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// Where the message proper begins: behind exception classes, status words, sources and codes. `tag`: "E1300: Name".
std::size_t CoreOf(const std::string& text, std::string* tag) {
  static const re2::RE2 name(R"((?:((?:[A-Za-z_]\w*(?:\.|::))*[A-Z]\w*)(?:\([^)]{0,80}\))?:\s+))");
  static const re2::RE2 other(R"((?:\[[^\]]{1,160}\]:?\s*|[\w./-]+\.\w{1,4}:\d+[\]):]*\s+|[^\w\[%/]+))");
  static const re2::RE2 code(R"([A-Z]{1,4}\d{3,6})");
  re2::StringPiece rest(text);
  bool behind_code = false;
  while (true) {
    re2::StringPiece next = rest;
    std::string found;
    if (!re2::RE2::Consume(&next, name, &found) && !re2::RE2::Consume(&next, other)) break;
    const bool is_code = re2::RE2::FullMatch(found, code);
    const auto letters = static_cast<std::size_t>(std::count_if(next.begin(), next.end(), IsLetter));
    if (!is_code && letters < kEnoughLetters) break;
    if (is_code) *tag = found + ":";
    if (behind_code && !is_code && !found.empty()) *tag += " " + found;
    behind_code = is_code;
    rest = next;
  }
  return text.size() - rest.size();
}

std::set<std::string> FactsOf(const Failure& failure) {
  std::set<std::string> facts;
  const auto add = [&](const Pattern& pattern) {
    facts.insert(pattern.capture_names().begin(), pattern.capture_names().end());
  };
  for (const Head& head : failure.heads) add(head.pattern);
  for (const Pattern& pattern : failure.facts) add(pattern);
  return facts;
}

// Tokens [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Maker {
 public:
  Maker(const RuleSet& rules, const NewRuleRequest& request)
      : request_(request),
        known_(rules.FindFailure(request.code)),
        message_(fmt::format("{}", fmt::join(request.messages.at(0), "\n"))) {
    core_ = CoreOf(message_, &tag_);
    tokens_ = CutMessage(message_);
    if (request.messages.size() > 1 && tokens_.size() <= kMostTokens) {
      const std::vector<MessageToken> other = CutMessage(fmt::format("{}", fmt::join(request.messages[1], "\n")));
      if (other.size() <= kMostTokens) tokens_ = MergeMessages(tokens_, other);
    }
    NameCaptures(&tokens_);
    // A compiler reports what a program uses, a known failure may call it what was asked for.
    const std::set<std::string> facts = known_ != nullptr ? FactsOf(*known_) : std::set<std::string>();
    for (MessageToken& token : tokens_) {
      for (const auto& [name, other] : {std::pair("used_bytes", "request_bytes"), {"limit_bytes", "free_bytes"}}) {
        if (token.capture == name && !facts.contains(name) && facts.contains(other)) token.capture = other;
      }
    }
  }

  std::vector<NewRule> Run() {
    std::vector<NewRule> rules;
    for (const Span& span : HeadSpans()) {
      const std::string head = PatternOf(span);
      if (Compile(head).Literals(kHeadLiteral).empty()) continue;
      if (rules.empty() || rules.back().heads[0].source() != head) rules.push_back(Make(span, head));
    }
    if (rules.empty())
      throw Error(
          fmt::format("no rule can be made of this message: it has no {} letters that stand together and could "
                      "be looked for",
                      kHeadLiteral));
    return rules;
  }

 private:
  std::string PatternOf(const Span& span) const {
    std::string pattern;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const MessageToken& token = tokens_[i];
      const std::size_t brace = token.pattern.rfind('}');
      pattern += token.capture.empty() ? token.pattern : token.pattern.substr(0, brace) + ":" + token.capture + "}";
    }
    return pattern;
  }

  // Behind the sentence, or the line, that the token `begin` is in.
  std::size_t EndOfSentence(std::size_t begin) const {
    for (std::size_t i = begin; i + 1 < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      const std::string& next = tokens_[i + 1].text;
      const bool is_stop = text == "." || text == ";" || text == "!" || text == "?";
      if (next.find('\n') != next.npos || (is_stop && next == " ")) return i + 1;
    }
    return tokens_.size();
  }

  Span Trimmed(Span span) const {
    const auto is_edge = [&](std::size_t i) {
      const MessageToken& token = tokens_[i];
      return token.capture.empty() && std::none_of(token.text.begin(), token.text.end(),
                                                   [](unsigned char c) { return c >= 0x80 || std::isalnum(c) != 0; });
    };
    while (span.begin < span.end && is_edge(span.begin)) ++span.begin;
    while (span.end > span.begin && is_edge(span.end - 1)) --span.end;
    return span;
  }

  bool IsEnough(const Span& span) const {
    std::size_t letters = 0;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      if (tokens_[i].pattern == QuoteForPattern(tokens_[i].text))
        letters += static_cast<std::size_t>(std::count_if(tokens_[i].text.begin(), tokens_[i].text.end(), IsLetter));
    }
    return letters >= kEnoughLetters;
  }

  // What a header pattern may be made of, the least first: the first sentence, two of them, all with what stands
  // before.
  std::vector<Span> HeadSpans() const {
    std::size_t begin = 0;
    for (std::size_t at = 0; begin < tokens_.size() && at < core_; ++begin) at += tokens_[begin].text.size();
    std::size_t end = EndOfSentence(begin);
    while (end < tokens_.size() && !IsEnough({begin, end})) end = EndOfSentence(end);
    const std::size_t more = end < tokens_.size() ? EndOfSentence(end) : end;
    std::vector<Span> spans = {{begin, end}, {begin, more}, {0, more}};
    for (Span& span : spans) span = Trimmed({span.begin, std::min(span.end, span.begin + kMostHeadTokens)});
    return spans;
  }

  NewRule Make(const Span& span, const std::string& head) {
    NewRule rule;
    rule.heads.push_back(Compile(head));
    OrderedJson heads = OrderedJson::array({{{"id", HeadId()}, {"pattern", head}}});
    if (!tag_.empty() && known_ == nullptr) {
      const std::string pattern = "\\b" + QuoteForPattern(tag_);
      rule.heads.push_back(Compile(pattern));
      heads.push_back({{"id", "tag"}, {"pattern", pattern}, {"fragment", true}});
    }
    OrderedJson more = OrderedJson::array();
    for (std::size_t at = span.end; at < tokens_.size() && more.size() < kMostFacts; at = EndOfSentence(at)) {
      const Span sentence = Trimmed({at, EndOfSentence(at)});
      const bool has_figure = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(sentence.begin),
                                          tokens_.begin() + static_cast<std::ptrdiff_t>(sentence.end),
                                          [](const MessageToken& token) { return !token.capture.empty(); });
      if (has_figure) more.push_back(PatternOf(sentence));
    }
    OrderedJson entry = known_ != nullptr ? OrderedJson{{"extends", known_->code}} : Beginning();
    entry["heads"] = std::move(heads);
    if (!more.empty()) entry["facts"] = more;
    facts_ = Captured(rule.heads[0], more);
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
    // It is printed: characters that are not visible, or that reorder the text, are escaped.
    const std::string in_one_line = file.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    const bool is_plain = Printable(in_one_line) == in_one_line;
    rule.text = file.dump(2, ' ', !is_plain, OrderedJson::error_handler_t::replace) + "\n";
    return rule;
  }

  OrderedJson Captured(const Pattern& head, const OrderedJson& more) const {
    OrderedJson facts = OrderedJson::object();
    PatternMatch match;
    const auto add = [&] {
      for (const Capture& capture : match.captures) {
        if (!facts.contains(capture.name)) facts[capture.name] = ToJson(capture.value);
      }
    };
    if (head.Find(message_, 0, &match)) add();
    const std::size_t behind = match.end;
    for (const OrderedJson& pattern : more) {
      if (Compile(pattern.get<std::string>()).Find(message_, behind, &match)) add();
    }
    return facts;
  }

  OrderedJson Comment() const {
    OrderedJson lines = OrderedJson::array();
    if (!request_.from.empty()) lines.push_back("Made from " + request_.from + ".");
    lines.push_back("Replace each TODO; keep in the header pattern what every such message says, and no more.");
    const bool unclear = std::any_of(tokens_.begin(), tokens_.end(),
                                     [](const MessageToken& token) { return token.capture.starts_with("figure_"); });
    if (unclear)
      lines.push_back(
          "The words next to figure_1 … do not show what it is: rename it to used_bytes, request_bytes, limit_bytes, "
          "free_bytes or excess_bytes, or remove its capture.");
    if (known_ == nullptr) {
      lines.push_back(
          "Add \"remedies\": [{\"id\": \"…\", \"section\": \"…\"}] for what helps; `whyoom rules list remedies` lists "
          "them.");
    } else {
      lines.push_back(fmt::format("{} knows the facts {}.", known_->code, fmt::join(FactsOf(*known_), ", ")));
    }
    lines.push_back("Then: whyoom rules check FILE; whyoom rules test FILE; whyoom --rules FILE LOG");
    return lines;
  }

  // Of a failure that has header patterns of its own "ours", or "ours_2".
  std::string HeadId() const {
    if (known_ == nullptr) return "message";
    const auto is_used = [&](const std::string& id) {
      return std::any_of(known_->heads.begin(), known_->heads.end(), [&](const Head& head) { return head.id == id; });
    };
    std::string id = "ours";
    for (int number = 2; is_used(id); ++number) id = fmt::format("ours_{}", number);
    return id;
  }

  OrderedJson Beginning() const {
    OrderedJson failure = {{"code", request_.code}};
    if (const std::size_t name = tag_.find(": "); name != std::string::npos)
      failure["aliases"] = OrderedJson::array({tag_.substr(name + 2)});
    failure["title"] = "TODO: what failed, in a few words, in lower case";
    failure["category"] = "TODO: its kind, such as \"Run time: host memory\"";
    static const re2::RE2 compile("(?i)compil");
    failure["phase"] = re2::RE2::PartialMatch(message_, compile) ? "compile" : "run";
    failure["about"] = {fmt::format("TODO: what it means and what causes it, for `whyoom explain {}`.", request_.code)};
    return failure;
  }

  void AddJudgement(OrderedJson* failure) const {
    const auto first = [&](std::initializer_list<const char*> names) -> std::string {
      for (const char* name : names) {
        if (facts_.contains(name)) return name;
      }
      return "";
    };
    const std::string need = first({"used_bytes", "request_bytes"});
    const std::string have = first({"limit_bytes", "free_bytes"});
    // More is free than is asked for: a rule made of one message cannot know why it failed.
    const bool is_over = have.empty() || (!need.empty() && facts_[have].get<double>() < facts_[need].get<double>());
    if (!need.empty() && is_over) {
      OrderedJson derived = OrderedJson::array({{{"fact", "need_bytes"}, {"from", need}}});
      if (!have.empty()) derived.push_back({{"fact", "have_bytes"}, {"from", have}});
      (*failure)["derived"] = std::move(derived);
    }
    OrderedJson sizes = OrderedJson::array();
    for (const auto& [name, value] : facts_.items()) {
      if (value.is_number()) sizes.push_back(name);
    }
    std::string why = "TODO: what the message says about this job, in a sentence";
    if (!need.empty()) why += fmt::format(", such as: {{{}|size}} were needed", need);
    (*failure)["identity"] = sizes;
    (*failure)["numbers"] = sizes;
    (*failure)["why"] = OrderedJson::array({{{"text", why + "."}}});
  }

  // Half of the words of the header pattern, which do not say all of it.
  std::string NearMiss(const Span& span) const {
    std::string words;
    for (std::size_t i = span.begin; i < span.end; ++i) words += tokens_[i].text;
    const std::size_t blank = words.rfind(' ', words.size() / 2);
    std::size_t end = blank != std::string::npos && blank > 0 ? blank : words.size() / 2;
    while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;
    std::replace(words.begin(), words.end(), '\n', ' ');
    return end == 0 ? "nothing of the kind" : words.substr(0, end);
  }

  OrderedJson Examples(const Span& span) const {
    OrderedJson match = OrderedJson::array();
    for (const std::vector<std::string>& message : request_.messages) match.push_back({{"text", message}});
    if (!facts_.empty()) match[0]["facts"] = facts_;
    const OrderedJson near = {{"text", NearMiss(span)},
                              {"why", "TODO: a line of a healthy job that comes near; this one only ends too early"}};
    return {{"match", match}, {"no_match", OrderedJson::array({near})}};
  }

  const NewRuleRequest& request_;
  const Failure* known_;
  std::string message_;
  std::size_t core_ = 0;
  std::string tag_;
  std::vector<MessageToken> tokens_;
  OrderedJson facts_;
};

}  // namespace

std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request) {
  NewRuleRequest cleaned = request;
  for (std::vector<std::string>& message : cleaned.messages) {
    std::erase_if(message,
                  [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; });
  }
  std::erase_if(cleaned.messages, [](const std::vector<std::string>& message) { return message.empty(); });
  if (cleaned.messages.empty()) throw Error("a new rule needs the message that it is to recognise");
  return Maker(rules, cleaned).Run();
}

}  // namespace whyoom
