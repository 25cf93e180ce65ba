#include "rules/message_cut.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = MessagePiece::Kind;

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// What may stand escaped, or in another encoding, where the same message is met again.
bool IsSoft(char c) { return c == '\'' || c == '"' || c == '`' || c == '\\'; }

// What has neither upper nor lower case stays as it is; of other letters the prefilter knows only ASCII's.
bool IsSoft(char32_t code) { return code >= 0x80 && (code < 0x2E80 || code == kReplacement); }

struct Form {
  std::unique_ptr<re2::RE2> expression;
  Kind kind;
  const char* type;
  const char* pattern;
};

// The first that matches at a place counts.
const std::vector<Form>& Forms() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> all;
    const auto add = [&](const char* expression, Kind kind, const char* type, const char* pattern) {
      all.push_back({std::make_unique<re2::RE2>(expression), kind, type, pattern});
    };
    add(R"(\*\*\*)", Kind::kVarying, "", R"(\S+)");  // a masked secret, see text/secrets.h
    add(R"(\d+(?:x\d+)+_\w+\b)", Kind::kCapture, "device", "");
    add(R"(0[xX][0-9a-fA-F]+\b)", Kind::kVarying, "", "0[xX][0-9a-fA-F]+");
    add(R"(-?\d+(?:,\d{3})*(?:\.\d*)?\s?(?:[KMGTPE](?:iB|i|B)?|kB|B|bytes?)\b)", Kind::kCapture, "size", "");
    add(R"([A-Z]{1,4}-?\d{3,6}\b)", Kind::kWord, "", "");
    add(R"((?:\w{2,10}://\S+|~?(?:/[\w.@%+:-]+){2,}/?))", Kind::kVarying, "", R"(\S+)");
    add(R"([0-9a-f]*(?:[a-f]\d|\d[a-f])[0-9a-f]{6,}(?:-[0-9a-f]{4,12})*\b)", Kind::kVarying, "", "[0-9a-f-]+");
    add(R"([a-z]\w{0,9}\[[\d,]+\])", Kind::kCapture, "shape", R"(\w+\[[\d,]*\])");
    add(R"([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?:\.\d+)+\b)", Kind::kCapture, "name", "");
    add(R"(\[\d[\d, ]*\])", Kind::kVarying, "", R"(\[[\d, ]+\])");
    add(R"(-?\d+\.\d+(?:[eE][+-]?\d+)?\b)", Kind::kCapture, "number", "");
    add(R"(\d{1,3}(?:,\d{3})+\b)", Kind::kCapture, "bytes", "");
    add(R"(-?\d+)", Kind::kCapture, "integer", "");
    add(R"((?:p?jit|pmap|xmap|shmap)_\w+)", Kind::kCapture, "name", "");
    add(R"([A-Za-z_]\w*)", Kind::kWord, "", "");
    return all;
  }();
  return forms;
}

// Pieces of a stack, a source position or a name have figures that nobody asks for.
bool IsPartOfMore(std::string_view message, std::size_t begin, std::size_t end) {
  const char before = begin > 0 ? message[begin - 1] : ' ';
  const char after = end < message.size() ? message[end] : ' ';
  const bool glued = IsWordByte(before) || IsWordByte(after) || before == '#' || before == '.';
  const bool of_position = (before == ':' || before == '-') && begin > 1 && !IsBlank(message[begin - 2]);
  return glued || of_position;
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kMeaning = "\\.^$|?*+()[]{}%";
  std::string quoted;
  for (const char c : text) {
    if (kMeaning.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

class Cutter {
 public:
  explicit Cutter(std::string_view message) : message_(message) {}

  std::vector<MessagePiece> Run() {
    while (at_ < message_.size()) Next();
    return std::move(pieces_);
  }

 private:
  void Next() {
    const char c = message_[at_];
    if (IsBlank(c)) {
      const std::size_t end = std::min(message_.find_first_not_of(" \t\n\r", at_), message_.size());
      // A literal reaches over a single blank only: raw bytes hold no other white space as one.
      Add(Kind::kBlank, end, message_.substr(at_, end - at_) == " " ? " " : "\\s+");
    } else if (!OpensQuotation() && !ReadForm()) {
      SoftOrMark();
    }
  }

  MessagePiece& Add(Kind kind, std::size_t end, std::string pattern) {
    MessagePiece piece;
    piece.kind = kind;
    piece.begin = at_;
    piece.text = message_.substr(at_, end - at_);
    piece.pattern = std::move(pattern);
    pieces_.push_back(std::move(piece));
    at_ = end;
    return pieces_.back();
  }

  // What stands in quotes is somebody's name.
  bool OpensQuotation() {
    constexpr std::size_t kLongest = 200;
    const char c = message_[at_];
    const bool opens = (c == '\'' || c == '"' || c == '`') && (at_ == 0 || !IsWordByte(message_[at_ - 1]));
    const std::size_t close = opens ? message_.find(c, at_ + 1) : std::string_view::npos;
    if (close == std::string_view::npos || close == at_ + 1 || close - at_ > kLongest) return false;
    if (close + 1 < message_.size() && IsWordByte(message_[close + 1])) return false;
    static const re2::RE2 name(R"([A-Za-z_$<][\w$<>-]*(?:\.[\w$<>-]+)*)");
    const std::string_view content = message_.substr(at_ + 1, close - at_ - 1);
    const bool is_name = re2::RE2::FullMatch(re2::StringPiece(content.data(), content.size()), name);
    Add(Kind::kVarying, at_ + 1, R"(\W{1,3})");
    if (is_name) {
      Add(Kind::kCapture, close, R"([^\n]{0,200}?)").type = "name";
      pieces_.back().optional = true;
    } else {
      Add(Kind::kVarying, close, R"([^\n]{0,200}?)");
    }
    Add(Kind::kVarying, close + 1, R"(\W{1,3})");
    return true;
  }

  bool ReadForm() {
    const re2::StringPiece subject(message_.data(), message_.size());
    const bool inside_word = at_ > 0 && IsWordByte(message_[at_ - 1]) && IsWordByte(message_[at_]);
    for (const Form& form : Forms()) {
      re2::StringPiece found;
      if (!form.expression->Match(subject, at_, message_.size(), re2::RE2::ANCHOR_START, &found, 1)) continue;
      const std::size_t end = at_ + found.size();
      if (form.kind == Kind::kWord) return Word(end);
      if (form.kind == Kind::kVarying) {
        Add(Kind::kVarying, end, form.pattern);
        return true;
      }
      const std::string_view type = form.type;
      const bool is_count = type == "integer" || type == "number" || type == "bytes";
      const bool is_size = type == "size" && ParseSize(std::string(found)).has_value();
      if ((type == "size" && (!is_size || inside_word)) || (is_count && !inside_word && Rejects(end))) {
        if (type == "size") continue;
        Figure(end);
        return true;
      }
      if (is_count && inside_word) {
        Figure(end);
        return true;
      }
      Add(Kind::kCapture, end, form.pattern).type = type;
      pieces_.back().optional = type != "size";
      return true;
    }
    return false;
  }

  bool Rejects(std::size_t end) const { return IsPartOfMore(message_, at_, end); }

  void Figure(std::size_t end) {
    const std::string_view text = message_.substr(at_, end - at_);
    Add(Kind::kVarying, end, text.find('.') == std::string_view::npos ? R"(-?\d+)" : R"([\d.eE+-]+)");
  }

  // "rank3" is "rank" and a number; "bf16", "v5e" and codes are words.
  bool Word(std::size_t end) {
    const std::string_view word = message_.substr(at_, end - at_);
    static const re2::RE2 numbered(R"([A-Za-z_]*[A-Za-z]{3}_?(\d+))");
    static const re2::RE2 code(R"([A-Z]{1,4}-?\d{3,6})");
    const re2::StringPiece subject(word.data(), word.size());
    re2::StringPiece digits;
    if (re2::RE2::FullMatch(subject, numbered, &digits) && !re2::RE2::FullMatch(subject, code)) {
      const std::size_t begin = static_cast<std::size_t>(digits.data() - message_.data());
      Add(Kind::kWord, begin, Quoted(message_.substr(at_, begin - at_)));
      Add(Kind::kVarying, end, R"(\d+)");
    } else {
      Add(Kind::kWord, end, Quoted(word));
    }
    return true;
  }

  void SoftOrMark() {
    std::size_t end = at_;
    std::size_t soft = 0;
    while (end < message_.size()) {
      const CodePoint point = DecodeUtf8(message_, end);
      if (!IsSoft(message_[end]) && !IsSoft(point.code)) break;
      end += point.length;
      ++soft;
    }
    if (soft > 0) {
      Add(Kind::kVarying, end, fmt::format("\\W{{1,{}}}", std::clamp<std::size_t>(2 * soft, 3, 400)));
      return;
    }
    const std::size_t length = DecodeUtf8(message_, at_).length;
    const std::string_view text = message_.substr(at_, length);
    Add(length > 1 ? Kind::kWord : Kind::kMark, at_ + length, Quoted(text));
  }

  std::string_view message_;
  std::size_t at_ = 0;
  std::vector<MessagePiece> pieces_;
};

}  // namespace

std::vector<MessagePiece> CutMessage(std::string_view message) { return Cutter(message).Run(); }

std::string PatternOf(const std::vector<MessagePiece>& pieces, std::size_t begin, std::size_t end) {
  std::string pattern;
  for (std::size_t i = begin; i < end; ++i) {
    const MessagePiece& piece = pieces[i];
    if (piece.kind != MessagePiece::Kind::kCapture) {
      pattern += piece.pattern;
    } else if (piece.name.empty()) {
      const bool is_figure = piece.type == "integer" || piece.type == "number" || piece.type == "bytes";
      pattern += is_figure ? R"([\d.,eE+-]+)" : piece.pattern.empty() ? R"(\S+?)" : piece.pattern;
    } else if (piece.type == "shape") {
      pattern += fmt::format("(?P<{}>{})", piece.name, piece.pattern);
    } else {
      pattern += fmt::format("%{{{}:{}}}", piece.type, piece.name);
    }
  }
  return pattern;
}

}  // namespace whyoom
