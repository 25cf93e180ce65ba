#define PCRE2_CODE_UNIT_WIDTH 8
#include "rules/tiered_regex.h"

#include <pcre2.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace whyoom {
namespace {

// Backtracking steps of one search, about a millisecond.
constexpr std::uint32_t kMostSteps = 20'000;
// Every search costs this many bytes, so that many searches of short texts reach the limit, too.
constexpr std::int64_t kSearch = 64;

// Copies the character class at the start of `regex` to `to` and returns its length; 0 if the engines may differ.
std::size_t CopyClass(std::string_view regex, std::string* to) {
  std::size_t at = regex.substr(1).starts_with("^") ? 2 : 1;
  if (regex.substr(at).starts_with("]")) ++at;
  to->append(regex.substr(0, at));
  while (at < regex.size() && regex[at] != ']') {
    const std::string_view rest = regex.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("[:")) length = rest.find(":]") + 2;
    if (rest[0] == '\\') length = 2;
    if (length > rest.size() || rest.starts_with("\\S") || (length == 2 && rest.find_first_of("pPCv123456789") == 1))
      return 0;
    to->append(rest.starts_with("\\s") ? std::string_view("\\t\\n\\f\\r ") : rest.substr(0, length));
    at += length;
  }
  to->append("]");
  return at + 1;
}

// The expression as PCRE2 reads it, whose \s includes a vertical tab; nullopt if the engines may differ.
std::optional<std::string> ForPcre2(std::string_view regex) {
  std::string translated;
  for (std::size_t at = 0; at < regex.size();) {
    const std::string_view rest = regex.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("{,")) return std::nullopt;
    if (rest[0] == '[') {
      length = CopyClass(rest, &translated);
      if (length == 0) return std::nullopt;
    } else if (rest[0] == '\\') {
      length = 2;
      if (rest.size() < length || rest.find_first_of("pPCvQ123456789") == 1) return std::nullopt;
      if (rest[1] == 's' || rest[1] == 'S') {
        translated += rest[1] == 's' ? "[\\t\\n\\f\\r ]" : "[^\\t\\n\\f\\r ]";
      } else {
        translated += rest.substr(0, length);
      }
    } else {
      translated += rest[0];
    }
    at += length;
  }
  return translated;
}

// A thread's memory for its searches.
struct Matching {
  static constexpr std::uint32_t kMostGroups = 64;
  pcre2_match_data* const data = pcre2_match_data_create(kMostGroups, nullptr);
  pcre2_match_context* const context = pcre2_match_context_create(nullptr);

  Matching() { pcre2_set_match_limit(context, kMostSteps); }
  ~Matching() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

pcre2_code* Compile(std::string_view regex) {
  const std::optional<std::string> translated = ForPcre2(regex);
  if (!translated) return nullptr;
  pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  // As RE2, PCRE2 reads characters if the expression contains any beyond ASCII, else bytes, see RegexOptions.
  const bool is_utf8 = std::any_of(regex.begin(), regex.end(), [](char c) { return (c & 0x80) != 0; });
  int error = 0;
  std::size_t at = 0;
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
                                         PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX | PCRE2_USE_OFFSET_LIMIT |
                                             (is_utf8 ? PCRE2_UTF | PCRE2_MATCH_INVALID_UTF : 0),
                                         &error, &at, context);
  pcre2_compile_context_free(context);
  return code;
}

}  // namespace

TieredRegex::TieredRegex(std::string regex, Engines engines)
    : source_(std::move(regex)), pcre2_bytes_(engines == Engines::kBoth ? kFirstBytes : 0) {}

TieredRegex::~TieredRegex() { pcre2_code_free(pcre2_); }

TieredRegex::Answer TieredRegex::FindByPcre2(std::string_view text, std::size_t from, std::size_t before,
                                             std::vector<re2::StringPiece>* groups) {
  thread_local const Matching matching;
  std::call_once(compiled_, [this] { pcre2_ = Compile(source_); });
  if (pcre2_ == nullptr || groups->size() > Matching::kMostGroups) return Answer::kUnknown;
  pcre2_set_offset_limit(matching.context, std::min(before - 1, text.size()));
  const int found = pcre2_match(pcre2_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, 0, matching.data,
                                matching.context);
  if (found == PCRE2_ERROR_NOMATCH) return Answer::kNo;
  if (found < 0) return Answer::kUnknown;
  const std::size_t* const offsets = pcre2_get_ovector_pointer(matching.data);
  const std::size_t count = found == 0 ? Matching::kMostGroups : static_cast<std::size_t>(found);
  for (std::size_t i = 0; i < groups->size(); ++i) {
    const bool is_set = i < count && offsets[2 * i] != PCRE2_UNSET;
    (*groups)[i] = is_set ? re2::StringPiece(text.data() + offsets[2 * i], offsets[2 * i + 1] - offsets[2 * i])
                          : re2::StringPiece();
  }
  return Answer::kYes;
}

bool TieredRegex::Find(std::string_view text, std::size_t from, std::size_t before,
                       std::vector<re2::StringPiece>* groups) {
  if (from >= before || from > text.size()) return false;
  const auto cost = static_cast<std::int64_t>(text.size() - from) + kSearch;
  if (pcre2_bytes_.fetch_sub(cost, std::memory_order_relaxed) >= cost) {
    const Answer answer = FindByPcre2(text, from, before, groups);
    if (answer != Answer::kUnknown) return answer == Answer::kYes;
    pcre2_bytes_ = 0;
  }
  if (before < text.size()) {
    // First without the groups, whose extraction is slow.
    re2::StringPiece whole;
    if (!re2().Match(text, from, text.size(), re2::RE2::UNANCHORED, &whole, 1)) return false;
    if (static_cast<std::size_t>(whole.data() - text.data()) >= before) return false;
  }
  return re2().Match(text, from, text.size(), re2::RE2::UNANCHORED, groups->data(), static_cast<int>(groups->size()));
}

}  // namespace whyoom
