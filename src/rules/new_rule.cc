#include "rules/new_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/error.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A part of a message. Its text may differ from run to run.
struct MessageToken {
  std::string text;     // as in the message
  std::string pattern;  // RE2 that matches the token and its variants in other runs
  bool is_size = false;
  double bytes = 0;     // value of a size
  std::string capture;  // name of the fact; empty: matched but not captured
};

std::string QuoteForPattern(std::string_view text);

using re2::RE2;

// Kinds of tokens in order of precedence: the first that matches at a position applies.
struct Kind {
  enum class As { kText, kPattern, kNumbered, kSize };  // kNumbered: the letters, then any number
  const char* matches;                                  // matched at the current position
  As as = As::kText;                                    // what the token becomes in the rule's pattern
  const char* pattern = "";                             // for kPattern and kSize
};
constexpr std::array kKinds = {
    Kind{R"(\d[\d,]*(?:\.\d+)?\s?(?:[KMGTPE](?:i?B)?|[Bb]ytes|B)\b)", Kind::As::kSize, "%{size}"},
    Kind{R"([\d.]*/\d+(?:\.\d+)?\s?(?:[KMGTPE](?:i?B)?|bytes)\b)", Kind::As::kSize,
         R"([\d.]*/%{size})"},  // 14.2/12 GiB
    Kind{R"(\bp?jit_\w+(?:\.\w+)*)", Kind::As::kPattern, "%{name}"},
    Kind{R"([a-z]+\d*\[[\d,]*\](?:\{[^}\s]*\})?)", Kind::As::kPattern, R"(\w+\[[\d,]*\]\S*)"},  // f32[8,128]{1,0}
    Kind{R"(['"][^'"]{1,200}['"])", Kind::As::kPattern, R"(\W{1,3}[^'"]{1,200}?\W{1,3})"},      // escaped quotes, too
    Kind{R"([a-z]+://\S+)", Kind::As::kPattern, R"(\S+)"},                                      // an address
    Kind{R"((?:[A-Za-z]:)?[\w.~-]*[/\\][\w./\\~+@:-]*\w)", Kind::As::kPattern, R"(\S+)"},       // a path
    Kind{R"(\b0x[0-9a-fA-F]\w*)", Kind::As::kPattern, R"(\w+)"},                                // an address in memory
    Kind{R"(\b[A-Z]\d{4}\b)"},                                                         // E1300 identifies the failure
    Kind{R"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*)", Kind::As::kPattern, R"(\S+[ T]?\S+)"},  // a time
    Kind{R"(\b[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,12})+\b)", Kind::As::kPattern, R"([\w-]+)"},  // an id
    Kind{R"(\b[\w-]*\d[\w-]*(?:\.[\w-]+)+\b|\b[\w-]+(?:\.[\w-]*\d[\w-]*)+\b)", Kind::As::kPattern,
         R"([\w.-]+)"},  // a host, a version
    Kind{R"(\b(?:\w+-)+\w*\d\w*(?:-\w+)*\b|\b\w*\d\w*(?:-\w+)+\b)", Kind::As::kPattern, R"([\w-]+)"},  // pod-7d9f
    Kind{R"([A-Za-z]{3,}\d+\b)", Kind::As::kNumbered},                                                 // rank17
    Kind{R"(\d+\.\d+\b)", Kind::As::kPattern, R"([\d.]+)"},
    Kind{R"(\d{7,18}\b)", Kind::As::kSize, "%{bytes}"},  // a number of bytes, if the adjacent words indicate one
    Kind{R"(\d+\b)", Kind::As::kPattern, R"(\d+)"},
    Kind{R"([A-Za-z_]\w*(?:\.\w+)*)"},
    Kind{R"(\s+)", Kind::As::kPattern, R"(\s+)"},
    Kind{R"(\*\*\*)", Kind::As::kPattern, R"(\S+)"},  // a masked secret
};

const RE2& Compiled(std::size_t kind) {
  static const std::vector<std::unique_ptr<RE2>> all = [] {
    std::vector<std::unique_ptr<RE2>> compiled;
    for (const Kind& each : kKinds) compiled.push_back(std::make_unique<RE2>(each.matches));
    return compiled;
  }();
  return *all[kind];
}

// The value "weights" of key=weights, up to the next separator.
std::string_view ValueAt(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_of(" ,;)]}\"'", at), text.size());
  return text.substr(at, end - at);
}

MessageToken TokenOf(const Kind& kind, std::string text) {
  MessageToken token;
  switch (kind.as) {
    case Kind::As::kText:
      token.pattern = QuoteForPattern(text);
      break;
    case Kind::As::kNumbered:
      token.pattern = text.substr(0, text.find_first_of("0123456789")) + "\\d+";
      break;
    case Kind::As::kSize:
      token.is_size = true;
      token.bytes = static_cast<double>(ParseSize(text.substr(text.find('/') + 1)).value_or(std::atoll(text.c_str())));
      [[fallthrough]];
    case Kind::As::kPattern:
      token.pattern = kind.pattern;
  }
  token.text = std::move(text);
  return token;
}

MessageToken TokenAt(std::string_view text, std::size_t at) {
  const bool after_key = at > 1 && text[at - 1] == '=' && std::isalnum(static_cast<unsigned char>(text[at - 2])) != 0;
  const std::string_view value = after_key ? ValueAt(text, at) : std::string_view();
  const re2::StringPiece whole(text.data(), text.size());
  const bool is_quote = text[at] == '\'' || text[at] == '"';
  const bool is_apostrophe = is_quote && at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0;
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (is_apostrophe || (!value.empty() && kKinds[kind].as != Kind::As::kSize)) break;
    re2::StringPiece match;
    if (!Compiled(kind).Match(whole, at, text.size(), RE2::ANCHOR_START, &match, 1)) continue;
    std::string found(match.data(), match.size());
    if (is_quote && found.find("jit_") != found.npos) break;  // the program name becomes a separate token
    if (found == " ") return TokenOf({"", Kind::As::kText}, std::move(found));
    return TokenOf(kKinds[kind], std::move(found));
  }
  if (!value.empty()) return TokenOf({"", Kind::As::kPattern, R"([^\s,;)\]}]+)"}, std::string(value));
  std::size_t end = at + 1;  // any other character, with all bytes of its UTF-8 sequence, matches itself
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  const std::string character(text.substr(at, end - at));
  // In a log, quotes and backslashes may be escaped.
  if (is_quote || text[at] == '\\') return TokenOf({"", Kind::As::kPattern, R"(\W{1,3})"}, character);
  return TokenOf({""}, character);
}

// Words that identify the meaning of a size: before it (since the previous size) and after it (up to the next).
struct RoleOfWords {
  const char* fact;
  const char* before;
  const char* behind;
};
constexpr const char* kAvailable = "available";  // the limit, or what is free of it
constexpr std::array kRoles = {
    RoleOfWords{"excess_bytes",
                R"((?i)\b(?:exceed(?:s|ed)?(?: \w+)* by|over by|short(?:age)?(?: of| by)?|too much:?)\W*$)",
                R"((?i)^\W*(?:\w+ )?(?:over|too much|too large|short|missing)\b)"},
    RoleOfWords{"request_bytes", R"((?i)\b(?:allocat\w*|request\w*|asked(?: for)?|reserve|size)(?: \w+)?\W*$)",
                R"((?i)^\s*(?:were |was )?(?:requested|asked for)\b)"},
    RoleOfWords{"used_bytes",
                R"((?i)\b(?:used?|uses|needs?|needed|requires?|wants?|wanted|takes|reserved)(?: \w+)?\W*$)",
                R"((?i)^\s*(?:are |is |were )?(?:used|needed|required|in use)\b)"},
    RoleOfWords{"free_bytes", R"((?i)\b(?:free|left|remaining)(?: \w+)?\W*$)",
                R"((?i)^\s*(?:are |is )?(?:free|left|remain\w*)\b)"},
    RoleOfWords{"limit_bytes", R"((?i)\b(?:limit|capacity|budget|total)(?: \w+)?\W*$)",
                R"((?i)^\s*(?:limit|capacity|budget|total)\b)"},
    RoleOfWords{kAvailable, R"((?i)\b(?:usable|available|offers|has|have)(?: \w+)?\W*$)",
                R"((?i)^\s*(?:is |are )?(?:usable|available)\b)"},
};

// `behind` is the text up to the next size; `is_last` if there is none.
std::string RoleOf(const std::string& before, const std::string& behind, bool is_last) {
  static const RE2 more(R"((?i)^\s*more\b)");  // "need 3.00G more"
  if (RE2::PartialMatch(behind, more)) return kRoles[0].fact;
  for (const auto& role : kRoles) {
    if (RE2::PartialMatch(before, role.before)) return role.fact;
  }
  // The word before the next size, as in "total=10 GB free=1 GB", belongs to that size.
  static const RE2 of_next(R"(^\s*\w+\s*[=:]?\s*$)");
  if (!is_last && RE2::FullMatch(behind, of_next)) return {};
  for (const auto& role : kRoles) {
    if (RE2::PartialMatch(behind, role.behind)) return role.fact;
  }
  return {};
}

// Whether need - available = excess, within the rounding of printed sizes. True if one of the three is missing.
bool AreConsistent(const std::map<std::string, double>& figures) {
  const auto either = [&](const char* name, const char* other) {
    const auto found = figures.contains(name) ? figures.find(name) : figures.find(other);
    return found == figures.end() ? 0 : found->second;
  };
  const double need = either("used_bytes", "request_bytes");
  const double have = either("limit_bytes", "free_bytes");
  const double excess = either("excess_bytes", "");
  const bool is_whole = need > 0 && have > 0 && excess > 0;
  return !is_whole || std::abs(need - have - excess) <= 0.015 * need;
}

std::string QuoteForPattern(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (std::string_view(".^$*+?()[]{}|\\%").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::vector<MessageToken> CutMessage(std::string_view message) {
  std::vector<MessageToken> tokens;
  for (std::size_t at = 0; at < message.size(); at += tokens.back().text.size()) tokens.push_back(TokenAt(message, at));
  return tokens;
}

std::vector<MessageToken> MergeMessages(const std::vector<MessageToken>& one, const std::vector<MessageToken>& other) {
  // Longest common subsequence of the patterns; lengths[i][j] is that of one[i…] and other[j…].
  std::vector<std::vector<std::uint32_t>> lengths(one.size() + 1, std::vector<std::uint32_t>(other.size() + 1));
  for (std::size_t i = one.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      lengths[i][j] = one[i].pattern == other[j].pattern ? lengths[i + 1][j + 1] + 1
                                                         : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  std::vector<MessageToken> merged;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.size() || j < other.size()) {
    if (i < one.size() && j < other.size() && one[i].pattern == other[j].pattern) {
      merged.push_back(one[i++]);
      ++j;
      continue;
    }
    constexpr std::string_view kAnything = ".{0,200}?";
    const std::size_t size = merged.size();
    if (size >= 2 && merged[size - 1].pattern == " " && merged[size - 2].pattern == kAnything) {
      merged.pop_back();
      merged.back().text += " ";
    }
    if (merged.empty() || merged.back().pattern != kAnything) merged.emplace_back().pattern = kAnything;
    if (j >= other.size() || (i < one.size() && lengths[i + 1][j] >= lengths[i][j + 1])) {
      merged.back().text += one[i++].text;
    } else {
      ++j;
    }
  }
  return merged;
}

// The facts that the sizes at these indices are, by the words around them; empty if unknown.
std::vector<std::string> RolesOf(const std::vector<MessageToken>& tokens, const std::vector<std::size_t>& sizes) {
  const auto between = [&](std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += tokens[i].text;
    return text;
  };
  std::vector<std::string> roles;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const bool is_last = n + 1 == sizes.size();
    std::string before = between(n == 0 ? 0 : sizes[n - 1] + 1, sizes[n]);
    // The words up to a comma belong to the size before it: "6 GiB used, 8 GiB limit".
    if (n > 0) before.erase(0, before.find_last_of(",;") + 1);
    const std::string behind = between(sizes[n] + 1, is_last ? tokens.size() : sizes[n + 1]);
    std::string role = RoleOf(before, behind, is_last);
    // The second size of "used 3.00G of 2.00G", "1.00G of 2.00G left" and "3.00G/2.00G" is the limit; what is said of
    // both is true of the first.
    const bool after_slash = tokens[sizes[n]].text.find('/') != std::string::npos;
    if (n > 0 && before.empty() && after_slash && roles.back().empty()) roles.back() = "used_bytes";
    if (n > 0 && before == " of " && roles.back().empty()) roles.back() = role;
    const bool after_first =
        n > 0 && before == " of " && (roles.back() == "used_bytes" || roles.back() == "free_bytes");
    if (after_first || after_slash) role = "limit_bytes";
    roles.push_back(std::move(role));
  }
  return roles;
}

void NameCaptures(std::vector<MessageToken>* tokens) {
  const char* module = "module";  // the first program in a message is the one that failed
  for (MessageToken& token : *tokens) {
    if (token.pattern != "%{name}") continue;
    token.capture = std::exchange(module, "");
    if (token.capture.empty()) token.pattern = R"([\w.]+)";
  }
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    if ((*tokens)[i].is_size) sizes.push_back(i);
  }
  std::map<std::string, double> figures;
  std::vector<std::string> roles = RolesOf(*tokens, sizes);
  const bool has_limit = std::find(roles.begin(), roles.end(), "limit_bytes") != roles.end();
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    if (roles[n] == kAvailable) roles[n] = has_limit ? "free_bytes" : "limit_bytes";
    MessageToken& size = (*tokens)[sizes[n]];
    if (!roles[n].empty() && figures.emplace(roles[n], size.bytes).second) size.capture = roles[n];
  }
  const bool agree = AreConsistent(figures);
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    MessageToken& size = (*tokens)[sizes[n]];
    const bool has_role = !size.capture.empty() && agree;
    const bool is_count = size.pattern == "%{bytes}";
    if (!has_role) size.capture = is_count ? "" : fmt::format("figure_{}", n + 1);
    if (!has_role && is_count) size.pattern = R"(\d+)";
  }
}

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxFacts = 8;
constexpr std::size_t kMaxTokens = 600;  // in a message
constexpr std::size_t kMaxHeaderTokens = 80;
constexpr std::size_t kMinLetters = 10;  // in a header pattern

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

// Offset of the message proper, after exception classes, status words, source locations and codes. Sets `tag` to a code
// such as "E1300: Name".
std::size_t MessageOffset(const std::string& text, std::string* tag) {
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
    if (!is_code && letters < kMinLetters) break;
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
  for (const HeaderPattern& head : failure.header_patterns) add(head.pattern);
  for (const Pattern& pattern : failure.facts) add(pattern);
  return facts;
}

// Tokens [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class RuleDraft {
 public:
  RuleDraft(const RuleSet& rules, const NewRuleRequest& request)
      : request_(request),
        known_(rules.FindFailure(request.code)),
        message_(fmt::format("{}", fmt::join(request.messages.at(0), "\n"))) {
    core_ = MessageOffset(message_, &tag_);
    tokens_ = CutMessage(message_);
    if (request.messages.size() > 1 && tokens_.size() <= kMaxTokens) {
      const std::vector<MessageToken> other = CutMessage(fmt::format("{}", fmt::join(request.messages[1], "\n")));
      if (other.size() <= kMaxTokens) tokens_ = MergeMessages(tokens_, other);
    }
    NameCaptures(&tokens_);
    // The generator assumes used_bytes and limit_bytes; use the names that the known failure uses instead.
    const std::set<std::string> facts = known_ != nullptr ? FactsOf(*known_) : std::set<std::string>();
    for (MessageToken& token : tokens_) {
      for (const auto& [name, other] : {std::pair("used_bytes", "request_bytes"), {"limit_bytes", "free_bytes"}}) {
        if (token.capture == name && !facts.contains(name) && facts.contains(other)) token.capture = other;
      }
    }
  }

  std::vector<NewRule> Run() {
    std::vector<NewRule> rules;
    for (const Span& span : HeaderSpans()) {
      const std::string head = PatternOf(span);
      if (Compile(head).Literals(kMinHeaderLiteral).empty()) continue;
      if (rules.empty() || rules.back().header_patterns[0].source() != head) rules.push_back(Make(span, head));
    }
    if (rules.empty())
      throw Error(fmt::format("cannot make a rule from this message: it has no {} consecutive letters to search for",
                              kMinHeaderLiteral));
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

  // Index after the sentence, or the line, that contains the token `begin`.
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
    return letters >= kMinLetters;
  }

  // Candidates for the header pattern, shortest first: one sentence, two sentences, two sentences with the text before
  // them.
  std::vector<Span> HeaderSpans() const {
    std::size_t begin = 0;
    for (std::size_t at = 0; begin < tokens_.size() && at < core_; ++begin) at += tokens_[begin].text.size();
    std::size_t end = EndOfSentence(begin);
    while (end < tokens_.size() && !IsEnough({begin, end})) end = EndOfSentence(end);
    const std::size_t more = end < tokens_.size() ? EndOfSentence(end) : end;
    std::vector<Span> spans = {{begin, end}, {begin, more}, {0, more}};
    for (Span& span : spans) span = Trimmed({span.begin, std::min(span.end, span.begin + kMaxHeaderTokens)});
    return spans;
  }

  NewRule Make(const Span& span, const std::string& head) {
    NewRule rule;
    rule.header_patterns.push_back(Compile(head));
    OrderedJson header_patterns = OrderedJson::array({{{"id", HeaderId()}, {"pattern", head}}});
    if (!tag_.empty() && known_ == nullptr) {
      const std::string pattern = "\\b" + QuoteForPattern(tag_);
      rule.header_patterns.push_back(Compile(pattern));
      header_patterns.push_back({{"id", "tag"}, {"pattern", pattern}, {"fragment", true}});
    }
    OrderedJson more = OrderedJson::array();
    for (std::size_t at = span.end; at < tokens_.size() && more.size() < kMaxFacts; at = EndOfSentence(at)) {
      const Span sentence = Trimmed({at, EndOfSentence(at)});
      const bool has_figure = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(sentence.begin),
                                          tokens_.begin() + static_cast<std::ptrdiff_t>(sentence.end),
                                          [](const MessageToken& token) { return !token.capture.empty(); });
      if (has_figure) more.push_back(PatternOf(sentence));
    }
    OrderedJson entry = known_ != nullptr ? OrderedJson{{"extends", known_->code}} : Beginning();
    entry["heads"] = std::move(header_patterns);
    if (!more.empty()) entry["facts"] = more;
    facts_ = Captured(rule.header_patterns[0], more);
    if (known_ == nullptr) AddJudgement(&entry);
    entry["examples"] = Examples(span);
    for (const Pattern& pattern : rule.header_patterns) {
      for (std::string& literal : pattern.Literals(kMinHeaderLiteral))
        rule.prefilter_literals.push_back(std::move(literal));
    }
    std::stable_sort(rule.prefilter_literals.begin(), rule.prefilter_literals.end(),
                     [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    const OrderedJson file = {{"$comment", Comment()},
                              {"format", "whyoom.rules/1"},
                              {known_ != nullptr ? "extensions" : "failures", OrderedJson::array({std::move(entry)})}};
    // The file is printed, so escape invisible characters and characters that reorder text.
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
    lines.push_back("Replace each TODO. Keep in the header pattern only the text that every such message contains.");
    if (!facts_.empty())
      lines.push_back("Check that each captured figure is what its name says; the example lists them.");
    const bool unclear = std::any_of(tokens_.begin(), tokens_.end(),
                                     [](const MessageToken& token) { return token.capture.starts_with("figure_"); });
    if (unclear)
      lines.push_back(
          "The adjacent words do not identify figure_1 (and so on): rename the capture to used_bytes, request_bytes, "
          "limit_bytes, free_bytes or excess_bytes, or remove it.");
    if (known_ == nullptr) {
      lines.push_back(
          "Add the remedies as \"remedies\": [{\"id\": \"…\", \"section\": \"…\"}]; `whyoom rules list remedies` lists "
          "them.");
    } else {
      lines.push_back(fmt::format("{} has the facts {}.", known_->code, fmt::join(FactsOf(*known_), ", ")));
    }
    lines.push_back("Then: whyoom rules check FILE; whyoom rules test FILE; whyoom --rules FILE LOG");
    return lines;
  }

  // "ours", or "ours_2" and so on if the known failure already has a header with that id.
  std::string HeaderId() const {
    if (known_ == nullptr) return "message";
    const auto is_used = [&](const std::string& id) {
      return std::any_of(known_->header_patterns.begin(), known_->header_patterns.end(),
                         [&](const HeaderPattern& head) { return head.id == id; });
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
    failure["about"] = {fmt::format("TODO: the meaning and the causes, for `whyoom explain {}`.", request_.code)};
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
    // If more is free than requested, one message does not reveal why it failed.
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
    std::string why = "TODO: what the message shows about this job, in one sentence";
    if (!need.empty()) why += fmt::format(", for example: {{{}|size}} were needed", need);
    (*failure)["identity"] = sizes;
    (*failure)["numbers"] = sizes;
    (*failure)["why"] = OrderedJson::array({{{"text", why + "."}}});
  }

  // The first half of the header's words, which must not match.
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
    const OrderedJson near = {
        {"text", NearMiss(span)},
        {"why", "TODO: replace with a similar line of a healthy job (this one is the message cut short)"}};
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

// Removes the frames of a traceback: keeps the exception, which is the next line that is not indented.
void RemoveTraceback(std::vector<std::string>* lines) {
  const auto is_frame = [](const std::string& line) {
    return line.starts_with("Traceback (most recent") || line.starts_with(' ') || line.starts_with('\t');
  };
  const auto exception = std::find_if_not(lines->begin(), lines->end(), is_frame);
  if (exception != lines->end()) lines->erase(lines->begin(), exception);
}

}  // namespace

std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request) {
  NewRuleRequest cleaned = request;
  for (std::vector<std::string>& message : cleaned.messages) {
    std::erase_if(message,
                  [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; });
    RemoveTraceback(&message);
  }
  std::erase_if(cleaned.messages, [](const std::vector<std::string>& message) { return message.empty(); });
  if (cleaned.messages.empty()) throw Error("no message to recognise");
  return RuleDraft(rules, cleaned).Run();
}

}  // namespace whyoom
