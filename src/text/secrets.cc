#include "text/secrets.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <iterator>
#include <optional>

#include "text/byte_class.h"
#include "text/numbers.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A text that does not match this contains no secret. Most texts then need none of the expressions below.
constexpr std::string_view kHint =
    R"((?i)pass|pwd|secret|token|key|credential|auth|cookie|session|bearer|private|://|[?&]sig|gh[a-z]_|github_pat_)"
    R"(|hf_|[sr]k[-_]|akia|asia|aiza|ya29\.|xox|xapp-|gl[a-z]{2,5}-|eyj|wandb_v1_|npm_|pypi-|dckr_pat_|dapi|sg\.|gsk_)"
    R"(|nvapi-|hvs\.|gocspx-|hooks\.slack|signature| -u| --user|log_?in)";
// A text of so many characters of Base64 may be a key.
constexpr int kShortestKey = 60;
constexpr ByteClass kBase64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

// Group 1 is the secret.
constexpr std::string_view kForms[] = {
    // Tokens of a known form, as the services and secret scanners document them (docs.github.com, "Supported secret
    // scanning patterns"; gitleaks' default rules).
    R"(\b(gh[oprsu]_[A-Za-z0-9]{10,}|github_pat_\w{10,})"                           // GitHub
    R"(|gl(?:pat|ptt|dt|rt|rtr|cbt|soat|ft|imt|agent)-[\w-]{10,})"                  // GitLab
    R"(|hf_[A-Za-z]{30,})"                                                          // Hugging Face; without digits
    R"(|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,})"                                      // AWS access key ids
    R"(|AIza[\w-]{20,}|ya29\.[\w.-]{10,}|GOCSPX-[\w-]{10,})"                        // Google
    R"(|xox[abeoprs]-[\w-]{8,}|xapp-[\w-]{10,}|hooks\.slack\.com/services/[\w/]+)"  // Slack
    R"(|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3})"                                  // JSON web tokens
    R"(|wandb_v1_\w{10,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dckr_pat_[\w-]{20,}|dapi[0-9a-f]{32})"
    R"(|[sr]k_(?:live|test)_\w{10,}|SG\.[\w-]{16,}\.[\w-]{16,}|gsk_\w{30,}|nvapi-[\w-]{30,}|hvs\.[\w-]{20,}))",
    // Private keys in PEM (RFC 7468), passwords in URLs (RFC 3986), and signatures of signed URLs (Google Cloud
    // Storage, AWS, Azure).
    R"((?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END|\z))",
    R"(://[^\s/?#@:'"<>]*:([^\s/?#'"<>]+)@)",
    R"((?i)[?&;](?:amp;)?(?:sig|signature|awsaccesskeyid|x-(?:goog|amz)-(?:signature|credential|security-token))=)"
    R"(([^&\s'"<>#]+))",
    R"((?i)\blogin\s+\S+\s+password\s+(\S+))",  // .netrc
    R"(\bsshpass\s+-p\s*(\S+))",
    R"(\bcurl\b.*?\s(?:-u|--user)[\s=]*['"]?[^\s:'"]+:([^\s'"]+))",
    // Arguments of calls in code: login(…, key="…"), HTTPBasicAuth("user", "…"), auth=("user", "…").
    R"((?i)\blog_?in\([^)\n]*?\bkey\s*=\s*['"]([^'"\n]+))",
    R"((?i)auth\s*[=(]\s*\(?\s*['"][^'"\n]*['"]\s*,\s*['"]([^'"\n]+))",
    R"((?i)\blog_?in\(\s*['"][^'"\n]*['"]\s*,\s*['"]([^'"\n]+))",
    // A variable of a Kubernetes container: {"name": "HF_TOKEN", "value": "…"}.
    R"((?i)\bname['"]?\s*[:=]\s*['"]?[\w.-]*(?:token|secret|passw(?:or)?d|(?:api|access)_?key|credentials?)[\w.-]*['"]?)"
    R"([\s,]*['"]?\bvalue['"]?\s*[:=]\s*['"]?([^\s'",}]+))",
};

// Like kForms, but the value must also look random: "sk-learn" and "hf_model" are not secrets.
constexpr std::string_view kMixedForms[] = {
    R"(\b(hf_[A-Za-z0-9]{10,}|sk-[\w-]{12,}))",
    R"(://([^\s/?#@:'"<>]{10,})@)",
    R"((?i)\bbearer\s+([\w.~+/=-]{8,}))",
    R"((?i)[?&](?:amp;)?key=([^&\s'"<>#]{16,}))",
    R"((?i)\blog_?in\(\s*['"]([\w.-]{16,})['"])",
    R"((?m)^\s*['"]?([A-Za-z0-9+/=]{64}|[A-Za-z0-9+/=]{76})(?:\\n)?['"]?,?$)",  // one line of a private key in PEM
};

// A name that contains a word for a secret. Groups: the text before the word, the word, the text after it.
constexpr std::string_view kName =
    R"((?i)([\w.-]*)((?:api|access|secret|private|session|account|auth|encryption|signing|license|shared|master|storage)"
    R"(|ssh|deploy|webhook|consumer)[ _-]?keys?(?:[_-]?id)?|session[_-]?id|passphrase|passwords?|passwd|pwd|secrets?)"
    R"(|(?:db|user|root|admin|smtp|redis|mysql|pg|sql)[_-]?pass|shared[_-]?access[_-]?signature)"
    R"(|token|credentials?|authorization|auth|cookies?)([\w.-]*))";

// Text before "token" in names about text and arrays: "eos_token", "tokens per token".
constexpr std::string_view kTokenOfText =
    R"((?i)(?:^|.*[_.-])(?:pad|eos|bos|unk|sep|cls|mask|stop|start|end|next|prev|previous|last|first|per|max|min|num|n)"
    R"(|image|audio|video|vision|special|new|prompt|input|output|decode|decoded|generated|draft|extra|current|each)"
    R"(|every|one|target|label|by|after-all|runtime|out|in)[_.-]?)";

bool IsBlankOrTab(char c) { return c == ' ' || c == '\t'; }
bool IsQuoteMark(char c) { return c == '"' || c == '\'' || c == '`'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool Matches(std::string_view text, const Regex& regex) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), regex);
}

// Whether the value mixes lower case, upper case or digits, as generated values do.
bool IsMixed(std::string_view value) {
  const auto has = [&](auto is) { return std::any_of(value.begin(), value.end(), is); };
  const int kinds = static_cast<int>(has([](unsigned char c) { return std::islower(c) != 0; })) +
                    static_cast<int>(has([](unsigned char c) { return std::isupper(c) != 0; })) +
                    static_cast<int>(has([](unsigned char c) { return std::isdigit(c) != 0; }));
  return kinds >= 2;
}

// Whether a value may be a secret although its name is not conclusive.
bool LooksRandom(std::string_view value, std::size_t least) {
  static const Regex plain(R"([\w+/=.~:@!#$^*-]+)");
  static const Regex measure(R"([+-]?[\d.,]+(?:e[+-]?\d+)?[a-zA-Z%/]{0,5})");
  static const Regex capitalized(R"([A-Z]?[a-z]+)");
  return value.size() >= least && IsMixed(value) && Matches(value, plain) && !Matches(value, measure) &&
         !Matches(value, capitalized);
}

// Maximum number of bytes of a value to inspect, which bounds the time for many long values.
constexpr std::size_t kInspectedBytes = 1024;
constexpr std::size_t kMaxBackslashes = 32;

// Whether the value is a mask, or one that was truncated: "**…".
bool IsMasked(std::string_view value) {
  const std::size_t behind = std::min(value.find_first_not_of('*'), value.size());
  return value.starts_with(kMasked) || behind == value.size() || (behind > 0 && value.substr(behind) == "…");
}

// The separator between a name and its value: "=", ": ", "\": \""; for an option also a blank, for a list "', '".
struct ValueSeparator {
  std::size_t end = 0;     // offset of the value
  std::string_view quote;  // the value's opening quote, with preceding backslashes
  bool tight = false;      // "=" without blanks
  bool option = false;     // the name is an option, such as --token
  bool scheme = false;     // the value follows "Bearer " or the like
};

class SecretValues {
 public:
  explicit SecretValues(std::string_view text) : text_(text) {}

  void Find(std::vector<TextRange>* secrets) {
    static const Regex name(kName);
    const re2::StringPiece subject(text_.data(), text_.size());
    re2::StringPiece groups[4];
    for (std::size_t at = 0;
         at < text_.size() && name.Match(subject, at, text_.size(), re2::RE2::UNANCHORED, groups, 4);) {
      const auto begin = static_cast<std::size_t>(groups[0].data() - text_.data());
      const std::size_t end = begin + groups[0].size();
      before_ = {groups[1].data(), groups[1].size()};
      word_ = LowerAscii({groups[2].data(), groups[2].size()});
      behind_ = {groups[3].data(), groups[3].size()};
      at = end;
      const std::optional<ValueSeparator> joint = IsName() ? SeparatorAt(end) : std::nullopt;
      if (!joint) continue;
      TextRange value = ValueAt(*joint, kInspectedBytes);
      at = std::max(at, joint->end);
      if (!IsSecret(text_.substr(value.begin, value.end - value.begin), *joint)) continue;
      value = ValueAt(*joint, text_.size());
      secrets->push_back(value);
      at = value.end;
    }
  }

 private:
  // Whether the word is a complete part of the name: "secret_name", "apiKeyId", but not "tokens", "author".
  bool IsName() const {
    if (behind_.empty() || behind_.front() == '_' || behind_.front() == '-' || behind_.front() == '.') return true;
    return IsDigit(behind_.front()) || std::isupper(static_cast<unsigned char>(behind_.front())) != 0;
  }

  // Whether the name denotes the secret itself rather than something about it: "token_2", not "token_embedding".
  bool IsWhole() const {
    return std::all_of(behind_.begin(), behind_.end(), [](char c) { return !IsLetter(c); });
  }
  bool IsStrong() const { return word_ != "token" && !IsOfLogin(); }
  bool IsOfLogin() const {
    return word_.starts_with("auth") || word_.starts_with("cookie") || word_.starts_with("credential") ||
           word_.starts_with("session");
  }

  std::size_t PastBlanks(std::size_t at) const {
    while (at < text_.size() && IsBlankOrTab(text_[at])) ++at;
    return at;
  }

  // The quote at `at` with the backslashes before it; empty if there is none.
  std::string_view QuoteAt(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && text_[end] == '\\' && end - at < kMaxBackslashes) ++end;
    return end < text_.size() && IsQuoteMark(text_[end]) ? text_.substr(at, end + 1 - at) : std::string_view();
  }

  // Length of a JSON-escaped or full-width equals sign at `at`; 0 if there is none.
  std::size_t OtherEqualsSign(std::size_t at) const {
    for (const std::string_view sign : {"\\u003d", "\\u003D", "＝"}) {
      if (text_.substr(at).starts_with(sign)) return sign.size();
    }
    return 0;
  }

  std::optional<ValueSeparator> SeparatorAt(std::size_t at) const {
    ValueSeparator joint;
    joint.option = before_.starts_with('-');
    const std::size_t closed = at + QuoteAt(at).size();
    std::size_t next = PastBlanks(closed);
    char c = next < text_.size() ? text_[next] : '\0';
    if (const std::size_t other = OtherEqualsSign(next); other > 0) {
      c = '=';
      next += other - 1;
    }
    if (c == '(' && !QuoteAt(next + 1).empty()) {  // set_password("…")
      ++next;
    } else if (c == '=' || c == ':') {
      ++next;
      if (c == ':' && next < text_.size() && text_[next] == '=') ++next;
      if (c == '=' && next < text_.size() && text_[next] == '>') ++next;
      if (next < text_.size() && (text_[next] == c || text_[next] == '~')) return std::nullopt;  // "::", "=="
      joint.tight = c == '=' && next == closed + 1 && next < text_.size() && !IsBlankOrTab(text_[next]);
    } else if (c == ',' && closed > at && (joint.option || word_ == "authorization")) {
      ++next;
    } else if (!joint.option || next == closed) {
      return std::nullopt;
    }
    next = PastBlanks(next);
    if (next + 1 < text_.size() && IsLetter(text_[next]) && !QuoteAt(next + 1).empty()) ++next;  // b'…'
    joint.quote = QuoteAt(next);
    joint.end = PastScheme(next + joint.quote.size());
    joint.scheme = joint.end > next + joint.quote.size();
    return joint;
  }

  // Offset after "Bearer " and the like.
  std::size_t PastScheme(std::size_t at) const {
    static const Regex scheme(R"((?i)(?:bearer|basic|token|digest|negotiate|apikey|key)\s+)");
    re2::StringPiece rest(text_.data() + at, text_.size() - at);
    return IsOfLogin() && re2::RE2::Consume(&rest, scheme) ? text_.size() - rest.size() : at;
  }

  // The value's range, limited to `most` bytes.
  TextRange ValueAt(const ValueSeparator& joint, std::size_t most) const {
    const std::string_view text = text_.substr(0, most < text_.size() - joint.end ? joint.end + most : text_.size());
    if (!joint.quote.empty()) return {joint.end, EndOfQuoted(text, joint)};
    std::size_t end = joint.end;
    if (word_.starts_with("cookie")) return {joint.end, std::min(text.find_first_of("\"'\n", end), text.size())};
    const bool in_url = before_.data() > text_.data() && (before_.data()[-1] == '?' || before_.data()[-1] == '&');
    while (end < text.size() && !EndsValue(end, in_url)) ++end;
    while (end > joint.end && std::string_view(",.;:)]}").find(text[end - 1]) != std::string_view::npos) --end;
    return {joint.end, end};
  }

  static std::size_t EndOfQuoted(std::string_view text, const ValueSeparator& joint) {
    if (joint.quote.size() > 1) return std::min(text.find(joint.quote, joint.end), text.size());
    std::size_t end = joint.end;
    while (end < text.size() && text[end] != joint.quote.back()) end += text[end] == '\\' ? 2 : 1;
    return std::min(end, text.size());
  }

  bool EndsValue(std::size_t at, bool in_url) const {
    const char c = text_[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || IsQuoteMark(c) || c == ';') return true;
    if (c == '&' || c == '#') return in_url;
    if (c == '\\') return !QuoteAt(at).empty() || text_.substr(at, 2) == "\\n";
    if (c != ',') return false;
    // A comma ends the value if another name follows.
    static const Regex name(R"(\s*(?:$|["'{\[]|[A-Za-z_][\w.-]*\s*[=:]|\s))");
    re2::StringPiece rest(text_.data() + at + 1, text_.size() - at - 1);
    return re2::RE2::Consume(&rest, name);
  }

  bool IsSecret(std::string_view value, const ValueSeparator& joint) const {
    if (value.empty() || IsMasked(value) || IsEmptyWord(value) || IsReference(value, joint)) return false;
    if (joint.option && value.starts_with("--")) return false;
    if (!IsWhole()) return LooksRandom(value, 16) && value.find('.') == std::string_view::npos;
    static const Regex of_text(kTokenOfText);
    if (word_ == "token" && Matches(before_, of_text)) return false;
    if (IsPath(value)) return false;
    if (std::all_of(value.begin(), value.end(), IsDigit)) {
      if (word_.starts_with("pass") || word_ == "pwd") return true;
      return value.size() >= (IsStrong() ? 6 : 12);
    }
    if (joint.option || joint.scheme || (joint.tight && IsUpperName())) return true;
    if (IsCode(value, joint)) return false;
    if (word_.starts_with("cookie") && value.find('=') != std::string_view::npos) return true;
    const bool in_prose = word_.starts_with("secret") && joint.quote.empty() && !joint.tight;
    const bool is_plain_word = IsOfLogin() || ((word_ == "token" || in_prose) && IsBareName());
    return !is_plain_word || LooksRandom(value, 6) || IsLongWord(value);
  }

  bool IsBareName() const { return before_.find_first_not_of("-_.") == std::string_view::npos; }
  bool IsUpperName() const {
    const auto is_lower = [](unsigned char c) { return std::islower(c) != 0; };
    const char first = text_[static_cast<std::size_t>(before_.data() - text_.data()) + before_.size()];
    return std::none_of(before_.begin(), before_.end(), is_lower) &&
           std::isupper(static_cast<unsigned char>(first)) != 0;
  }

  static bool IsLongWord(std::string_view value) {
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0; };
    return value.size() >= 20 && std::all_of(value.begin(), value.end(), is_plain);
  }

  static bool IsEmptyWord(std::string_view value) {
    static const Regex nothing(
        R"((?i)none|null|nil|nullptr|true|false|yes|no|unset|undefined|empty|missing|required|\*+|redacted|masked|hidden)");
    return Matches(value, nothing);
  }

  // Whether the value is a variable, a template placeholder, an object or a list.
  static bool IsReference(std::string_view value, const ValueSeparator& joint) {
    static const Regex quoted(R"((?s)\$[A-Z_{(].*|\{.*\}|<[^<>]*>|%[sdr(].*|\[[A-Za-z_]*\])");
    static const Regex bare(R"((?s)\$[A-Z_{(].*|[{[<(].*|%[sdr(].*|[a-z]\w*\[.*)");
    return Matches(value, joint.quote.empty() ? bare : quoted);
  }

  // Whether the value is a file or URL that contains the secret.
  bool IsPath(std::string_view value) const {
    static const Regex path(R"((?:~|\.{0,2})/[\w.@+/-]*|[a-z][a-z0-9+.-]*://.*)");
    if (word_.starts_with("pass") || !Matches(value, path)) return false;
    if (word_ == "pwd" || value.front() == '~' || value.front() == '.') return true;
    const std::size_t dot = value.rfind('.');
    const bool has_ending = dot != std::string_view::npos && value.size() - dot <= 6 && value.size() - dot > 1;
    return has_ending || IsOfLogin() || value.find("://") != std::string_view::npos ||
           std::count(value.begin(), value.end(), '/') >= 3;
  }

  // Whether the value is source code: "token=self.token", "api_key = os.environ[…".
  bool IsCode(std::string_view value, const ValueSeparator& joint) const {
    if (!joint.quote.empty()) return false;
    static const Regex call(R"([A-Za-z_][\w.]*[(\[].*)");
    static const Regex attribute(R"(!?(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)");
    if (Matches(value, call)) return true;
    const std::string lower = LowerAscii(value);
    return lower == LowerAscii(before_) + word_ || (Matches(value, attribute) && lower.ends_with(word_));
  }

  const std::string_view text_;
  std::string_view before_;
  std::string word_;
  std::string_view behind_;
};

void FindForms(std::string_view text, const Regex& regex, bool mixed, std::vector<TextRange>* secrets) {
  const re2::StringPiece subject(text.data(), text.size());
  re2::StringPiece groups[2];
  for (std::size_t at = 0;
       at < text.size() && regex.Match(subject, at, text.size(), re2::RE2::UNANCHORED, groups, 2);) {
    const std::string_view value(groups[1].data(), groups[1].size());
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    at = std::max(begin + value.size(), at + 1);
    if (!value.empty() && !IsMasked(value) && (!mixed || IsMixed(value)))
      secrets->push_back({begin, begin + value.size()});
  }
}

// Sorts the ranges and merges overlapping ones.
void JoinRanges(std::vector<TextRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(), [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
  std::vector<TextRange> joined;
  for (const TextRange& range : *ranges) {
    if (!joined.empty() && range.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  *ranges = std::move(joined);
}

}  // namespace

std::vector<TextRange> FindSecrets(std::string_view text) {
  static const Regex hint(kHint);
  std::vector<TextRange> secrets;
  const auto in_key = [](char byte, bool wanted) { return kBase64.Has(byte) == wanted; };
  const bool has_key = std::search_n(text.begin(), text.end(), kShortestKey, true, in_key) != text.end();
  if (!has_key && !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), hint)) return secrets;
  static const std::deque<Regex> forms(std::begin(kForms), std::end(kForms));
  static const std::deque<Regex> mixed_forms(std::begin(kMixedForms), std::end(kMixedForms));
  for (const Regex& form : forms) FindForms(text, form, false, &secrets);
  for (const Regex& form : mixed_forms) FindForms(text, form, true, &secrets);
  SecretValues(text).Find(&secrets);
  JoinRanges(&secrets);
  return secrets;
}

std::string MaskSecrets(std::string_view text) {
  std::string masked;
  std::size_t begin = 0;
  for (const TextRange& secret : FindSecrets(text)) {
    masked.append(text.substr(begin, secret.begin - begin)).append(kMasked);
    begin = secret.end;
  }
  return masked.append(text.substr(begin));
}

}  // namespace whyoom
