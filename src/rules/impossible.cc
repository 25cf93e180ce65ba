#include "rules/impossible.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "rules/pattern_tree.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool MatchesAll(const std::string& pattern, const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 expression(pattern, options);
  return !expression.ok() || re2::RE2::FullMatch(text, expression);  // what RE2 refuses is told elsewhere
}

// Whether a class holds no character at all. Only those are looked at that exclude a class and its contrary.
bool IsEmptyClass(const std::string& pattern) {
  constexpr std::string_view kWide[] = {"\\S", "\\W", "\\D", "\\x00", "[:^", "\\P"};
  bool may_be = false;
  for (const std::string_view wide : kWide) may_be = may_be || pattern.find(wide) != std::string::npos;
  if (!pattern.starts_with("[^") || !may_be) return false;
  static const std::string every = [] {
    std::string text;
    for (char32_t code = 0; code <= 0x10FFFF; ++code) {
      if (code < 0xD800 || code > 0xDFFF) AppendUtf8(code, &text);
    }
    return text;
  }();
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 expression(pattern, options);
  return expression.ok() && !re2::RE2::PartialMatch(every, expression);
}

// Goes through a pattern by its grammar, as far as is needed to tell what must be matched.
class Search {
 public:
  explicit Search(std::string_view pattern) : pattern_(pattern) {}

  std::optional<SyntaxFault> Run() { return Alternatives(); }

 private:
  // Those of a group, or of all: impossible where each of them is. Gives the first one's fault.
  std::optional<SyntaxFault> Alternatives() {
    std::optional<SyntaxFault> first;
    bool all = true;
    while (true) {
      const std::optional<SyntaxFault> fault = Sequence();
      all = all && fault.has_value();
      if (!first) first = fault;
      if (at_ >= pattern_.size() || pattern_[at_] != '|') break;
      ++at_;
    }
    return all ? first : std::nullopt;
  }

  std::optional<SyntaxFault> Sequence() {
    std::optional<SyntaxFault> fault;
    Neighbours run;
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      const std::size_t begin = at_;
      Atom atom = Next();
      const bool optional = Quantifier();
      const std::string_view text = pattern_.substr(begin, at_ - begin);
      if (!optional && atom.fault && !fault) fault = atom.fault;
      if (atom.is_assertion && !optional) {
        run.Add(text, "", begin);
      } else if (!atom.sample.empty() && !optional) {
        run.Add(text, atom.sample, begin);
      } else {
        if (!fault) fault = run.Judge();
        run = Neighbours();
      }
    }
    if (!fault) fault = run.Judge();
    return fault;
  }

  struct Atom {
    std::string sample;         // the one text that it matches, as far as its neighbours can tell; empty: many
    bool is_assertion = false;  // it matches no character, only between some
    std::optional<SyntaxFault> fault;
  };

  // Characters that follow each other, with what is said between them.
  struct Neighbours {
    std::string pattern;
    std::string sample;
    std::string pending;      // assertions behind the last character, which what follows decides
    std::string begins_text;  // those of them that no character may stand before
    std::optional<std::size_t> asserted_at;

    void Add(std::string_view text, const std::string& character, std::size_t at) {
      if (character.empty()) {
        const bool ends_text = text == "$" || text == "\\z";
        if (sample.empty() && !ends_text) return;  // what stands before it decides, too
        pending += text;
        if (text == "^" || text == "\\A") begins_text += text;
        if (!asserted_at) asserted_at = at;
        return;
      }
      pattern += pending;
      pending.clear();
      begins_text.clear();
      pattern += text == " " ? "\\s+" : std::string(text);
      sample += character;
    }

    std::optional<SyntaxFault> Judge() const {
      if (!asserted_at || sample.empty() || MatchesAll("(?:" + pattern + begins_text + ")", sample))
        return std::nullopt;
      return SyntaxFault{*asserted_at, "no text can match this: what must stand on both sides of it contradicts it",
                         "\\b stands between a letter, digit or _ and anything else, ^ and \\A at the begin of the "
                         "text, $ and \\z at its end"};
    }
  };

  Atom Next() {
    const std::string_view rest = pattern_.substr(at_);
    const char c = rest[0];
    Atom atom;
    if (c == '(') {
      ++at_;
      return Group();
    }
    if (c == '[') {
      const std::size_t end = ClassLength(rest);
      const std::size_t begin = at_;
      at_ += end;
      if (IsEmptyClass(std::string(rest.substr(0, end))))
        atom.fault = SyntaxFault{begin, "no character is in this class", "it excludes all that there are"};
      return atom;
    }
    if (rest.starts_with("%{")) {
      at_ = std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1;
      return atom;
    }
    if (rest.starts_with("\\Q")) {  // rare: what it holds is not judged
      const std::size_t end = pattern_.find("\\E", at_);
      at_ = end == std::string_view::npos ? pattern_.size() : end + 2;
      return atom;
    }
    if (c == '\\') return Escape(rest);
    at_ += DecodeUtf8(pattern_, at_).length;
    atom.is_assertion = (c == '^' || c == '$') && !multi_line_;
    if (c == '^' || c == '$' || c == '.') return atom;
    if (static_cast<unsigned char>(c) >= 0x80) return atom;
    atom.sample = c;
    if (c == ' ') at_ = std::min(pattern_.find_first_not_of(' ', at_), pattern_.size());
    return atom;
  }

  Atom Escape(std::string_view rest) {
    Atom atom;
    const char c = rest.size() > 1 ? rest[1] : '\\';
    at_ += std::min<std::size_t>(2, rest.size());
    if (c == 'b' || c == 'B' || c == 'A' || c == 'z') atom.is_assertion = true;
    if (c == 'd') atom.sample = "0";
    if (c == 'w') atom.sample = "a";
    if (c == 's') atom.sample = " ";
    if (c == 'n') atom.sample = "\n";
    if (c == 't') atom.sample = "\t";
    constexpr std::string_view kMarks = "\\.^$|?*+()[]{}%'\"`/-,:;=<>#&!@~_ ";
    if (kMarks.find(c) != std::string_view::npos) atom.sample = c;
    if (c == 'x' || c == 'p' || c == 'P') {
      // \x1b, \x{10FFFF}, \pL, \p{Greek}
      if (at_ < pattern_.size() && pattern_[at_] == '{') {
        at_ = std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1;
      } else {
        at_ = std::min(pattern_.size(), at_ + (c == 'x' ? 2 : 1));
      }
    }
    if (c >= '0' && c <= '9') at_ = std::min(pattern_.find_first_not_of("01234567", at_), pattern_.size());
    return atom;
  }

  Atom Group() {
    Atom atom;
    const bool multi_line = multi_line_;
    const std::string_view rest = pattern_.substr(at_);
    if (rest.starts_with("?P<") || rest.starts_with("?<")) {
      at_ = std::min(pattern_.find('>', at_), pattern_.size() - 1) + 1;
    } else if (rest.starts_with("?")) {
      const std::size_t end = std::min(pattern_.find_first_of(":)", at_), pattern_.size());
      const std::string_view flags = pattern_.substr(at_ + 1, end - at_ - 1);
      const bool sets = flags.substr(0, flags.find('-')).find('m') != std::string_view::npos;
      multi_line_ = multi_line_ || sets;  // taken back by none: what is not certain is no fault
      at_ = std::min(end + 1, pattern_.size());
      if (end < pattern_.size() && pattern_[end] == ')') return atom;  // flags alone, for what follows
    }
    atom.fault = Alternatives();
    if (at_ < pattern_.size()) ++at_;
    multi_line_ = multi_line;
    return atom;
  }

  // Passes over what says how often; whether that may be never.
  bool Quantifier() {
    bool optional = false;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '*' || c == '?') optional = true;
      if (c == '*' || c == '?' || c == '+') {
        ++at_;
        if (at_ < pattern_.size() && pattern_[at_] == '?') ++at_;
        continue;
      }
      const bool counts = c == '{' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] >= '0' && pattern_[at_ + 1] <= '9';
      if (!counts) break;
      optional = true;  // how many there are is not asked for
      at_ = std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1;
    }
    return optional;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool multi_line_ = false;
};

}  // namespace

std::optional<SyntaxFault> ImpossiblePart(std::string_view pattern) { return Search(pattern).Run(); }

}  // namespace whyoom
