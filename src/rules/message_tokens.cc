#include "rules/message_tokens.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "text/quantity.h"

namespace whyoom {
namespace {

using re2::RE2;

// What differs from run to run, in order of precedence: the first that matches at a place is taken.
struct Kind {
  enum class As { kText, kPattern, kNumbered, kSize };  // kNumbered: its letters, and any number
  const char* matches;                                  // at the place
  As as = As::kText;                                    // what the rule's pattern has there
  const char* pattern = "";                             // of kPattern and kSize
};
constexpr std::array kKinds = {
    Kind{R"(\d[\d,]*(?:\.\d+)?\s?(?:[KMGTPE](?:i?B)?|[Bb]ytes|B)\b)", Kind::As::kSize, "%{size}"},
    Kind{R"(\bp?jit_\w+(?:\.\w+)*)", Kind::As::kPattern, "%{name}"},
    Kind{R"([a-z]+\d*\[[\d,]*\](?:\{[^}\s]*\})?)", Kind::As::kPattern, R"(\w+\[[\d,]*\]\S*)"},  // f32[8,128]{1,0}
    Kind{R"(['"][^'"]{1,200}['"])", Kind::As::kPattern, R"(\W{1,3}[^'"]{1,200}?\W{1,3})"},      // escaped quotes, too
    Kind{R"([a-z]+://\S+)", Kind::As::kPattern, R"(\S+)"},                                      // an address
    Kind{R"((?:[A-Za-z]:)?[\w.~-]*[/\\][\w./\\~+@:-]*\w)", Kind::As::kPattern, R"(\S+)"},       // a path
    Kind{R"(\b0x[0-9a-fA-F]\w*)", Kind::As::kPattern, R"(\w+)"},                                // an address in memory
    Kind{R"(\b[A-Z]\d{4}\b)"},                                                               // E1300 names the failure
    Kind{R"(\b[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,12})+\b)", Kind::As::kPattern, R"([\w-]+)"},  // an id
    Kind{R"(\b[\w-]*\d[\w-]*(?:\.[\w-]+)+\b|\b[\w-]+(?:\.[\w-]*\d[\w-]*)+\b)", Kind::As::kPattern,
         R"([\w.-]+)"},                                 // a host, a version
    Kind{R"([A-Za-z]{3,}\d+\b)", Kind::As::kNumbered},  // rank17
    Kind{R"(\d+\.\d+\b)", Kind::As::kPattern, R"([\d.]+)"},
    Kind{R"(\d{7,18}\b)", Kind::As::kSize, "%{bytes}"},  // a number of bytes, if the words next to it say so
    Kind{R"(\d+\b)", Kind::As::kPattern, R"(\d+)"},
    Kind{R"([A-Za-z_]\w*(?:\.\w+)*)"},
    Kind{R"(\s+)", Kind::As::kPattern, R"(\s+)"},
    Kind{R"(\*\*\*)", Kind::As::kPattern, R"(\S+)"},  // a secret that is masked
};

const RE2& Compiled(std::size_t kind) {
  static const std::vector<std::unique_ptr<RE2>> all = [] {
    std::vector<std::unique_ptr<RE2>> compiled;
    for (const Kind& each : kKinds) compiled.push_back(std::make_unique<RE2>(each.matches));
    return compiled;
  }();
  return *all[kind];
}

// "weights" of key=weights, up to the next separator.
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
      token.bytes = static_cast<double>(ParseSize(text).value_or(std::atoll(text.c_str())));
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
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (!value.empty() && kKinds[kind].as != Kind::As::kSize) break;
    re2::StringPiece match;
    if (!Compiled(kind).Match(whole, at, text.size(), RE2::ANCHOR_START, &match, 1)) continue;
    std::string found(match.data(), match.size());
    if (is_quote && found.find("jit_") != found.npos) break;  // the program is a token of its own
    if (found == " ") return TokenOf({"", Kind::As::kText}, std::move(found));
    return TokenOf(kKinds[kind], std::move(found));
  }
  if (!value.empty()) return TokenOf({"", Kind::As::kPattern, R"([^\s,;)\]}]+)"}, std::string(value));
  std::size_t end = at + 1;  // any other character is itself; one of UTF-8 with all its bytes
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  const std::string character(text.substr(at, end - at));
  // A log may hold quotes and backslashes escaped.
  if (is_quote || text[at] == '\\') return TokenOf({"", Kind::As::kPattern, R"(\W{1,3})"}, character);
  return TokenOf({""}, character);
}

// What a size is, by the words before it (up to the size before) and behind it (up to the next).
struct RoleWords {
  const char* fact;
  const char* before;
  const char* behind;
};
constexpr std::array kRoles = {
    RoleWords{"excess_bytes",
              R"((?i)\b(?:exceed(?:s|ed)?(?: \w+)* by|over by|short(?:age)?(?: of| by)?|too much:?)\W*$)",
              R"((?i)^\W*(?:\w+ )?(?:over|too much|too large|short|missing)\b)"},
    RoleWords{"request_bytes", R"((?i)\b(?:allocat\w*|request\w*|asked for|reserve)(?: \w+)?\W*$)",
              R"((?i)^\W*(?:were |was )?(?:requested|asked for)\b)"},
    RoleWords{"used_bytes", R"((?i)\b(?:used?|uses|needs?|needed|requires?|wants?|wanted|takes)(?: \w+)?\W*$)",
              R"((?i)^\W*(?:are |is |were )?(?:used|needed|required|in use)\b)"},
    RoleWords{"free_bytes", R"((?i)\b(?:free|left|remaining)(?: \w+)?\W*$)",
              R"((?i)^\W*(?:are |is )?(?:free|left|remaining)\b)"},
    RoleWords{"limit_bytes", R"((?i)\b(?:limit|capacity|budget|usable|available|offers|has)(?: \w+)?\W*$)",
              R"((?i)^\W*(?:limit|capacity|budget|(?:is |are )?(?:usable|available))\b)"},
};

std::string RoleOf(const std::string& before, const std::string& behind, bool behind_used) {
  // "used 3.00G of 2.00G".
  if (behind_used && before == " of ") return "limit_bytes";
  for (const bool is_before : {true, false}) {
    for (const auto& role : kRoles) {
      if (RE2::PartialMatch(is_before ? before : behind, is_before ? role.before : role.behind)) return role.fact;
    }
  }
  return {};
}

// Whether what is needed, what there is and what is too much agree to within the rounding of printed sizes.
bool Agree(const std::map<std::string, double>& figures) {
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

}  // namespace

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
  // The longest common subsequence of the patterns; lengths[i][j] is that of one[i…] and other[j…].
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

void NameCaptures(std::vector<MessageToken>* tokens) {
  const char* module = "module";  // the first program is the one that failed
  for (MessageToken& token : *tokens) {
    if (token.pattern != "%{name}") continue;
    token.capture = std::exchange(module, "");
    if (token.capture.empty()) token.pattern = R"([\w.]+)";
  }
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    if ((*tokens)[i].is_size) sizes.push_back(i);
  }
  const auto between = [&](std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += (*tokens)[i].text;
    return text;
  };
  std::map<std::string, double> figures;
  std::string last;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    MessageToken& size = (*tokens)[sizes[n]];
    const std::string before = between(n == 0 ? 0 : sizes[n - 1] + 1, sizes[n]);
    const std::string behind = between(sizes[n] + 1, n + 1 < sizes.size() ? sizes[n + 1] : tokens->size());
    last = RoleOf(before, behind, last == "used_bytes");
    if (!last.empty() && figures.emplace(last, size.bytes).second) size.capture = last;
  }
  const bool agree = Agree(figures);
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    MessageToken& size = (*tokens)[sizes[n]];
    const bool has_role = !size.capture.empty() && agree;
    const bool is_count = size.pattern == "%{bytes}";
    if (!has_role) size.capture = is_count ? "" : fmt::format("figure_{}", n + 1);
    if (!has_role && is_count) size.pattern = R"(\d+)";
  }
}

}  // namespace whyoom
